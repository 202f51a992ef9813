"""Whatever of ours fails, wherever: the training's result is the same, torch is put back, and the user is told in a sentence."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fixtures.stores import until
from fixtures.training import hooks, made, trained
from stc.magics.recording import Recording
from stc.options import Options
from stc.record.store import Store
from stc.record.types import Origin

pytestmark = pytest.mark.usefixtures("stc_home")


class Fault(Exception):
    """One of ours, which nothing expects."""


@pytest.fixture(autouse=True)
def everything_is_put_back() -> Iterator[None]:
    before = hooks()
    yield
    assert hooks() == before


def failing(monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException) -> None:
    """Let a function of ours, "module:Class.method", always raise."""
    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(module)
    *within, name = path.split(".")
    for part in within:
        owner = getattr(owner, part)

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(owner, name, fail)


def run(**options: Any) -> tuple[Recording, list[float]]:
    """A recorded training, and its losses."""
    model, optimizer = made()
    own = dict(vars(model))
    with Recording(Options(**options), Origin(kind="script", script="test.py")) as recording:
        losses = trained(model, optimizer, 6)
    assert vars(model) == own
    assert "step" not in vars(optimizer)
    return recording, losses


WHILE_IT_RUNS = [
    "stc.session.units:Units.add",
    "stc.session.units:Units.change",
    "stc.session.units:name_of",
    "stc.session.clock:StepClock.activity",
    "stc.session.clock:StepClock.end_step",
    "stc.session.training:enclosing_turns",
    "stc.session.training:LoopPolicy.after_step",
    "stc.session.optimizers:Optimizers.holds",
    "stc.backends.inductor:Inductor.compile_module",
    "stc.backends.inductor:Inductor.compile_step",
    "stc.capture.torch_compat.optimizers:why_not_compilable",
]
AT_ITS_START = [
    "stc.session.session:environment",
    "stc.session.session:Store.open",
    "stc.session.session:Store.begin",
    "stc.record.rows:insert",
    "stc.capture.listener:Listener.attach",
    "stc.capture.listener:Listener._install",
    "stc.session.training:Training.install",
    "stc.session.models:Models.install",
    "stc.session.optimizers:Optimizers.install",
    "stc.capture.torch_compat.compiling:soft_errors",
    "stc.capture.torch_compat.compiling:around_compiles",
]
AT_ITS_END = [
    "stc.session.clock:StepClock.measured",
    "stc.session.clock:StepClock.series",
    "stc.session.training:Training.remember",
    "stc.session.training:Training.settle_failures",
    "stc.capture.listener:Listener.phases",
    "stc.session.session:without_effect",
    "stc.session.session:fold",
    "stc.analyse:judge",
    "stc.analyse:summarise",
    "stc.record.writer:RunWriter.close",
    "stc.render.text:summary",
    "stc.magics.recording:show_summary",
    "stc.magics.recording:write_report",
    "stc.magics.progress:Ticker.close",
]


class TestTheResultIsTheSame:
    @pytest.mark.parametrize("place", WHILE_IT_RUNS + AT_ITS_START)
    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_where_something_fails_while_it_runs(self, monkeypatch: pytest.MonkeyPatch, plan: str, place: str) -> None:
        # Given what training gives
        expected = trained(*made(), 6)
        # When a part of ours always fails
        failing(monkeypatch, place, Fault("ours"))
        _, losses = run(plan=plan)
        # Then it gives the same: to the bit where nothing was to be compiled
        assert losses == (expected if plan == "eager" else pytest.approx(expected, rel=1e-5))

    @pytest.mark.parametrize("place", AT_ITS_END)
    def test_where_something_fails_when_it_ends(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, place: str
    ) -> None:
        expected = trained(*made(), 6)
        failing(monkeypatch, place, Fault("ours"))
        _, losses = run(plan="eager", report=str(tmp_path / "report.json"))
        assert losses == expected
        # And nobody takes the run for one that goes on
        until(lambda: [r.status for r in Store.open().runs()] == ["completed"])

    @pytest.mark.parametrize("place", ["stc.session.units:Units.add", "stc.session.clock:StepClock.end_step"])
    def test_under_the_default_plan_too(self, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
        expected = trained(*made(), 6)
        failing(monkeypatch, place, Fault("ours"))
        assert run()[1] == expected

    @pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError, ValueError])
    def test_what_the_user_raises_comes_through_as_it_is(self, kind: type[BaseException]) -> None:
        raised = kind("the user's")
        recording = Recording(Options(plan="eager"), Origin(kind="script", script="test.py"))

        def training() -> None:
            with recording:
                trained(*made(), 2)
                raise raised

        with pytest.raises(kind) as caught:
            training()
        assert caught.value is raised
        assert recording.report is not None and recording.report.run.partial


class TestTold:
    def test_a_fault_is_a_gap_told_once_however_often_it_happens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failing(monkeypatch, "stc.session.clock:StepClock.end_step", Fault("ours"))
        recording, _ = run(plan="eager")
        assert recording.report is not None
        assert [(g.part, g.reason) for g in recording.report.compile.gaps] == [("steps", "Fault: ours")]
        assert [f.code for f in recording.report.findings if f.code == "capture-incomplete"]

    def test_a_run_that_cannot_begin_is_a_notice(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        failing(monkeypatch, "stc.session.session:environment", Fault("ours"))
        recording, _ = run(plan="eager")
        assert recording.run_id is None
        assert (
            capsys.readouterr().err == "STC: the run could not be recorded (Fault: ours). The code runs without it.\n"
        )

    def test_a_report_that_cannot_be_made_leaves_a_run_with_its_events(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        failing(monkeypatch, "stc.analyse:judge", Fault("ours"))
        recording, _ = run(plan="eager")
        expected = f"STC: the report could not be finished; `stc show {recording.run_id}` has what was recorded.\n"
        assert capsys.readouterr().err == expected
        (kept,) = Store.open().runs()
        assert (kept.id, kept.status) == (recording.run_id, "completed")
        assert Store.open().folded(kept.id).steps.total == 6

    def test_a_summary_that_cannot_be_drawn_is_in_the_store(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        failing(monkeypatch, "stc.magics.recording:show_summary", Fault("ours"))
        recording, _ = run(plan="eager")
        assert f"`stc show {recording.run_id}` has it." in capsys.readouterr().err

    @pytest.mark.parametrize("place", AT_ITS_START[5:8])
    def test_an_interrupt_while_it_begins_leaves_nothing_in_torch(
        self, monkeypatch: pytest.MonkeyPatch, place: str
    ) -> None:
        failing(monkeypatch, place, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            run(plan="eager")
        assert Recording.active is None
        assert [r.status for r in Store.open().runs()] == ["interrupted"]

    @pytest.mark.parametrize("name", ["Models", "Optimizers"])
    def test_what_cannot_be_put_back_is_a_gap_and_the_rest_is_put_back(
        self, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        # Given a run whose models, or optimizers, cannot be restored the first time
        module = importlib.import_module(f"stc.session.{name.lower()}")
        owner = getattr(module, name)
        whole = owner.restore
        kept: list[Any] = []

        def fail(self: Any, *, keep: bool) -> None:
            kept.append(self)
            raise Fault("ours")

        monkeypatch.setattr(owner, "restore", fail)
        model, optimizer = made()
        with Recording(Options(plan="eager"), Origin(kind="script", script="test.py")) as recording:
            trained(model, optimizer, 3)
        # Then that is said, everything else is as before, and the training goes on
        assert recording.report is not None
        assert ("restore", "Fault: ours") in [(g.part, g.reason) for g in recording.report.compile.gaps]
        assert torch.autograd.backward.__module__ == "torch.autograd"
        assert len(trained(model, optimizer, 3)) == 3
        whole(kept[0], keep=False)
