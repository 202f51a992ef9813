"""Training that compiled code cannot do, or does otherwise: it runs to its end, and gives what it gives without a run."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from fixtures.training import Net, a_run, gaps, hooks, made, report_of, units
from stc.record.types import Report

pytestmark = pytest.mark.usefixtures("stc_home")
BATCH = torch.ones(2, 4)
HIDDEN = "create_graph"  # a keyword that no call is seen to have


@pytest.fixture(autouse=True)
def everything_is_put_back() -> Iterator[None]:
    torch._dynamo.reset()
    before = hooks(), settings()
    yield
    assert (hooks(), settings()) == before


def settings() -> dict[str, Any]:
    from torch._functorch import config as functorch
    from torch._inductor import config as inductor

    configs = {"dynamo": torch._dynamo.config, "functorch": functorch, "inductor": inductor}
    return {f"{n}.{k}": v for n, c in configs.items() for k, v in dict(c.get_config_copy()).items()}  # type: ignore[attr-defined]


def batches(count: int = 5) -> list[torch.Tensor]:
    source = torch.Generator().manual_seed(1)
    return [torch.randn(6, 4, generator=source) for _ in range(count)]


Step = Callable[[nn.Module, torch.Tensor], torch.Tensor]


def trained(model: nn.Module, step: Step, backward: Callable[[torch.Tensor, int], None] | None = None) -> list[float]:
    """Losses of a training whose loss is what ``step`` gives."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for turn, x in enumerate(batches()):
        optimizer.zero_grad()
        loss = step(model, x)
        if backward is None:
            loss.backward()
        else:
            backward(loss, turn)
        optimizer.step()
        losses.append(loss.item())
    return losses


def same(train: Callable[[], list[float]]) -> Report:
    """Train without a run, in one that is eager and in one that compiles; returns the last one's report."""
    torch.manual_seed(0)
    expected = train()
    torch.manual_seed(0)
    with a_run(plan="eager") as run:
        assert train() == expected
    assert gaps(run) == []
    torch.manual_seed(0)
    with a_run(plan="inductor") as run:
        assert train() == pytest.approx(expected, rel=1e-4, abs=1e-6)
    report = report_of(run)
    assert [g.part for g in report.compile.gaps if "cache" not in g.part] == []
    return report


# --------------------------------------------------------------------------- gradients of gradients


def slope(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    (found,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    return found


def penalty(critic: nn.Module, x: torch.Tensor) -> torch.Tensor:
    at = x.clone().requires_grad_()
    return (slope(critic(at), at).norm(dim=1) - 1).square().mean()


class Forces(nn.Module):
    """A potential whose forward pass differentiates."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Net()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        at = x.clone().requires_grad_()
        return slope(self.net(at), at)


class Penalised:
    """The same in a method that another method calls."""

    def loss(self, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean() + self._penalty(model, x)

    @staticmethod
    def _penalty(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return penalty(model, x)


def at_the_call(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    at = x.clone().requires_grad_()
    (found,) = torch.autograd.grad(model(at).sum(), at, create_graph=True)
    return found.square().mean()


def after_the_call(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    at = x.clone().requires_grad_()
    u = model(at)
    return (slope(u, at).sum(1) + u).square().mean()


def in_a_helper(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x).mean() + penalty(model, x)


def in_the_model(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    return model(x).square().mean()


def in_a_closure() -> Step:
    def inner(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return penalty(model, x)

    return lambda model, x: inner(model, x)


class TestGradientsOfGradients:
    @pytest.mark.parametrize(
        ("kind", "step"),
        [
            (Net, at_the_call),
            (Net, after_the_call),
            (Net, in_a_helper),
            (Forces, in_the_model),
            (Net, Penalised().loss),
            (Net, in_a_closure()),
        ],
        ids=["at the call", "after it", "in a helper", "in the model", "in methods", "in a closure"],
    )
    def test_train_as_they_do_eager(self, kind: type[nn.Module], step: Step) -> None:
        report = same(lambda: trained(kind(), step))
        # Then the model was left eager, and the report says why and where
        (model,) = [u for u in report.compile.units if u.kind == "model"]
        assert model.state == "eager"
        assert model.reason is not None and "differentiated again (" in model.reason
        assert ".py, line" in model.reason
        # And the optimizer was compiled all the same
        assert [u.state for u in report.compile.units if u.kind == "optimizer"] == ["restored"]
        (finding,) = [f for f in report.findings if f.code == "nothing-compiled"]
        assert "stayed eager" in finding.message

    def test_that_are_turned_off_are_no_reason(self) -> None:
        def step(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
            at = x.clone().requires_grad_()
            y = model(at)
            torch.autograd.grad(y.sum(), at, create_graph=False, retain_graph=True)
            return y.square().mean()

        report = same(lambda: trained(Net(), step))
        assert [u.state for u in report.compile.units if u.kind == "model"] == ["restored"]

    def test_of_a_backward_pass_leave_the_model_eager_from_then_on(self) -> None:
        # Given a graph of the backward pass that is asked for where nobody can see it
        keyword = {HIDDEN: True}
        report = same(lambda: trained(Net(), in_the_model, lambda loss, _: loss.backward(**keyword)))
        (model,) = [u for u in report.compile.units if u.kind == "model"]
        assert model.state == "eager" and model.calls == 5

    def test_that_nobody_could_see_fail_once_and_are_known_from_then_on(self) -> None:
        # Given code that hides what it does
        keyword = {HIDDEN: True}

        def hidden(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
            at = x.clone().requires_grad_()
            (found,) = torch.autograd.grad(model(at).sum(), at, **keyword)
            return found.square().mean()

        class Hidden(Net):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return super().forward(x)

        torch.manual_seed(0)
        expected = trained(Hidden(), hidden)
        with pytest.raises(RuntimeError, match="double backward"), a_run(plan="inductor"):
            trained(Hidden(), hidden)
        # When it is run again
        torch.manual_seed(0)
        with a_run(plan="inductor") as again:
            losses = trained(Hidden(), hidden)
        # Then it trains
        assert losses == expected
        assert [u.state for u in units(again)] == ["eager"]


# --------------------------------------------------------------------------- graphs that are kept, and computed again


class TestGraphsThatAreKept:
    def test_by_a_later_backward_pass(self) -> None:
        # Given passes of which only some keep their graph
        def backward(loss: torch.Tensor, turn: int) -> None:
            if turn % 2:
                loss.backward(retain_graph=True)
            loss.backward()

        report = same(lambda: trained(Net(), in_the_model, backward))
        assert [u.state for u in report.compile.units if u.kind == "model"] == ["restored"]

    def test_also_where_the_cache_holds_code_that_overwrites_them(self, cold_inductor: Any) -> None:
        # Given a cache filled without a run, by code that may overwrite what its forward pass saved
        model, _ = made()
        model.compile()
        model(batches(1)[0]).square().mean().backward()
        torch._dynamo.reset()
        # When a run compiles the same
        self.test_by_a_later_backward_pass()


class Checkpointed(nn.Module):
    """A part of it is computed again in the backward pass."""

    def __init__(self, *, reentrant: bool) -> None:
        super().__init__()
        self.first, self.block = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 1))
        self.reentrant = reentrant

    def forward(self, x: torch.Tensor) -> Any:
        return checkpoint(self.block, self.first(x), use_reentrant=self.reentrant)


class Uncompilable(Checkpointed):
    @torch.compiler.disable
    def forward(self, x: torch.Tensor) -> Any:
        return super().forward(x)


class TestCheckpoints:
    @pytest.mark.parametrize("reentrant", [False, True])
    @pytest.mark.parametrize("kind", [Checkpointed, Uncompilable])
    def test_of_a_part_are_no_models_of_their_own(self, kind: type[Checkpointed], reentrant: bool) -> None:
        report = same(lambda: trained(kind(reentrant=reentrant), in_the_model))
        assert [u.type for u in report.compile.units if u.kind == "model"] == [kind.__name__]
        assert report.steps.total == 5

    @pytest.mark.parametrize("reentrant", [False, True])
    def test_of_a_whole_model(self, reentrant: bool) -> None:
        def step(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
            out: Any = checkpoint(model, x.requires_grad_(), use_reentrant=reentrant)
            return torch.as_tensor(out.square().mean())

        report = same(lambda: trained(Net(), step))
        assert [u.state for u in report.compile.units if u.kind == "model"] == ["restored"]
        assert report.steps.total == 5

    def test_one_within_a_backward_pass_is_not_a_step(self) -> None:
        # Given a loop without an optimizer, in which one backward pass runs others
        def without() -> list[float]:
            model, losses = Uncompilable(reentrant=True), []
            for x in batches(3):
                loss = model(x).square().mean()
                loss.backward()
                losses.append(loss.item())
            return losses

        assert same(without).steps.total == 3


# --------------------------------------------------------------------------- hooks, and random numbers that are not torch's


class TestHooks:
    def test_that_come_and_go_between_steps_are_called(self) -> None:
        def hooked() -> list[float]:
            model, heard, turn = Net(), [], 0

            def step(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
                nonlocal turn
                turn += 1
                if turn == 2:
                    kept.append(
                        model.first.register_forward_hook(lambda m, i, o: heard.append(o.detach().sum().item()))
                    )
                    kept.append(model.second.register_forward_pre_hook(lambda m, i: (i[0] * 2,)))
                if turn == 4:
                    for hook in kept:
                        hook.remove()
                return model(x).square().mean()

            kept: list[Any] = []
            return trained(model, step) + heard

        same(hooked)

    def test_that_raise_to_end_a_call_early(self) -> None:
        class Enough(Exception):
            def __init__(self, value: torch.Tensor) -> None:
                super().__init__()
                self.value = value

        def stop(module: nn.Module, inputs: Any, output: torch.Tensor) -> None:
            raise Enough(output)

        def features() -> list[float]:
            model, found = Net(), []
            for x in batches(3):
                hook = model.first.register_forward_hook(stop)
                try:
                    model(x)
                except Enough as enough:
                    found.append(enough.value.sum().item())
                hook.remove()
                found.append(model(x).sum().item())
            return found

        same(features)


class Noisy(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x + torch.from_numpy(np.random.randn(4).astype("float32")))  # noqa: NPY002


def test_numpys_random_numbers_are_numpys() -> None:
    def noisy() -> list[float]:
        np.random.seed(0)  # noqa: NPY002
        return [*trained(Noisy(), in_the_model), float(np.random.rand())]  # noqa: NPY002

    same(noisy)


# --------------------------------------------------------------------------- what torch does with a module besides calling it


class Plain(Net):
    """As many classes do: its own state, its own copies."""

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))


class Copied(Net):
    def __deepcopy__(self, memo: Any) -> Any:
        new = type(self).__new__(type(self))
        vars(new).update({k: copy.deepcopy(v, memo) for k, v in vars(self).items()})
        return new


class Guarded(Net):
    """Takes no attributes after it has been made."""

    def __init__(self) -> None:
        super().__init__()
        vars(self)["done"] = True

    def __setattr__(self, name: str, value: Any) -> None:
        if vars(self).get("done"):
            raise TypeError(f"{name} cannot be set")
        super().__setattr__(name, value)


class Odd(Net):
    """Answers any question for an attribute with an error of its own."""

    def __getattr__(self, name: str) -> Any:
        found = {**vars(self).get("_modules", {}), **vars(self).get("_parameters", {})}
        return found[name]


class TestCopies:
    @pytest.mark.parametrize("kind", [Net, Plain, Copied])
    @pytest.mark.parametrize("how", ["deepcopy", "saved", "replica"])
    def test_are_models_of_their_own(self, kind: type[Net], how: str) -> None:
        def copied() -> list[float]:
            model = kind()
            losses = trained(model, in_the_model)[:1]
            other: Any
            if how == "deepcopy":
                other = copy.deepcopy(model)
            elif how == "saved":
                file = io.BytesIO()
                torch.save(model, file)
                file.seek(0)
                other = torch.load(file, weights_only=False)
            else:  # what nn.DataParallel makes of a model
                other = model._replicate_for_data_parallel()  # type: ignore[operator]
                other.first, other.second = nn.Linear(4, 8), nn.Linear(8, 1)
            if how != "replica":
                with torch.no_grad():
                    other.second.bias += 1
            return [*losses, *(float(m(BATCH).sum()) for m in (model, other, model))]

        same(copied)

    def test_of_an_optimizer_that_takes_all_attributes_along(self) -> None:
        class Everything(torch.optim.SGD):
            def __deepcopy__(self, memo: Any) -> Any:
                new = memo[id(self)] = type(self).__new__(type(self))
                vars(new).update({k: copy.deepcopy(v, memo) for k, v in vars(self).items()})
                return new

        def copied() -> list[float]:
            model = Net()
            optimizer = Everything(model.parameters(), lr=0.1)
            model(BATCH).sum().backward()
            optimizer.step()
            both, steps = copy.deepcopy((model, optimizer)), []
            for net, update in (both, (model, optimizer)):
                net(BATCH).sum().backward()
                update.step()
                steps += [float(net(BATCH).sum()), float(model(BATCH).sum())]
            return steps

        same(copied)


class TestModulesAreNotTouched:
    def test_one_that_guards_its_attributes_is_compiled_as_any(self) -> None:
        report = same(lambda: trained(Guarded(), in_the_model))
        assert [u.state for u in report.compile.units if u.kind == "model"] == ["restored"]

    def test_one_that_has_errors_of_its_own_for_attributes_trains(self) -> None:
        same(lambda: trained(Odd(), in_the_model))

    @pytest.mark.parametrize("met", [True, False], ids=["called before", "not called before"])
    @pytest.mark.parametrize(
        "form",
        [
            lambda m: torch.jit.script(m),
            lambda m: torch.jit.trace(m, BATCH),
            lambda m: torch.fx.symbolic_trace(m),
            lambda m: torch.export.export(m, (BATCH,)).module(),
            lambda m: torch.export.export(m, (BATCH,), strict=True).module(),
        ],
        ids=["script", "trace", "fx", "export", "strict export"],
    )
    def test_other_forms_of_one_can_be_made(self, form: Callable[[nn.Module], Any], met: bool) -> None:
        def made_into() -> list[float]:
            model = Net()
            first = [float(model(BATCH).sum())] if met else []
            return [*first, float(form(model)(BATCH).sum())]

        same(made_into)


class TestCallsThatDoNotJustCompute:
    def test_transforms_and_modes_see_what_they_see_without_a_run(self) -> None:
        from torch.autograd import forward_ad
        from torch.func import functional_call, grad, jvp, vmap
        from torch.utils.flop_counter import FlopCounterMode

        def looked_at() -> list[float]:
            model = Net()
            parameters = dict(model.named_parameters())
            found = [model(BATCH)]
            found.append(grad(lambda p: functional_call(model, p, (BATCH,)).sum())(parameters)["second.bias"])
            found.append(vmap(model)(BATCH))
            found.append(jvp(model, (BATCH,), (BATCH,))[1])
            with forward_ad.dual_level():
                found.append(forward_ad.unpack_dual(model(forward_ad.make_dual(BATCH, BATCH))).tangent)
            with FlopCounterMode(display=False) as counter:
                model(BATCH)
            return [*(float(value.sum()) for value in found), float(counter.get_total_flops())]

        report = same(looked_at)
        assert [u.state for u in report.compile.units] == ["restored"]

    def test_a_model_that_is_only_transformed_says_so(self) -> None:
        model = Net()
        with a_run(plan="inductor") as run:
            torch.func.vmap(model)(BATCH)
        (found,) = units(run)
        assert (found.state, found.reason) == (
            "eager",
            "It was called within torch.func, which compiled code does not support.",
        )
        assert [f.code for f in report_of(run).findings] == ["nothing-compiled"]

    def test_a_stance_of_the_users_is_theirs(self) -> None:
        def guarded() -> list[float]:
            with torch.compiler.set_stance("fail_on_recompile"):
                return trained(Net(), in_the_model)

        (model,) = [u for u in same(guarded).compile.units if u.kind == "model"]
        assert model.state == "eager" and "fail_on_recompile" in str(model.reason)

    @pytest.mark.parametrize("setting", ["error_on_recompile", "fail_on_recompile_limit_hit"])
    def test_settings_that_make_recompiling_an_error_are_not_for_what_a_run_compiles(self, setting: str) -> None:
        class Growing(Net):
            seen = 0

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.seen += 1
                return super().forward(x) * self.seen

        def grown() -> list[float]:
            model, found = Growing(), []
            for _ in range(10):
                found.append(float(model(BATCH).sum().detach()))
            return found

        with torch._dynamo.config.patch({setting: True}):
            same(grown)
            assert getattr(torch._dynamo.config, setting) is True


def test_what_the_user_sets_in_a_run_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._functorch import config as functorch

    before = functorch.donated_buffer
    try:
        with a_run(plan="eager"):
            torch._dynamo.config.suppress_errors = False
            functorch.donated_buffer = True
        assert torch._dynamo.config.suppress_errors is False
        assert functorch.donated_buffer is True
    finally:
        functorch.donated_buffer = before


def test_more_models_than_a_report_can_show_are_told_once_and_run_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from stc.session import models, optimizers

    monkeypatch.setattr(models, "MOST", 3)
    monkeypatch.setattr(optimizers, "MOST", 3)
    sums = []
    with a_run(plan="eager") as run:
        for _ in range(6):
            model, optimizer = made()
            model(BATCH).sum().backward()
            optimizer.step()
            sums.append(float(model(BATCH).sum().detach()))
    assert len(set(sums)) == 1
    assert [u.kind for u in report_of(run).compile.units].count("model") == 3
    assert [u.kind for u in report_of(run).compile.units].count("optimizer") == 3
    assert [reason for _, reason in gaps(run)] == [
        "RuntimeError: There were more than 3 of them; the others ran as they were."
    ] * 2
