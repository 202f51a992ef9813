"""The model's graph breaks: Python has to run in the middle of the compiled code.

Signals: the run's breaks that are not benign. One finding for each place and cause, however often and in however many graphs
torch reported it. There is no threshold: one break costs every step a return to Python and what could have been fused across it.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.breaks import Cause, cause_of
from stc.analyse.facts import breaks, caused_by_break
from stc.record.types import Break, Evidence, Finding, NextStep, Report

CODE = "graph-break"


def rule(report: Report) -> Iterator[Finding]:
    for found, cause in _grouped(report):
        yield _finding(report, found, cause)


def _grouped(report: Report) -> list[tuple[list[Break], Cause]]:
    """Breaks with the same place and cause together, in the order in which they were first seen."""
    groups: dict[tuple[str, int, str], tuple[list[Break], Cause]] = {}
    for found in breaks(report):
        cause = cause_of(report, found)
        place = found.location
        key = (place.file, place.line, cause.kind) if place is not None else ("", 0, f"{cause.kind}:{found.reason}")
        groups.setdefault(key, ([], cause))[0].append(found)
    # A function skipped because of a break in its loop is told with that break, not beside it.
    loops = [key for key, (_, cause) in groups.items() if cause.kind == "loop"]
    for key in loops:
        inside = [
            k for k, (found, cause) in groups.items() if cause.kind != "loop" and _same_function(found, groups[key][0])
        ]
        if inside:
            groups[inside[0]][0].extend(groups.pop(key)[0])
    return list(groups.values())


def _same_function(first: list[Break], second: list[Break]) -> bool:
    a, b = first[0].location, second[0].location
    return a is not None and b is not None and a.file == b.file and a.function is not None and a.function == b.function


def _finding(report: Report, found: list[Break], cause: Cause) -> Finding:
    first = found[0]
    skipped = any(b.kind == "frame-skipped" for b in found)
    count = max(1, sum(b.count for b in found if b.kind == "graph-break"))
    steps = sorted({s for b in found for s in b.steps})
    code = (first.location.text or "").strip() if first.location is not None else ""
    at = f" at `{code}`" if code else ""
    if skipped:
        function = first.location.function if first.location is not None else None
        message = (
            f"{f'`{function}`' if function else 'A function'} runs eager because of a graph break{at}: {cause.why}."
        )
    else:
        message = f"The graph breaks{at}: {cause.why}."
    evidence = [Evidence(label="times", value=count), Evidence(label="torch says", value=_words(first))]
    if steps:
        evidence.insert(1, Evidence(label="in steps", value=_ranges([s + 1 for s in steps])))
    graphs = {c for b in found for c in b.compile_ids}
    if len(graphs) > 1:
        evidence.append(Evidence(label="compilations it broke", value=len(graphs)))
    again = sum(1 for r in report.compile.recompilations if caused_by_break(r, [first]))
    if again:
        evidence.append(Evidence(label="recompilations behind it", value=again))
    step = cause.step
    if skipped and cause.kind != "loop":
        step = NextStep(text=f"{step.text} Until then the whole function stays eager.", code=step.code)
    return Finding(
        code=CODE,
        severity="info" if cause.deliberate and not skipped else "warning",
        message=message,
        location=first.location,
        evidence=evidence,
        next_step=step,
        subject=first.id,
    )


def _words(found: Break) -> str:
    """Torch's own first line."""
    return next((line.strip() for line in found.reason.splitlines() if line.strip()), found.detail or "")


def _ranges(steps: list[int]) -> str:
    """1, 2, 3, 7 as "1 to 3, 7"; the first five stretches."""
    stretches: list[list[int]] = []
    for step in steps:
        if stretches and step == stretches[-1][1] + 1:
            stretches[-1][1] = step
        else:
            stretches.append([step, step])
    shown = [f"{a}" if a == b else f"{a} to {b}" for a, b in stretches[:5]]
    return ", ".join(shown) + (", …" if len(stretches) > 5 else "")
