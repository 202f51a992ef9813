"""One sentence that says how a run went: the same words in cell output, panel, terminal and page.

It claims a speed-up only where the interval of the measured ratio excludes 1, and it never hides that a run did not finish,
that compiled code was given up, or that nothing was compiled at all.
"""

from __future__ import annotations

from stc.record.types import Limit, Location, Report, Steps
from stc.render import numbers as n

from .facts import compiled_anything, compiled_units, ended_early, give_up, left_eager, nothing_begun
from .stats import cannot_tell


def headline(report: Report) -> str:
    """The sentence for a report whose findings need not have been made yet."""
    run = report.run
    if run.status == "running":
        return _running(report)
    if run.status == "completed":
        return _outcome(report)
    if nothing_begun(report):
        return _end(report)
    return f"{_end(report)} {_outcome(report)}"


def place(location: Location | None) -> str:
    """A place within a sentence: "In[1], line 9"; empty where it is not known."""
    return f"{location.file}, line {location.line}" if location is not None else ""


def _running(report: Report) -> str:
    run, steps = report.run, report.steps
    if run.progress is not None:
        return run.progress.message.rstrip(".") + "."
    if steps.total == 0:
        return "Running: no step has ended yet."
    limit = give_up(report)
    if limit is not None:
        return f"Running, step {n.count(steps.total + 1)}. {_not_compiled_since(limit)}"
    if steps.speedup is not None and steps.eager is not None and steps.compiled is not None:
        return f"Running, step {n.count(steps.total + 1)}: {_comparison(steps)}."
    now = steps.compiled or steps.eager
    mode = "compiled" if steps.compiled is not None else "eager"
    speed = f", {n.seconds(now.median_s)} a step ({mode})" if now is not None else ""
    return f"Running, step {n.count(steps.total + 1)}{speed}."


def _end(report: Report) -> str:
    """How a run ended that did not complete."""
    run, total = report.run, report.steps.total
    after = f" after {n.counted(total, 'step')}" if total else " before its first step ended"
    if run.status == "interrupted":
        return f"Interrupted{after}."
    if run.status == "lost":
        return f"Lost: the process ended without finishing the run,{after}."
    failure = run.failure
    if failure is None:
        return f"Failed{after}."
    where = f" at {place(failure.location)}" if failure.location is not None else ""
    return f"Failed{after}: {failure.type}{where}."


def _outcome(report: Report) -> str:
    limit = give_up(report)
    if limit is not None:
        return _not_compiled_since(limit)
    if left_eager(report):
        return _left_eager(report)
    if not compiled_anything(report):
        return _nothing(report)
    failed = [u.name for u in report.compile.units if u.state == "failed" and u.kind == "model"]
    if failed:
        return f"The compiler failed on {_named(failed)}, which ran eager from then on. {_cost(report)}".rstrip()
    return _compiled(report)


def _not_compiled_since(limit: Limit) -> str:
    since = "any more" if limit.step is None else f"since step {n.count(limit.step + 1)}"
    if limit.guard is None:
        reason = f"`{limit.function}` was compiled {n.counted(limit.limit, 'time')}"
    else:
        reason = f"`{limit.guard}` changes from call to call"
    where = f" ({place(limit.location)})" if limit.location is not None else ""
    return f"Not compiled {since}: {reason}{where}."


def _left_eager(report: Report) -> str:
    decision, eager = report.compile.decision, report.steps.eager
    if decision is None or decision.compile_s is None:
        speed = f": {n.seconds(eager.median_s)} a step" if eager is not None else ""
        why = ", as asked" if report.run.plan == "eager" and decision is None else ""
        return f"Left eager{why}{speed}."
    text = f"Left eager: compiling would take about {n.about(decision.compile_s)}"
    if decision.remaining_steps is not None and decision.eager_step_s is not None:
        text += f" and this loop had {n.about(decision.remaining_steps * decision.eager_step_s)} to go"
    if decision.break_even_step is None:
        return text + "; it would never pay."
    return text + f"; it could pay after {n.digits(decision.break_even_step, 2)} steps at the earliest."


def _nothing(report: Report) -> str:
    units = report.compile.units
    failed = [u for u in units if u.state == "failed"]
    if failed:
        return f"Nothing was compiled: the compiler failed on {_named([u.name for u in failed])}, which ran eager."
    models = [u for u in units if u.kind == "model"]
    if models and ended_early(report):
        steps = report.steps.total
        when = f"the run ended after {n.counted(steps, 'step')}" if steps else "no training step ended"
        return f"Left eager: {when}, before there was a baseline to decide on."
    if models:
        return f"Nothing was compiled: no graph was built for {_named([u.name for u in models])}."
    return "Nothing was compiled: no model was called."


def _compiled(report: Report) -> str:
    steps = report.steps
    cost = _cost(report)
    if steps.compiled is None:
        if steps.total == 0:
            kernels = sum(len(g.kernels) for g in report.compile.graphs)
            built = f"{n.counted(len(report.compile.graphs), 'graph')}, {n.counted(kernels, 'kernel')}"
            return (
                f"Compiled {_named(compiled_units(report)) or 'a model'}: {built}. {cost}No training step was measured."
            )
        return f"Compiled, but no step ran without compiling, so no speed-up is claimed. {cost}".rstrip()
    if steps.speedup is None or steps.eager is None:
        return f"Compiled: {n.seconds(steps.compiled.median_s)} a step. No speed-up is claimed: {_lower(steps.speedup_reason)} {cost}".rstrip()
    text = _comparison(steps)
    return f"{text[0].upper()}{text[1:]}. {_cost(report, _paid(report))}".rstrip()


def _comparison(steps: Steps) -> str:
    """Eager against compiled; a difference is claimed only where the interval excludes 1."""
    if steps.speedup is None or steps.eager is None or steps.compiled is None:
        return "not compared"
    s = steps.speedup
    times = f"{n.change(steps.eager.median_s, steps.compiled.median_s)} a step"
    if s.low > 1.0:
        return f"trains {n.ratio(s.ratio)} faster: {times} ({n.spread(s)})"
    if s.high < 1.0:
        slower = type(s)(ratio=1 / s.ratio, low=1 / s.high, high=1 / s.low)
        return f"compiled, but {n.ratio(slower.ratio)} slower: {times} ({n.spread(slower)})"
    if cannot_tell(s):
        ratio = f"ratio {n.digits(s.low)} to {n.ratio(s.high)}"
        return f"compiled, but the steps vary too much to tell a difference: {times} ({ratio})"
    return f"compiled, with no measurable difference: {times} (ratio {n.digits(s.low)} to {n.ratio(s.high)})"


def _cost(report: Report, paid: str = "") -> str:
    total = report.compile.total_s
    if not total:
        return ""
    return f"Compiling took {n.about(total) if total < 100 else n.seconds(total)}{paid}. "


def _paid(report: Report) -> str:
    steps, even, speedup = report.steps, report.steps.break_even, report.steps.speedup
    if even is None or even.step is None or speedup is None or speedup.low <= 1.0:
        return ""
    if even.reached:
        return f" and paid for itself after {n.count(even.step)} of {n.counted(steps.total, 'step')}"
    return f" and would pay for itself after about {n.digits(even.step, 2)} steps; this run had {n.count(steps.total)}"


def _named(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in dict.fromkeys(names)]
    if len(quoted) <= 1:
        return "".join(quoted)
    if len(quoted) > 3:
        return f"{quoted[0]}, {quoted[1]} and {len(quoted) - 2} others"
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _lower(sentence: str | None) -> str:
    if not sentence:
        return "there is no baseline."
    text = sentence.rstrip(".") + "."
    return text if text.startswith(("GPU", "CPU", "`")) else text[0].lower() + text[1:]
