"""Which models a run finds, what it calls them, and that every one is afterwards as it was before."""

from __future__ import annotations

import copy
import gc
import io
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.training import Net, a_run, hooks, made, report_of, trained, units

pytestmark = pytest.mark.usefixtures("stc_home")
BATCH = torch.ones(2, 4)


@pytest.fixture(autouse=True)
def everything_is_put_back() -> Iterator[None]:
    """Whatever a test does in its runs, torch is afterwards as it was."""
    before = hooks()
    yield
    assert hooks() == before


class TestFound:
    def test_made_before_the_run(self) -> None:
        model = Net()
        with a_run(plan="eager") as run:
            model(BATCH)
        (found,) = units(run)
        assert (found.name, found.type, found.calls, found.state) == ("model", "Net", 1, "eager")
        assert found.parameters == sum(p.numel() for p in model.parameters())
        assert found.location is not None and found.location.text == "            model(BATCH)"

    def test_made_in_the_run(self) -> None:
        with a_run(plan="eager") as run:
            late = Net()
            late(BATCH)
            late(BATCH)
        assert [(u.name, u.calls) for u in units(run)] == [("late", 2)]

    def test_made_in_a_function_that_is_called(self) -> None:
        def training() -> None:
            inner_net = Net()
            for _ in range(3):
                inner_net(BATCH).sum().backward()

        with a_run(plan="eager") as run:
            training()
        assert [(u.name, u.calls) for u in units(run)] == [("inner_net", 3)]

    def test_held_by_an_object_whose_method_calls_it(self) -> None:
        class Trainer:
            def __init__(self) -> None:
                self.network = Net()

            def fit(self) -> None:
                self.network(BATCH)

        with a_run(plan="eager") as run:
            Trainer().fit()
        assert [u.name for u in units(run)] == ["self.network"]

    def test_without_a_name_it_has_its_class(self) -> None:
        with a_run(plan="eager") as run:
            [Net()][0](BATCH)
        assert [u.name for u in units(run)] == ["Net"]

    def test_the_outermost_one_alone(self) -> None:
        whole = nn.Sequential(Net(), nn.ReLU(), nn.Linear(1, 1))
        with a_run(plan="eager") as run:
            whole(BATCH)
        assert [u.type for u in units(run)] == ["Sequential"]

    def test_a_part_that_is_called_by_itself_is_one_too(self) -> None:
        encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
        with a_run(plan="eager") as run:
            decoder(encoder(BATCH))
        assert [u.name for u in units(run)] == ["encoder", "decoder"]

    def test_not_without_parameters(self) -> None:
        with a_run(plan="eager") as run:
            nn.ReLU()(BATCH)
            nn.MSELoss()(BATCH, BATCH)
        assert units(run) == []

    def test_one_whose_parameters_come_with_its_first_call(self) -> None:
        # Given a model that learns the size of its input when it is first called
        lazy = nn.Sequential(nn.Linear(4, 4), nn.LazyLinear(3))
        with a_run(plan="inductor") as run:
            first = lazy(BATCH)
            second = lazy(BATCH)
        # Then it is found once it has parameters, and compiled
        (found,) = units(run)
        assert (found.name, found.parameters, found.state) == ("lazy", 35, "restored")
        assert torch.allclose(first, second)

    def test_copies_are_models_of_their_own(self) -> None:
        # Given a model and, as for a moving average of its weights, a copy made in the run
        model = Net()
        with a_run(plan="eager") as run:
            model(BATCH)
            average = copy.deepcopy(model)
            average(BATCH)
            average(BATCH)
        assert [(u.name, u.calls) for u in units(run)] == [("model", 1), ("average", 2)]
        assert vars(average).keys() == vars(Net()).keys()

    def test_a_call_that_is_an_evaluation_is_a_call(self) -> None:
        model = Net()
        with a_run(plan="eager") as run, torch.no_grad():
            model.eval()(BATCH)
        assert [u.calls for u in units(run)] == [1]
        assert report_of(run).steps.total == 0


class TestLeftAlone:
    @pytest.mark.parametrize("how", ["torch.compile", "Module.compile"])
    def test_what_the_user_compiles_already(self, how: str) -> None:
        model: Any = Net()
        if how == "torch.compile":
            model = torch.compile(model, backend="eager")
        else:
            model.compile(backend="eager")
        own = model._compiled_call_impl
        with a_run(plan="inductor") as run:
            model(BATCH)
        (found,) = units(run)
        assert (found.state, found.reason) == ("eager", "It was compiled already; STC only watches.")
        assert model._compiled_call_impl is own

    def test_the_parts_of_what_the_user_compiles(self) -> None:
        # Given a compiled model of the user's that torch cannot take in one piece
        class Broken(Net):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                hidden = self.first(x)
                torch._dynamo.graph_break()
                return self.second(hidden)

        model = Broken()
        model.compile(backend="eager")
        with a_run(plan="inductor") as run:
            model(BATCH)
            model(BATCH)
        assert [u.name for u in units(run)] == ["model"]

    def test_a_compiled_function_of_the_users_that_calls_a_model(self) -> None:
        model, _ = made()
        expected = model(BATCH).square()

        @torch.compile(backend="eager")
        def squared(x: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = model(x).square()
            return result

        with a_run(plan="inductor") as run:
            inside = squared(BATCH)
            alone = model(BATCH)  # from here on the model is compiled
            again = squared(BATCH)
        assert torch.equal(inside, expected)
        assert torch.equal(again, expected)
        assert torch.allclose(alone.square(), expected)
        assert [u.name for u in units(run)] == ["model"]

    def test_calls_from_other_threads(self) -> None:
        model = Net()
        with a_run(plan="eager") as run:
            thread = threading.Thread(target=lambda: trained(model, torch.optim.SGD(model.parameters(), lr=0.1)))
            thread.start()
            thread.join()
        assert report_of(run).steps.total == 0

    def test_the_meaning_of_hooks(self) -> None:
        # Given a model with hooks of the user's
        model, calls = Net(), []
        model.register_forward_pre_hook(lambda *_: calls.append("before"))
        model.first.register_forward_hook(lambda *_: calls.append("first"))
        model.register_full_backward_hook(lambda *_: calls.append("backward"))
        # When it is called in a run, then each runs once, in order
        with a_run(plan="eager"):
            model(BATCH.clone().requires_grad_()).sum().backward()
        assert calls == ["before", "first", "backward"]

    def test_what_is_saved_in_a_run_knows_nothing_of_it(self) -> None:
        model, file = nn.Sequential(nn.Linear(4, 2)), io.BytesIO()
        with a_run(plan="eager"):
            model(BATCH)
            torch.save(model, file)
        assert b"stc" not in file.getvalue()
        file.seek(0)
        assert torch.equal(torch.load(file, weights_only=False)(BATCH), model(BATCH))


class TestPutBack:
    def test_a_model_has_its_own_attributes_again(self) -> None:
        model = Net()
        before = dict(vars(model))
        with a_run(plan="inductor"):
            model(BATCH)
            assert vars(model) == before  # in the run as well: it can be saved, copied and looked into as ever
        assert vars(model) == before

    def test_also_after_an_error_in_it(self) -> None:
        class Failing(Net):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                raise ValueError("the user's")

        model, other = Failing(), Net()
        before = dict(vars(model))
        with a_run(plan="eager") as run:
            with pytest.raises(ValueError, match="the user's"):
                model(BATCH)
            other(BATCH)  # an outermost call again
        assert vars(model) == before
        assert [u.name for u in units(run)] == ["model", "other"]

    def test_with_keep_a_compiled_model_stays_compiled_and_gives_the_same(self) -> None:
        model, _ = made()
        before = model(BATCH)
        with a_run(plan="inductor", keep=True) as run:
            model(BATCH)
        (found,) = units(run)
        assert found.state == "compiled"
        kept = model._compiled_call_impl
        assert kept is not None
        assert torch.allclose(model(BATCH), before)
        # And the next run leaves it alone
        with a_run(plan="inductor") as later:
            model(BATCH)
        assert [u.state for u in units(later)] == ["eager"]
        assert model._compiled_call_impl is kept

    def test_a_run_holds_no_model_that_the_user_has_let_go_of(self) -> None:
        # Given a sweep, which makes one model after another
        gone = []
        with a_run(plan="eager") as run:
            for _ in range(3):
                model, optimizer = made()
                trained(model, optimizer)
                gone.append(weakref.ref(model))
                del model, optimizer
                gc.collect()
            # Then each is gone while the run still lasts
            assert [reference() for reference in gone] == [None, None, None]
        assert [u.name for u in units(run)] == ["model"] * 3

    def test_hooks_that_another_library_sets_meanwhile_stay(self) -> None:
        before = nn.Module.__call__
        try:
            with a_run(plan="eager"):
                ours = nn.Module.__call__
                assert ours is not before

                def theirs(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
                    return ours(module, *args, **kwargs)

                nn.Module.__call__ = theirs  # type: ignore[method-assign]
                Net()(BATCH)
            assert nn.Module.__call__ is theirs
            assert Net()(BATCH).shape == (2, 1)  # ours, underneath, passes through
        finally:
            nn.Module.__call__ = before  # type: ignore[method-assign]
