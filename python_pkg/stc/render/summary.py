"""What the short forms of a report show, before it is text or HTML: the row of figures, and how evidence reads.

Text, cell output and page take their words from here, so that they agree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from stc.record.types import Evidence, Location, Report

from . import numbers as n

SHOWN_FINDINGS = 3
SEVERITY_MARKS = {"error": "✖", "warning": "▲", "info": "●"}  # told apart by shape, not only by colour


def kernel_labels(report: Report) -> dict[str, str]:
    """A short name for each kernel, by its id: "F3" is the third of the forward graphs. The panel gives the same ones."""
    counts: Counter[str] = Counter()
    labels = {}
    for graph in report.compile.graphs:
        letter = graph.phase[:1].upper() or "?"
        for kernel in graph.kernels:
            counts[letter] += 1
            labels[kernel.id] = f"{letter}{counts[letter]}"
    return labels


@dataclass(frozen=True)
class Figure:
    """One figure of the summary's row."""

    label: str
    value: str
    definition: str | None = None  # id in stc.analyse.definitions
    detail: str | None = None  # what hovers say beside the definition


def figures(report: Report) -> list[Figure]:
    """The row of figures: step times, speed-up, compile time, what was built, steps left out. Unknown ones are left out."""
    steps, compiled = report.steps, report.compile
    row = []
    for label, timing, id in (
        ("eager step", steps.eager, "steps.eager.median_s"),
        ("compiled step", steps.compiled, "steps.compiled.median_s"),
    ):
        if timing is not None:
            detail = f"median of {n.counted(timing.n, 'step')}, p95 {n.seconds(timing.p95_s)}"
            row.append(Figure(label, n.seconds(timing.median_s), id, detail))
    if steps.speedup is not None:
        s = steps.speedup
        row.append(
            Figure(
                "speed-up",
                f"{n.ratio(s.ratio)} {n.spread(s)}",
                "steps.speedup.ratio",
                f"95 % interval {n.digits(s.low)} to {n.ratio(s.high)}",
            )
        )
    if compiled.total_s:
        longest = max(compiled.phases, key=lambda p: p.self_s, default=None)
        most = f"longest: {longest.label}, {n.seconds(longest.self_s)}" if longest is not None else None
        row.append(Figure("compiling", n.seconds(compiled.total_s), "compile.total_s", most))
    if compiled.graphs:
        kernels = sum(len(g.kernels) for g in compiled.graphs)
        phases = ", ".join(g.phase for g in compiled.graphs[:6])
        row.append(Figure("graphs", n.count(len(compiled.graphs)), "compile.graphs.count", phases))
        if kernels:
            row.append(Figure("kernels", n.count(kernels), "compile.kernels.count"))
    if steps.total:
        row.append(Figure("steps", n.count(steps.total), "steps.total", left_out(report)))
    if not row and report.run.wall_s is not None:
        row.append(Figure("wall time", n.seconds(report.run.wall_s), "run.wall_s"))
    return row


def left_out(report: Report) -> str | None:
    """Which steps are in no statistic, in words."""
    e = report.steps.excluded
    if not e.count:
        return None
    parts = [
        (e.compiling, "compiled something"),
        (e.warm_up, "warm-up"),
        (e.mixed, "partly eager"),
        (e.incomplete, "unfinished"),
    ]
    named = ", ".join(f"{n.count(number)} {word}" for number, word in parts if number)
    return (
        f"{n.count(e.count)} left out of the statistics: {named}"
        if named
        else f"{n.count(e.count)} left out of the statistics"
    )


def chip(location: Location | None) -> str:
    """A place as it is shown: "In[3] : 12"."""
    return "" if location is None else f"{location.file} : {location.line}"


def evidence_value(evidence: Evidence) -> str:
    """A figure with its unit, or a quotation."""
    value, unit = evidence.value, evidence.unit
    if value is None:
        return n.UNKNOWN
    if isinstance(value, str):
        return value
    if unit == "s":
        return n.seconds(value)
    if unit in ("B", "bytes"):
        return n.data(value)
    text = n.count(value) if isinstance(value, int) else n.digits(value)
    return f"{text}{n.THIN}{unit}" if unit else text
