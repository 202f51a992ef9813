"""Rules about the run as a whole: nothing compiled, not worth it, failed, partial, incomplete, options without effect."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fixtures.made import MODEL, at, example, report
from stc.analyse.rules import (
    capture_incomplete,
    compile_failed,
    not_worth_compiling,
    nothing_compiled,
    option_without_effect,
    run_partial,
)
from stc.record.types import BreakEven, Decision, Failure, Gap, Origin, Speedup, Steps, Timing, Unit


class TestNothingCompiled:
    def test_a_cell_without_a_model(self) -> None:
        (finding,) = nothing_compiled.rule(report(graphs=[], units=[]))
        assert finding.severity == "warning"
        assert "no model was called" in finding.message

    def test_one_graph_is_enough(self) -> None:
        assert list(nothing_compiled.rule(report())) == []

    def test_a_model_that_builds_no_graph_is_an_error(self) -> None:
        (finding,) = nothing_compiled.rule(report(graphs=[]))
        assert finding.severity == "error"
        assert "`model`" in finding.message

    def test_a_run_that_goes_on_may_still_compile(self) -> None:
        assert list(nothing_compiled.rule(report(graphs=[], run={"status": "running"}))) == []

    def test_left_eager_on_purpose_is_no_finding(self) -> None:
        assert list(nothing_compiled.rule(example("left_eager"))) == []
        asked = report(graphs=[], run={"plan": "eager", "options": {"plan": "eager"}})
        assert list(nothing_compiled.rule(asked)) == []

    def test_a_compilers_failure_is_told_instead(self) -> None:
        failed = replace(MODEL, state="failed")
        assert list(nothing_compiled.rule(report(graphs=[], units=[failed]))) == []

    @pytest.mark.parametrize("status", ["failed", "interrupted", "lost"])
    def test_a_run_that_ended_before_its_first_step_is_explained_by_that(self, status: str) -> None:
        early = report(graphs=[], run={"status": status})
        assert list(nothing_compiled.rule(early)) == []
        assert len(list(nothing_compiled.rule(replace(early, steps=Steps(total=1))))) == 1

    def test_a_run_shorter_than_its_baseline_is_only_told(self) -> None:
        short = report(graphs=[], units=[replace(MODEL, state="found")], run={"options": {"plan": None}})
        (finding,) = nothing_compiled.rule(short)
        assert finding.severity == "info"
        assert finding.next_step is not None and finding.next_step.code == "%%stc_compile --plan inductor"


def measured(ratio: float, low: float, high: float, even: BreakEven, total: int = 1000) -> Steps:
    eager, compiled = 0.01 * ratio, 0.01
    return Steps(
        total=total,
        eager=Timing(median_s=eager, p95_s=eager, mean_s=eager, n=10),
        compiled=Timing(median_s=compiled, p95_s=compiled, mean_s=compiled, n=900),
        speedup=Speedup(ratio=ratio, low=low, high=high),
        break_even=even,
    )


class TestNotWorthCompiling:
    def test_beforehand_it_gives_the_figures_of_the_decision(self) -> None:
        (finding,) = not_worth_compiling.rule(example("left_eager"))
        assert finding.severity == "info"
        assert [e.value for e in finding.evidence] == [167e-6, 9.35, 295, 111_982]

    def test_beforehand_it_may_be_never(self) -> None:
        decision = Decision(action="leave-eager", reason="", compile_s=9.0)
        (finding,) = not_worth_compiling.rule(report(graphs=[], decision=decision))
        assert "pay never" in finding.message or "never pay" in finding.message

    def test_a_decision_to_compile_is_no_finding(self) -> None:
        assert list(not_worth_compiling.rule(report(decision=Decision(action="compile", reason="")))) == []

    @pytest.mark.parametrize(
        ("even", "findings"), [(BreakEven(step=1000, reached=True), 0), (BreakEven(step=1001, reached=False), 1)]
    )
    def test_afterwards_the_last_step_decides(self, even: BreakEven, findings: int) -> None:
        made = report(steps=measured(1.3, 1.2, 1.4, even), total_s=2.3)
        assert len(list(not_worth_compiling.rule(made))) == findings

    @pytest.mark.parametrize(("low", "high", "words"), [(0.7, 0.99, "slower than"), (0.9, 1.01, "no faster than")])
    def test_afterwards_it_says_slower_only_where_that_is_sure(self, low: float, high: float, words: str) -> None:
        (finding,) = not_worth_compiling.rule(report(steps=measured(0.95, low, high, BreakEven(reached=False))))
        assert words in finding.message
        assert finding.severity == "warning"

    @pytest.mark.parametrize(("total_s", "findings"), [(1.99, 0), (2.01, 1)])
    def test_afterwards_steps_that_vary_leave_it_open_unless_no_ratio_they_allow_would_do(
        self, total_s: float, findings: int
    ) -> None:
        # given 1,000 steps of 10 ms eager, which at 1.25 times the speed won 2 s
        even = BreakEven(reason="The step times vary too much to tell whether compiled steps are faster.")
        made = report(steps=measured(1.0, 0.8, 1.25, even), total_s=total_s)
        # then more compile time than that has not come back, and with less nothing is claimed
        found = list(not_worth_compiling.rule(made))
        assert len(found) == findings
        assert all("at most 2.0\u2009s of the 2.0\u2009s" in f.message for f in found)

    def test_a_run_that_goes_on_may_still_get_there(self) -> None:
        made = report(steps=measured(1.3, 1.2, 1.4, BreakEven(step=2000, reached=False)), run={"status": "running"})
        assert list(not_worth_compiling.rule(made)) == []


class TestCompileFailed:
    @staticmethod
    def failed(kind: str, message: str, **fields: Any) -> Unit:
        return replace(MODEL, state="failed", failure=Failure(type=kind, message=message), **fields)

    def test_training_went_on_eager(self) -> None:
        (finding,) = compile_failed.rule(report(units=[self.failed("BackendCompilerFailed", "boom\nmore")]))
        assert finding.severity == "error"
        assert "training went on eager" in finding.message
        assert finding.evidence[-1].value == "boom"

    def test_a_missing_compiler_is_to_be_installed(self) -> None:
        (finding,) = compile_failed.rule(
            report(units=[self.failed("InvalidCxxCompiler", "No working C++ compiler found")])
        )
        assert finding.next_step is not None and "g++" in finding.next_step.text

    def test_one_exception_on_two_models_is_one_finding(self) -> None:
        units = [self.failed("E", "same"), self.failed("E", "same", id="model-2", name="critic")]
        assert len(list(compile_failed.rule(report(units=units)))) == 1
        units[1] = self.failed("E", "another", id="model-2")
        assert len(list(compile_failed.rule(report(units=units)))) == 2

    def test_compiled_models_are_no_finding(self) -> None:
        assert list(compile_failed.rule(report())) == []


class TestRunPartial:
    def test_a_completed_run_is_none(self) -> None:
        assert list(run_partial.rule(report())) == []
        assert list(run_partial.rule(report(run={"status": "running"}))) == []

    def test_the_users_own_error_keeps_its_place(self) -> None:
        failure = Failure(type="RuntimeError", message="shapes\ndetails", location=at(2, 4, "model(batch)"))
        (finding,) = run_partial.rule(report(run={"status": "failed", "partial": True, "failure": failure}))
        assert finding.severity == "warning"
        assert finding.location == failure.location
        assert "RuntimeError at In[2], line 4" in finding.message

    @pytest.mark.parametrize(("status", "severity"), [("interrupted", "info"), ("lost", "warning")])
    def test_an_interrupt_was_wished_for_and_a_loss_was_not(self, status: str, severity: str) -> None:
        (finding,) = run_partial.rule(report(run={"status": status, "partial": True}))
        assert finding.severity == severity


def test_gaps_are_told_together() -> None:
    assert list(capture_incomplete.rule(report())) == []
    (finding,) = capture_incomplete.rule(
        report(gaps=[Gap(part="bytes", reason="A."), Gap(part="layout", reason="B.", count=3)])
    )
    assert finding.severity == "info"
    assert [(e.label, e.value) for e in finding.evidence] == [("bytes", "A."), ("layout (3 times)", "B.")]


def test_a_run_that_was_not_stored_is_a_warning() -> None:
    (finding,) = capture_incomplete.rule(report(gaps=[Gap(part="store", reason="The disk is full.")]))
    assert finding.severity == "warning"


def test_an_option_without_effect_names_the_option_as_it_was_given() -> None:
    made = report(ignored_options={"precision": "No model was compiled."}, run={"options": {"precision": "bf16"}})
    (finding,) = option_without_effect.rule(made)
    assert finding.message == "`--precision bf16` had no effect: no model was compiled."
    assert list(option_without_effect.rule(report())) == []


class TestWordsForWhatWasRun:
    """A finding speaks of the cell, script, block or call that it is about, and its advice can be taken as it stands."""

    @pytest.mark.parametrize(
        ("origin", "part", "order"),
        [
            (Origin(kind="magic", cell=2), "cell", "%%stc_compile --plan inductor"),
            (Origin(kind="script", script="my train.py"), "script", "stc run --plan inductor 'my train.py'"),
            (Origin(kind="script", script="package.train"), "script", "stc run --plan inductor ..."),
            (Origin(kind="context", cell=2), "cell", 'with stc.compiling(plan="inductor"):'),
            (Origin(kind="context", script="train.py"), "script", 'with stc.compiling(plan="inductor"):'),
            (Origin(kind="function", cell=2), "cell", 'stc.compile(model, plan="inductor")'),
        ],
    )
    def test_as_it_was_started(self, origin: Origin, part: str, order: str) -> None:
        failed = {"origin": origin, "status": "failed", "failure": Failure(type="ValueError", message="no")}
        (partial,) = run_partial.rule(report(run=failed))
        assert partial.message.startswith(f"The {part}'s own code ended with ValueError")
        assert partial.next_step is not None and f"Mend the error in the {part}" in partial.next_step.text
        never_compiled = replace(MODEL, state="eager")
        short = report(graphs=[], units=[never_compiled], run={"origin": origin, "options": {"plan": None}})
        (early,) = nothing_compiled.rule(short)
        assert early.next_step is not None and early.next_step.code == order

    def test_a_script_without_a_model_is_not_told_to_use_the_magic(self) -> None:
        made = report(graphs=[], units=[], run={"origin": Origin(kind="script", script="train.py")})
        (finding,) = nothing_compiled.rule(made)
        assert finding.next_step is not None
        assert finding.next_step.text.startswith("Run the script that calls the model")
