"""From a run's events to its report, without judging it. Any prefix of the events gives a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from . import events as ev
from .types import (
    SCHEMA_VERSION,
    Compile,
    Environment,
    Gap,
    Origin,
    Report,
    Run,
    Source,
    Steps,
    StepSeries,
)

MOST_STEPS = 2000  # entries of the series in a report; more are thinned evenly


def fold(events: Iterable[ev.Event]) -> Report:
    """The report that these events tell, in order. Tolerates a missing start or end."""
    run: Run | None = None
    steps, decision = Steps(), None
    units: dict[str, Any] = {}
    graphs: dict[str, Any] = {}
    breaks: dict[str, Any] = {}
    recompilations: dict[str, Any] = {}
    limits: list[Any] = []
    gaps: dict[tuple[str, str], Gap] = {}
    sources: dict[str, Source] = {}
    artefacts: dict[str, None] = {}
    ignored: dict[str, str] = {}
    phases: list[Any] = []
    total_s: float | None = None
    series = _Series()
    for event in events:
        if isinstance(event, ev.StepsTaken):
            series.add(event.series)
        elif isinstance(event, ev.StepsMeasured):
            steps = event.steps
        elif isinstance(event, ev.GraphSeen):
            graphs[event.graph.id] = event.graph
        elif isinstance(event, ev.BreakSeen):
            breaks[event.graph_break.id] = event.graph_break
        elif isinstance(event, ev.RecompilationSeen):
            recompilations[event.recompilation.id] = event.recompilation
        elif isinstance(event, ev.LimitReached):
            limits.append(event.limit)
        elif isinstance(event, ev.UnitSeen):
            units[event.unit.id] = event.unit
        elif isinstance(event, ev.PhasesMeasured):
            phases, total_s = event.phases, event.total_s
        elif isinstance(event, ev.GapSeen):
            key = (event.gap.part, event.gap.reason)
            before = gaps.get(key)
            gaps[key] = event.gap if before is None else replace(before, count=before.count + event.gap.count)
        elif isinstance(event, ev.SourceSeen):
            sources[event.source.file] = event.source
        elif isinstance(event, ev.DecisionMade):
            decision = event.decision
        elif isinstance(event, ev.OptionIgnored):
            ignored[event.option] = event.reason
        elif isinstance(event, ev.ArtefactWritten):
            artefacts[event.name] = None
        elif isinstance(event, ev.RunStarted):
            run = event.run
        elif run is not None and isinstance(event, ev.RunProgress):
            run = replace(run, progress=event.progress)
        elif run is not None and isinstance(event, ev.RunEnded):
            run = replace(
                run, status=event.status, ended_at=event.ended_at, wall_s=event.wall_s, partial=event.partial,
                partial_reason=event.partial_reason, failure=event.failure, progress=None,
            )  # fmt: skip
    return Report(
        schema_version=SCHEMA_VERSION,
        run=run or _unknown_run(),
        compile=Compile(
            units=list(units.values()), decision=decision, graphs=list(graphs.values()), breaks=list(breaks.values()),
            recompilations=list(recompilations.values()), limits=limits, phases=phases, total_s=total_s,
            gaps=list(gaps.values()), ignored_options=ignored,
        ),
        steps=replace(steps, series=series.thinned(), total=max(steps.total, 0)),
        sources=list(sources.values()),
        artefacts=list(artefacts),
    )  # fmt: skip


class _Series:
    """Columns of all steps, thinned evenly where there are too many; steps that compiled are kept."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, float, float, str]] = []
        self._decimated = False

    def add(self, more: StepSeries) -> None:
        self._rows.extend(zip(more.index, more.start_s, more.duration_s, more.kind, strict=False))
        self._decimated = self._decimated or more.decimated

    def thinned(self) -> StepSeries:
        stride = -(-len(self._rows) // MOST_STEPS) or 1
        rows = self._rows
        if stride > 1:
            rows = [row for i, row in enumerate(rows) if i % stride == 0 or row[3] == "x"][: 2 * MOST_STEPS]
        return StepSeries(
            index=[r[0] for r in rows], start_s=[r[1] for r in rows], duration_s=[r[2] for r in rows],
            kind="".join(r[3] for r in rows), decimated=self._decimated or stride > 1,
        )  # fmt: skip


def _unknown_run() -> Run:
    """A run whose first event is missing, as after a damaged store."""
    return Run(
        id="unknown", name="unknown", status="lost", origin=Origin(kind="script"), target="unknown", plan="unknown",
        started_at=0.0, partial=True, partial_reason="The beginning of its record is missing.",
        environment=Environment(python="unknown", platform="unknown", stc="unknown"),
    )  # fmt: skip
