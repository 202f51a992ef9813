"""From a run's record to what it means: findings, worst first, and one headline.

Pure functions over ``stc.record`` types: they need neither torch nor the machine the run was made on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stc.record.types import Report, RunSummary

from .headline import headline
from .rules import findings

if TYPE_CHECKING:
    from stc.record.store import Store

__all__ = ["build", "headline", "judge", "summaries", "summarise"]


def build(store: Store, run_id: str) -> Report:
    """The judged report of a run, also of one that is still going on.

    Raises:
        RunNotFound: the store has no such run.
    """
    return judge(store.folded(run_id))


def judge(report: Report) -> Report:
    """The same report with its findings, worst first, and its headline."""
    judged = msgspec.structs.replace(report, findings=findings(report))
    return msgspec.structs.replace(judged, headline=headline(judged))


def summarise(report: Report) -> RunSummary:
    """The run's line in a list."""
    count = {"error": 0, "warning": 0, "info": 0}
    for finding in report.findings:
        count[finding.severity] += 1
    speedup = report.steps.speedup
    return RunSummary(
        run=report.run,
        headline=report.headline,
        errors=count["error"],
        warnings=count["warning"],
        infos=count["info"],
        speedup=speedup.ratio if speedup is not None else None,
    )


def summaries(store: Store) -> list[RunSummary]:
    """Every run of a store, newest first: as kept when it ended, or made now where it goes on or was lost."""
    return [kept if kept is not None else summarise(build(store, run.id)) for run, kept in store.summaries()]
