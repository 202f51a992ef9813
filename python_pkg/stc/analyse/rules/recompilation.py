"""A function was compiled again because a condition its code relied on no longer held.

Signals: recompilations that are not benign, the graphs they made, the run's wall time. One finding for each cause: the same value
in several functions, or behind a graph break, is told once, and a cause that ran into the recompile limit is told there.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.guards import advise
from stc.analyse.facts import (
    breaks,
    cause_key,
    caused_by_break,
    function_name,
    inside_torch,
    limit_keys,
    recompilations,
)
from stc.record.types import Evidence, Finding, Recompilation, Report, Severity
from stc.render import numbers as n

CODE = "recompilation"

# A single recompilation that took less than this share of the run is only told: it is below the spread that step times
# have anyway (2 to 5 % on a quiet machine), so mending it cannot be seen in the run's time.
SMALL_SHARE = 0.05
# From the second on it is a warning whatever it cost: torch stops compiling the function after eight.
OFTEN = 2


def rule(report: Report) -> Iterator[Finding]:
    told = limit_keys(report)
    stopped = breaks(report)
    groups: dict[tuple[str, str], list[Recompilation]] = {}
    for found in recompilations(report):
        if cause_key(found) not in told and not caused_by_break(found, stopped):
            groups.setdefault(cause_key(found), []).append(found)
    for group in groups.values():
        yield _finding(report, group)


def _finding(report: Report, group: list[Recompilation]) -> Finding:
    first, last = group[0], group[-1]
    cause = advise(report, group)
    functions = {r.function for r in group}
    turns = max(sum(1 for r in group if r.function == f) for f in functions)
    cost, dynamic = _cost(report, group)
    message = f"{function_name(first.function)} was compiled again{_times(turns)}: {cause.what} changed{_change(first, last, turns)}"
    if turns == 1 and dynamic and first.kind in ("shape", "value"):  # what can become symbolic
        message += "; since then one graph with a dynamic size serves every call"
    evidence = [Evidence(label="guard", value=last.guard or last.reason), Evidence(label="times", value=turns)]
    if first.before is not None or first.after is not None:
        evidence.append(Evidence(label="value", value=f"{first.before or n.UNKNOWN} → {last.after or n.UNKNOWN}"))
    if first.step is not None:
        evidence.append(Evidence(label="first in step", value=first.step + 1))
    if first.call is not None:
        evidence.append(Evidence(label="first at call", value=first.call))
    if cost is not None:
        evidence.append(Evidence(label="compile time", value=round(cost, 3), unit="s"))
    return Finding(
        code=CODE,
        severity=_severity(report, first, turns, cost),
        message=message + ".",
        location=first.location,
        evidence=evidence,
        next_step=cause.step,
        subject=first.id,
    )


def _severity(report: Report, first: Recompilation, turns: int, cost: float | None) -> Severity:
    if first.kind in ("grad-mode", "training-mode") or inside_torch(first.location):
        return "info"
    if turns >= OFTEN:
        return "warning"
    if first.kind == "global":
        return "info"  # torch's settings change by themselves nowhere: somebody wished it
    wall = report.run.wall_s
    return "info" if cost is not None and wall and cost / wall < SMALL_SHARE else "warning"


def _cost(report: Report, group: list[Recompilation]) -> tuple[float | None, bool]:
    """Seconds of compiling of the graphs these recompilations made (None: not known), and whether they are dynamic."""
    made = {r.compile_id for r in group if r.compile_id}
    graphs = [g for g in report.compile.graphs if g.compile_id in made]
    known = [g.compile_s for g in graphs if g.compile_s is not None]
    return (sum(known) if known else None), any(g.dynamic for g in graphs)


def _times(turns: int) -> str:
    return "" if turns == 1 else f" {n.count(turns)} times"


def _change(first: Recompilation, last: Recompilation, turns: int) -> str:
    if first.before is None or last.after is None:
        return ""
    return f" from {first.before} to {last.after}" if turns == 1 else f" each time, from {first.before} to {last.after}"
