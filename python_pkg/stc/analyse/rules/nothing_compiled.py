"""Nothing was compiled, or a model was not, and nobody chose that.

Signals: the run's status, its graphs, the models it met, and its decision; the reason of a model that was kept eager. Silent while the run goes on, where the run was left
eager on purpose, and where a compiler's failure or the run's early end explains it.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.faces import order, part
from stc.analyse.facts import breaks, compiled_anything, ended_early, kept_eager, left_eager, nothing_begun
from stc.record.types import Evidence, Finding, NextStep, Report, Unit

CODE = "nothing-compiled"


def rule(report: Report) -> Iterator[Finding]:
    units = report.compile.units
    kept = list(_kept_eager(report))
    yield from kept
    if report.run.status == "running" or nothing_begun(report) or compiled_anything(report) or left_eager(report):
        return
    if any(u.state == "failed" for u in units):
        return
    models = [u for u in units if u.kind == "model"]
    if kept and all(kept_eager(u) for u in models):
        return
    evidence = [
        Evidence(label="models called", value=len(models)),
        Evidence(label="training steps", value=report.steps.total),
    ]
    if not models:
        yield Finding(
            code=CODE,
            severity="warning",
            message="Nothing was compiled: no model was called in this run.",
            evidence=evidence,
            next_step=NextStep(text=f"{_where(report)}: a torch.nn.Module with parameters that is not compiled yet."),
        )
        return
    names = ", ".join(f"`{u.name}`" for u in models[:3])
    if ended_early(report):
        yield Finding(
            code=CODE,
            severity="info",
            message=f"{names} stayed eager: the run ended before there was a baseline to decide on.",
            location=models[0].location,
            evidence=evidence,
            next_step=NextStep(text="Order the plan to compile from the first call.", code=order(report, "inductor")),
            subject=models[0].id,
        )
        return
    reasons = [Evidence(label=u.name, value=u.reason) for u in models if u.reason]
    stopped = breaks(report)
    if stopped:
        step = NextStep(text="Remove the cause of the graph break below; then a graph can be built.")
    else:
        step = NextStep(
            text="Call the model itself, model(x), not model.forward(x); or compile a part of it that is plain tensor code.",
            code="stc.compile(model)",
        )
    yield Finding(
        code=CODE,
        severity="error",
        message=f"Nothing was compiled: torch.compile built no graph for {names}, which ran eager.",
        location=models[0].location,
        evidence=evidence + reasons,
        next_step=step,
        subject=models[0].id,
    )


def _kept_eager(report: Report) -> Iterator[Finding]:
    """Models that were to be compiled and could not be, for what is done with them: one finding for each reason."""
    if report.run.plan == "eager":
        return
    groups: dict[str, list[Unit]] = {}
    for unit in report.compile.units:
        if unit.kind == "model" and unit.reason is not None and kept_eager(unit):
            groups.setdefault(unit.reason, []).append(unit)
    for reason, units in groups.items():
        twice = "differentiated again" in reason
        yield Finding(
            code=CODE,
            severity="warning",
            message=f"{', '.join(f'`{u.name}`' for u in units[:3])} stayed eager. {reason}",
            location=units[0].location,
            evidence=[Evidence(label=u.name, value=u.type) for u in units],
            next_step=NextStep(
                text="Nothing has to be mended: it trains as it would without STC."
                if twice
                else "Call the model in plain code where it is to be compiled."
            ),
            subject=units[0].id,
        )


def _where(report: Report) -> str:
    kind = report.run.origin.kind
    if kind == "context":
        return "Put the `with` block around the code that calls the model"
    if kind == "function":
        return f"Call the model in the {part(report)} before the run ends"
    if kind == "script":
        return "Run the script that calls the model"
    return "Put the magic on the cell that calls the model"
