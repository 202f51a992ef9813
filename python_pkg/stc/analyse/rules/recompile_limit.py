"""Torch gave up on a function: it had been recompiled too often, and runs eager from then on without a word.

Signals: the limits reached, and the recompilations that led there. It leads the report, because nothing said about compiled
steps before it holds afterwards. One finding for each function and guard.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.guards import advise, from_limit
from stc.analyse.facts import cause_key, function_name, inside_torch
from stc.record.types import Evidence, Finding, Limit, NextStep, Report

CODE = "recompile-limit"


def rule(report: Report) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for limit in report.compile.limits:
        key = cause_key(from_limit(limit))
        if key not in told:
            told.add(key)
            yield _finding(report, limit)


def _finding(report: Report, limit: Limit) -> Finding:
    led = [r for r in report.compile.recompilations if r.function == limit.function]
    wanted = cause_key(from_limit(limit))
    same = [r for r in led if cause_key(r) == wanted] or ([] if limit.guard else led)
    own = not inside_torch(limit.location)
    since = ""
    if limit.call is not None:
        since = f" from call {limit.call} on"
    elif limit.step is not None:
        since = f" from step {limit.step + 1} on"
    guard = f": `{limit.guard}` changed each time" if limit.guard else ""
    what = (
        f"{function_name(limit.function)} is not compiled any more{since}{guard}."
        if own
        else f"The optimizer's `{limit.function}` runs eager{since}{guard}."
    )
    evidence = [Evidence(label="limit", value=limit.limit, unit="compilations")]
    if limit.guard:
        evidence.append(Evidence(label="guard", value=limit.guard))
    if same and same[0].before is not None and same[-1].after is not None:
        evidence.append(Evidence(label="value", value=f"{same[0].before} → {same[-1].after}"))
    if limit.step is not None:
        evidence.append(Evidence(label="step", value=limit.step + 1))
    if report.steps.excluded.mixed:
        evidence.append(Evidence(label="steps partly eager since", value=report.steps.excluded.mixed))
    if own:
        step = advise(report, same or [from_limit(limit)]).step
    else:
        step = NextStep(
            text="Keep the learning rate in a tensor, so that a scheduler does not change a guarded number.",
            code="torch.optim.SGD(params, lr=torch.tensor(0.1))",
        )
    return Finding(
        code=CODE,
        severity="error" if own else "warning",
        message=what,
        location=limit.location,
        evidence=evidence,
        next_step=step,
        subject=same[-1].id if same else None,
    )
