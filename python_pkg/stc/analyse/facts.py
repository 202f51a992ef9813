"""Plain questions about a report that both the headline and the rules ask, so that they cannot disagree."""

from __future__ import annotations

import re

from stc.record.types import Break, Limit, Location, Recompilation, Report, Unit


def compiled_units(report: Report) -> list[str]:
    """Names of the models that were compiled; what was restored at the end had been compiled."""
    return [u.name for u in report.compile.units if u.kind == "model" and u.state in ("compiled", "restored")]


def compiled_anything(report: Report) -> bool:
    """A graph was compiled, or loaded from a cache, in this run."""
    return bool(report.compile.graphs)


WATCHED = "It was compiled already; STC only watches."


def kept_eager(unit: Unit) -> bool:
    """It was to be compiled, and what is done with it forbids that."""
    return unit.state == "eager" and unit.reason is not None and unit.reason != WATCHED


def left_eager(report: Report) -> bool:
    """Eager by choice, not by failure: the plan was eager, or the decision was that compiling would not pay."""
    if compiled_anything(report):
        return False
    decision = report.compile.decision
    if decision is not None:
        return decision.action == "leave-eager"
    return report.run.plan == "eager" and bool(report.compile.units)


def ended_early(report: Report) -> bool:
    """The default plan was still measuring its baseline when the run ended: no plan was ordered, none was chosen."""
    return report.run.options.get("plan") is None and report.compile.decision is None and not compiled_units(report)


def nothing_begun(report: Report) -> bool:
    """The run did not reach its end, and by then no step had ended and nothing was compiled: its end explains that."""
    over = report.run.status not in ("running", "completed")
    failed = any(unit.state == "failed" for unit in report.compile.units)
    return over and report.steps.total == 0 and not compiled_anything(report) and not failed


def inside_torch(location: Location | None) -> bool:
    """A place in torch's own code, such as an optimizer's step, not in the user's model."""
    path = (location.path if location is not None else None) or ""
    return "/torch/" in path.replace("\\", "/")


def give_up(report: Report) -> Limit | None:
    """The first recompile limit that a model ran into; an optimizer's does no harm to the model."""
    own = [limit for limit in report.compile.limits if not inside_torch(limit.location)]
    return min(own, key=lambda limit: limit.step if limit.step is not None else -1) if own else None


def breaks(report: Report) -> list[Break]:
    """Graph breaks that cost the user something."""
    return [b for b in report.compile.breaks if not b.benign]


def recompilations(report: Report) -> list[Recompilation]:
    """Recompilations that cost the user something."""
    return [r for r in report.compile.recompilations if not r.benign]


def cause_key(found: Recompilation) -> tuple[str, str]:
    """What two recompilations share if one change mends both: the kind and the value, whichever function reads it.

    A size goes through a whole model under many names, so sizes are told apart by their change, not by their name.
    """
    if found.kind == "shape":
        return (
            "shape",
            f"{found.dimension}:{found.before}:{found.after}"
            if found.before and found.after
            else f"{found.source}:{found.dimension}",
        )
    if found.kind in ("grad-mode", "training-mode"):
        return found.kind, ""
    return found.kind, found.source or re.sub(r"\d+", "#", found.guard)


def limit_keys(report: Report) -> set[tuple[str, str]]:
    """Causes that ran into a recompile limit."""
    from .advice.guards import from_limit

    return {cause_key(from_limit(limit)) for limit in report.compile.limits}


def rest_of(function: str) -> tuple[str, int] | None:
    """The function and line after which this is the rest, compiled by itself after a graph break; None if it is none."""
    match = re.fullmatch(r"(?P<name>.+) \(from line (?P<line>\d+)\)", function) or re.fullmatch(
        r"torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)", function
    )
    return (match["name"], int(match["line"])) if match is not None else None


def function_name(function: str) -> str:
    """A function in a sentence; the rest of one after a graph break has a name of Dynamo's, said in plain words."""
    rest = rest_of(function)
    return f"The rest of `{rest[0]}` after line {rest[1]}" if rest is not None else f"`{function}`"


def caused_by_break(found: Recompilation, stopped: list[Break]) -> bool:
    """The rest of a function after a graph break was recompiled because of a value that the break handed over."""
    rest = rest_of(found.function)
    if rest is None or not re.search(r"___stack\d+", f"{found.source} {found.guard}"):
        return False
    return any(b.location is not None and b.location.line == rest[1] for b in stopped)
