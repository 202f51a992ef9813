"""Compiling does not pay for itself: known beforehand, so the model was left eager, or seen afterwards.

Signals: the decision with its figures; for a run that compiled, the speed-up with its interval and the break-even step. A run
that goes on may still get there, so nothing is said about it.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.faces import order
from stc.analyse.facts import give_up, left_eager
from stc.analyse.stats import cannot_tell
from stc.record.types import Decision, Evidence, Finding, NextStep, Report, Steps
from stc.render import numbers as n

CODE = "not-worth-compiling"


def rule(report: Report) -> Iterator[Finding]:
    decision = report.compile.decision
    if decision is not None and left_eager(report):
        yield _beforehand(report, decision)
    elif report.run.status == "completed" and give_up(report) is None:
        yield from _afterwards(report)


def _beforehand(report: Report, decision: Decision) -> Finding:
    pays = (
        "never"
        if decision.break_even_step is None
        else f"after {n.digits(decision.break_even_step, 2)} steps at the earliest"
    )
    cost = (
        "Compiling would"
        if decision.compile_s is None
        else f"Compiling would take about {n.about(decision.compile_s)} and"
    )
    message = f"Left eager: {cost[0].lower()}{cost[1:]} pay {pays}."
    model = next((u for u in report.compile.units if u.kind == "model"), None)
    return Finding(
        code=CODE,
        severity="info",
        message=message,
        location=model.location if model is not None else None,
        evidence=[
            Evidence(label="eager step", value=decision.eager_step_s, unit="s"),
            Evidence(
                label=_label("compile time", decision.compile_source, "estimate"), value=decision.compile_s, unit="s"
            ),
            Evidence(label=_label("steps to go", decision.remaining_source), value=decision.remaining_steps),
            Evidence(
                label="pays after step", value="never" if decision.break_even_step is None else decision.break_even_step
            ),
        ],
        next_step=NextStep(
            text="Nothing, if the loop stays this short. To compile all the same, order the plan.",
            code=order(report, "inductor"),
        ),
        subject=model.id if model is not None else None,
    )


def _afterwards(report: Report) -> Iterator[Finding]:
    steps, even = report.steps, report.steps.break_even
    # There is no threshold on the ratio: the run's own time says whether its compile time came back, to the step.
    if steps.speedup is None or even is None:
        return
    total_s, ratio = report.compile.total_s, steps.speedup
    at_best = _won_at_best(steps)
    # Steps that vary too much leave the ratio open, but not whether any ratio they allow would have been enough.
    hopeless = cannot_tell(ratio) and total_s is not None and at_best is not None and at_best < total_s
    if even.reached is not False and not hopeless:
        return
    if hopeless:
        message = f"Compiling did not pay in this run: its {n.counted(steps.total, 'step')} won back at most {n.about(at_best)} of the {n.about(total_s)} that it took."
        step = NextStep(
            text="Train longer, or leave this loop eager. Compiled code is kept on disk, so the next run compiles sooner.",
            code=order(report, "eager"),
        )
    elif even.step is not None and ratio.low > 1.0:
        message = f"Compiling had not paid for itself when the run ended: it would after about {n.digits(even.step, 2)} steps, and there were {n.count(steps.total)}."
        step = NextStep(
            text="Train longer, or leave this loop eager. Compiled code is kept on disk, so the next run compiles sooner.",
            code=order(report, "eager"),
        )
    else:
        how = "slower than" if ratio.high < 1.0 else "no faster than"
        message = f"Compiling did not pay: compiled steps are {how} eager ones."
        step = NextStep(text="Leave this loop eager.", code=order(report, "eager"))
    pays = "never" if even.step is None or ratio.low <= 1.0 else even.step
    yield Finding(
        code=CODE,
        severity="warning",
        message=message,
        evidence=[
            Evidence(label="eager step", value=steps.eager.median_s if steps.eager else None, unit="s"),
            Evidence(label="compiled step", value=steps.compiled.median_s if steps.compiled else None, unit="s"),
            Evidence(
                label="speed-up", value=f"{n.ratio(ratio.ratio)} ({n.digits(ratio.low)} to {n.ratio(ratio.high)})"
            ),
            Evidence(label="compile time", value=total_s, unit="s"),
            Evidence(label="pays after step", value=None if hopeless else pays),
        ],
        next_step=step,
    )


def _won_at_best(steps: Steps) -> float | None:
    """Seconds that all steps together won against eager, if the ratio was the highest that its interval allows."""
    if steps.eager is None or steps.speedup is None:
        return None
    return steps.total * steps.eager.median_s * max(0.0, 1.0 - 1.0 / steps.speedup.high)


def _label(label: str, *sources: str | None) -> str:
    source = next((s for s in sources if s), None)
    return f"{label} ({source})" if source else label
