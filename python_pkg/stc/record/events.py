"""What is appended to the store while a run goes on: one event for each thing that happened, in order.

A killed process leaves its events, and a report can be folded from any prefix of them.
"""

from __future__ import annotations

from .types import (
    Break,
    Decision,
    Failure,
    Gap,
    Graph,
    Limit,
    Phase,
    Progress,
    Recompilation,
    Record,
    Run,
    Source,
    Status,
    Steps,
    StepSeries,
    Unit,
)


class Event(Record, tag_field="event"):
    """Base; the tag is the class name in kebab-case, stored beside the payload."""


class RunStarted(Event, tag="run-started"):
    run: Run


class RunProgress(Event, tag="run-progress"):
    """Replaces the one before."""

    progress: Progress | None


class RunEnded(Event, tag="run-ended"):
    status: Status
    ended_at: float
    wall_s: float
    partial: bool = False
    partial_reason: str | None = None
    failure: Failure | None = None


class SourceSeen(Event, tag="source-seen"):
    """Replaces one with the same file."""

    source: Source


class UnitSeen(Event, tag="unit-seen"):
    """Replaces one with the same id."""

    unit: Unit


class DecisionMade(Event, tag="decision-made"):
    decision: Decision


class GraphSeen(Event, tag="graph-seen"):
    """Replaces one with the same id."""

    graph: Graph


class BreakSeen(Event, tag="break-seen"):
    """Replaces one with the same id (its count has grown)."""

    graph_break: Break


class RecompilationSeen(Event, tag="recompilation-seen"):
    recompilation: Recompilation


class LimitReached(Event, tag="limit-reached"):
    limit: Limit


class CompileFailed(Event, tag="compile-failed"):
    """A compiler failed on a graph, which ran eager instead. The session says which unit that was, in `UnitSeen`."""

    failure: Failure
    compile_id: str | None = None


class PhasesMeasured(Event, tag="phases-measured"):
    """Totals of the run so far; replaces the one before."""

    phases: list[Phase]
    total_s: float


class GapSeen(Event, tag="gap-seen"):
    """The same part and reason again adds to the count."""

    gap: Gap


class OptionIgnored(Event, tag="option-ignored"):
    option: str
    reason: str


class StepsTaken(Event, tag="steps-taken"):
    """The next steps of the series; written at most four times a second."""

    series: StepSeries


class StepsMeasured(Event, tag="steps-measured"):
    """Statistics of the run so far; its series is empty. Replaces the one before."""

    steps: Steps


class ArtefactWritten(Event, tag="artefact-written"):
    name: str
    size_bytes: int


EVENTS: tuple[type[Event], ...] = (
    RunStarted, RunProgress, RunEnded, SourceSeen, UnitSeen, DecisionMade, GraphSeen, BreakSeen, RecompilationSeen,
    LimitReached, CompileFailed, PhasesMeasured, GapSeen, OptionIgnored, StepsTaken, StepsMeasured, ArtefactWritten,
)  # fmt: skip
