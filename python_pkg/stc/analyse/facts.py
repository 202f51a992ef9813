"""Plain questions about a report that both the headline and the rules ask, so that they cannot disagree."""

from __future__ import annotations

from stc.record.types import Break, Limit, Recompilation, Report


def models(report: Report) -> list[str]:
    """Names of the models met."""
    return [u.name for u in report.compile.units if u.kind == "model"]


def compiled_units(report: Report) -> list[str]:
    """Names of the models that were compiled; what was restored at the end had been compiled."""
    return [u.name for u in report.compile.units if u.kind == "model" and u.state in ("compiled", "restored")]


def compiled_anything(report: Report) -> bool:
    """A graph of a model or optimizer was compiled in this run."""
    return bool(report.compile.graphs)


def left_eager(report: Report) -> bool:
    """Eager by choice, not by failure: the plan was eager, or the decision was that compiling would not pay."""
    if compiled_anything(report):
        return False
    decision = report.compile.decision
    if decision is not None:
        return decision.action == "leave-eager"
    return report.run.plan == "eager" and bool(report.compile.units)


def inside_torch(limit: Limit) -> bool:
    """The function given up is torch's own, such as an optimizer's step, not the user's model."""
    path = (limit.location.path if limit.location is not None else None) or ""
    return "/torch/" in path.replace("\\", "/")


def give_up(report: Report) -> Limit | None:
    """The first recompile limit that a model ran into; optimizers go on eager without harm to the model."""
    own = [limit for limit in report.compile.limits if not inside_torch(limit)]
    return min(own, key=lambda limit: limit.step if limit.step is not None else -1) if own else None


def breaks(report: Report) -> list[Break]:
    """Graph breaks that cost the user something."""
    return [b for b in report.compile.breaks if not b.benign]


def recompilations(report: Report) -> list[Recompilation]:
    """Recompilations that cost the user something."""
    return [r for r in report.compile.recompilations if not r.benign]


def source_line(report: Report, file: str, line: int) -> str | None:
    """A line of the recorded source; None where it was not recorded."""
    for source in report.sources:
        if source.file == file:
            lines = source.text.splitlines()
            position = line - source.first_line
            return lines[position] if 0 <= position < len(lines) else None
    return None
