"""Optimizers in a run: found whenever they were made, stepping as they did, eager or compiled, and put back afterwards."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from fixtures.training import Net, a_run, hooks, made, report_of, trained, units

pytestmark = pytest.mark.usefixtures("stc_home")
Optimizer = torch.optim.Optimizer


@pytest.fixture(autouse=True)
def everything_is_put_back() -> Iterator[None]:
    before = hooks()
    yield
    assert hooks() == before


def losses(make: Callable[[Any], Optimizer], *, steps: int = 4, **options: Any) -> tuple[list[float], list[float]]:
    """What training gives without a run, and within one."""
    told = []
    for inside in (False, True):
        torch.manual_seed(0)
        model = Net()
        optimizer = make(model.parameters())
        if inside:
            with a_run(**options):
                told.append(trained(model, optimizer, steps))
        else:
            told.append(trained(model, optimizer, steps))
    return told[0], told[1]


class TestFound:
    def test_made_before_the_run_in_it_or_in_a_function(self) -> None:
        def training() -> None:
            model, inner = made()
            trained(model, inner)

        model, before = made()
        with a_run(plan="eager") as run:
            trained(model, before)
            other, during = made()
            trained(other, during)
            training()
        found = units(run, "optimizer")
        assert [(u.type, u.calls, u.state) for u in found] == [("SGD", 3, "eager")] * 3
        assert found[0].name == "optimizer"  # as the function that steps it calls it

    def test_one_that_never_steps_is_not_told_of(self) -> None:
        model, optimizer = made()
        with a_run(plan="eager") as run:
            model(torch.ones(1, 4))
        assert units(run, "optimizer") == []
        assert "step" not in vars(optimizer)

    def test_a_step_ends_with_its_update(self) -> None:
        model, optimizer = made()
        with a_run(plan="eager") as run:
            trained(model, optimizer, 5)
        steps = report_of(run).steps
        assert (steps.total, steps.definition) == (5, "optimizer update")

    def test_accumulated_gradients_are_one_step(self) -> None:
        model, optimizer = made()
        with a_run(plan="eager") as run:
            for batch in range(8):
                model(torch.ones(2, 4)).sum().backward()
                if batch % 4 == 3:
                    optimizer.step()
                    optimizer.zero_grad()
        assert report_of(run).steps.total == 2

    def test_without_an_optimizer_a_step_ends_with_the_backward_pass(self) -> None:
        model = Net()
        with a_run(plan="eager") as run:
            for _ in range(3):
                model(torch.ones(2, 4)).sum().backward()
        steps = report_of(run).steps
        assert (steps.total, steps.definition) == (3, "backward pass")

    def test_two_in_turns_are_one_step(self) -> None:
        # Given a generator and a critic, each with its optimizer
        (maker, first), (critic, second) = made(), made()
        with a_run(plan="eager") as run:
            for _ in range(4):
                second.zero_grad()
                critic(torch.ones(2, 4)).mean().backward()
                second.step()
                first.zero_grad()
                maker(torch.ones(2, 4)).mean().backward()
                first.step()
        report = report_of(run)
        assert report.steps.total == 4
        assert [u.calls for u in units(run, "optimizer")] == [4, 4]


class TestTheSame:
    @pytest.mark.parametrize(
        "make",
        [
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
            lambda p: torch.optim.AdamW(p, lr=0.01),
            lambda p: torch.optim.Adam(p, lr=0.01, foreach=False),
            lambda p: torch.optim.RMSprop(p, lr=0.01),
        ],
        ids=["SGD", "AdamW", "Adam", "RMSprop"],
    )
    def test_eager_to_the_bit(self, make: Callable[[Any], Optimizer]) -> None:
        expected, told = losses(make, plan="eager")
        assert told == expected

    @pytest.mark.parametrize(
        "make",
        [
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
            lambda p: torch.optim.AdamW(p, lr=0.01),
            lambda p: torch.optim.AdamW(p, lr=0.01, fused=True),
        ],
        ids=["SGD", "AdamW", "fused AdamW"],
    )
    def test_compiled_within_float32(self, make: Callable[[Any], Optimizer]) -> None:
        expected, told = losses(make, plan="inductor")
        assert told == pytest.approx(expected, rel=1e-5)

    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_one_that_calls_a_closure(self, plan: str) -> None:
        # Given an optimizer that evaluates the model itself, several times a step
        def train() -> list[float]:
            model, _ = made()
            optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)

            def closure() -> torch.Tensor:
                optimizer.zero_grad()
                loss: torch.Tensor = (model(torch.ones(6, 4)) - 1).square().mean()
                loss.backward()
                return loss

            return [optimizer.step(closure).item() for _ in range(3)]  # type: ignore[attr-defined]

        expected = train()
        with a_run(plan=plan) as run:
            told = train()
        assert told == pytest.approx(expected, rel=1e-5)
        assert [(u.type, u.state, u.calls) for u in units(run, "optimizer")] == [("LBFGS", "eager", 3)]
        assert report_of(run).steps.total == 3

    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_with_a_scheduler_made_before_or_in_the_run(self, plan: str) -> None:
        def train(scheduler: Any, model: nn.Module, optimizer: Optimizer) -> list[float]:
            return trained(model, optimizer, 5, after=scheduler.step)

        def scheduled(optimizer: Optimizer) -> Any:
            return lr_scheduler.ExponentialLR(optimizer, 0.5)

        model, optimizer = made()
        expected = train(scheduled(optimizer), model, optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a scheduler warns where it thinks that no update came before it
            model, optimizer = made()
            before = scheduled(optimizer)
            with a_run(plan=plan) as run:
                assert train(before, model, optimizer) == pytest.approx(expected, rel=1e-5)
                model, optimizer = made()
                during = scheduled(optimizer)
                assert train(during, model, optimizer) == pytest.approx(expected, rel=1e-5)
            # And a changing rate recompiles nothing, only another optimizer does
            assert {r.kind for r in report_of(run).compile.recompilations} <= {"identity"}
            assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1 * 0.5**5)
            assert isinstance(optimizer.param_groups[0]["lr"], float)
            # And both go on afterwards
            train(during, model, optimizer)
            assert during.get_last_lr() == pytest.approx([0.1 * 0.5**10])

    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_hooks_of_the_users_run_once_a_step(self, plan: str) -> None:
        model, optimizer = made()
        seen = []
        optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
        optimizer.register_step_post_hook(lambda *_: seen.append("after"))
        with a_run(plan=plan):
            trained(model, optimizer, 2)
        assert seen == ["before", "after"] * 2

    def test_a_step_of_the_users_own_class_is_called(self) -> None:
        class Signs(Optimizer):
            def __init__(self, parameters: Any) -> None:
                super().__init__(parameters, {"lr": 0.01})

            @torch.no_grad()
            def step(self, closure: Any = None) -> None:
                for group in self.param_groups:
                    for parameter in group["params"]:
                        parameter -= group["lr"] * parameter.grad.sign()

        expected, told = losses(Signs, plan="inductor")
        assert told == pytest.approx(expected, rel=1e-5)

    def test_an_error_in_an_update_is_the_users_as_it_is(self) -> None:
        class Failing(torch.optim.SGD):
            def step(self, closure: Any = None) -> None:
                raise ArithmeticError("no")

        model = Net()
        optimizer = Failing(model.parameters(), lr=0.1)
        with a_run(plan="inductor"), pytest.raises(ArithmeticError, match="no"):
            trained(model, optimizer)
        assert "step" not in vars(optimizer)


class TestPutBack:
    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_an_optimizer_has_its_own_step_again(self, plan: str) -> None:
        model, optimizer = made()
        before = set(vars(optimizer))
        with a_run(plan=plan):
            trained(model, optimizer)
        assert set(vars(optimizer)) - before <= {"_opt_called"}
        assert optimizer.step.__func__ is torch.optim.SGD.step  # type: ignore[attr-defined]

    def test_also_where_a_scheduler_had_wrapped_it(self) -> None:
        model, optimizer = made()
        scheduler = lr_scheduler.StepLR(optimizer, 1)
        wrapped = vars(optimizer)["step"]
        with a_run(plan="eager"):
            trained(model, optimizer, after=scheduler.step)
        assert vars(optimizer)["step"] == wrapped

    def test_state_that_is_saved_in_a_run_is_the_optimizers_alone(self) -> None:
        model = Net()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        file = io.BytesIO()
        with a_run(plan="inductor"):
            trained(model, optimizer)
            saved = copy.deepcopy(optimizer.state_dict())
            torch.save(optimizer, file)
        assert b"stc" not in file.getvalue()
        # And it can be gone on from, without a run
        fresh = torch.optim.AdamW(model.parameters(), lr=0.01)
        fresh.load_state_dict(saved)
        assert float(fresh.state_dict()["state"][0]["step"]) == 3.0

    def test_with_keep_its_compiled_step_stays(self) -> None:
        model, optimizer = made()
        with a_run(plan="inductor", keep=True) as run:
            trained(model, optimizer)
        assert [u.state for u in units(run, "optimizer")] == ["compiled"]
        assert "step" in vars(optimizer)

    def test_with_keep_training_goes_on_as_it_would_have(self) -> None:
        expected = trained(*made(), 6)
        (model, optimizer), batches = made(), torch.Generator().manual_seed(1)
        with a_run(plan="inductor", keep=True):
            told = trained(model, optimizer, 3, batches=batches)
        told += trained(model, optimizer, 3, batches=batches)
        assert told == pytest.approx(expected, rel=1e-5)
