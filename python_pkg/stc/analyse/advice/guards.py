"""What a failed guard is about, in plain words, and the one thing to do so that it stops failing.

Chosen by the guard's kind and by how its value moved: a counter, a growing list and a short last batch need different
things done. Used by both the recompilation and the recompile-limit rule.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise

from stc.record.types import Limit, NextStep, Recompilation, Report

from .code import calls, tree_of


@dataclass(frozen=True)
class Guarded:
    """A guard that failed: ``what`` is the subject of "… changed"."""

    kind: str
    what: str
    step: NextStep


def advise(report: Report, failed: list[Recompilation]) -> Guarded:
    """The cause that one or more recompilations share, oldest first."""
    last = failed[-1]
    source = last.source or "a value"
    if last.kind == "shape":
        return _shape(report, failed)
    if last.kind == "length":
        text = "Keep the list out of the model: return what is to be kept, and append it in the training loop."
        return Guarded("length", f"the length of `{source}`", NextStep(text=text, code=_append_outside(report, last)))
    if last.kind == "dtype":
        text = f"Give `{source}` one type before the model is called."
        return Guarded(
            "dtype",
            f"the type of the numbers in `{source}`",
            NextStep(text=text, code=f"{_name(source)} = {_name(source)}.float()"),
        )
    if last.kind in ("grad-mode", "training-mode"):
        mode = "whether gradients are recorded" if last.kind == "grad-mode" else "whether the model trains or evaluates"
        text = "Nothing, if the loop both trains and evaluates: each mode has its own graph, compiled once."
        return Guarded(last.kind, mode, NextStep(text=text))
    if last.kind in ("identity", "type"):
        text = f"Make `{source}` once, before the loop, and pass the same object each time."
        return Guarded(
            last.kind,
            f"the object `{source}`" if last.kind == "identity" else f"the type of `{source}`",
            NextStep(text=text),
        )
    if last.kind == "global":
        return _setting(last)
    if last.kind == "value":
        return _value(report, last, counts=_counts(failed))
    text = "Keep what the guard reads the same from call to call, or read it outside the model."
    return Guarded("other", f"`{last.guard}`" if last.guard else "a condition", NextStep(text=text))


def from_limit(limit: Limit) -> Recompilation:
    """A limit's guard in the form of a recompilation, for where none of the recompilations was recorded."""
    guard = limit.guard or ""
    kind, source, dimension = "other", None, None
    if match := re.search(r"len\((.+?)\)|not (\S+)$", guard):
        kind, source = "length", match.group(1) or match.group(2)
    elif match := re.search(r"tensor '(\w+)' size mismatch at index (\d+)|(\w+)\.size\(\)\[(\d+)\]", guard):
        kind, source = "shape", match.group(1) or match.group(3)
        dimension = int(match.group(2) or match.group(4))
    elif match := re.match(r"(.+?) == ", guard):
        kind, source = "value", match.group(1)
    return Recompilation(
        id="limit", function=limit.function, guard=guard, reason=guard, kind=kind,  # type: ignore[arg-type]
        source=source, dimension=dimension, location=limit.location,
    )  # fmt: skip


def _shape(report: Report, failed: list[Recompilation]) -> Guarded:
    last = failed[-1]
    name, dimension = _name(last.source or "x"), last.dimension
    what = f"dimension {dimension} of `{last.source}`" if dimension is not None and last.source else "a size"
    before, after = _number(failed[0].before), _number(failed[0].after)
    if dimension == 0 and before is not None and after is not None and after < before and len(failed) == 1:
        # A size that shrinks once, in the first dimension: the last batch of an epoch.
        text = (
            f"drop_last=True leaves out {_rows_lost(report, failed[0], before, after)} of an epoch; to keep them, pad the "
            f"batch to {before}, or mark the dimension dynamic: torch._dynamo.mark_dynamic({name}, 0)."
        )
        return Guarded("shape", what, NextStep(text=text, code=_drop_last(report)))
    text = "Mark the dimension dynamic before the first call, run with --dynamic on, or pad to a few fixed sizes."
    return Guarded("shape", what, NextStep(text=text, code=f"torch._dynamo.mark_dynamic({name}, {dimension or 0})"))


def _rows_lost(report: Report, failed: Recompilation, before: int, after: int) -> str:
    """The rows of the short batch, out of those of an epoch where they can be counted.

    They can where every call was a compiled one from the first on: then the calls before this one all had full batches.
    """
    if report.run.options.get("plan") == "inductor" and failed.call is not None and failed.call > 1:
        return f"{after} of the {(failed.call - 1) * before + after} rows"
    return f"the last {after} row{'s' if after != 1 else ''}"


def _value(report: Report, last: Recompilation, *, counts: bool) -> Guarded:
    source = last.source or "a value"
    attribute = re.fullmatch(r"self\.(\w+)", source)
    what = f"`{source}`"
    if attribute is None:
        text = f"Pass `{source}` as a tensor, or keep it the same from call to call."
        number = _number(last.after) is not None or _is_float(last.after)
        return Guarded(
            "value",
            what,
            NextStep(text=text, code=f"{_name(source)} = torch.tensor({_name(source)})" if number else None),
        )
    name = attribute.group(1)
    if not (counts or _is_float(last.after) or last.after is None):
        text = f"Set `{source}` once, before training, or choose outside the model what depends on it."
        return Guarded("value", what, NextStep(text=text))
    if _is_float(last.after) and not counts:
        code = f'self.register_buffer("{name}", torch.tensor({last.after}))  # in __init__\nself.{name}.fill_(new_value)  # to change it'
        return Guarded(
            "value", what, NextStep(text=f"Make `{source}` a buffer: a tensor's value is not guarded.", code=code)
        )
    code = f'self.register_buffer("{name}", torch.zeros((), dtype=torch.long))  # in __init__'
    compared = _compared_in_python(report, last, name)
    if compared:
        code += f"\n{compared}  # in forward: with a tensor, min and max become clamp"
    text = f"Make the counter `{source}` a buffer, whose value is not guarded, or count outside forward."
    return Guarded("counter", what, NextStep(text=text, code=code))


# The beginning of a setting's name, as torch has it in the guard on its own state.
_SETTINGS = (
    ("autocast", "whether the model runs under autocast"),
    ("num_threads", "the number of threads"),
    ("default_dtype", "the default type of numbers"),
    ("deterministic", "whether only deterministic algorithms are used"),
)


def _setting(last: Recompilation) -> Guarded:
    """A setting of torch's own, which every graph is compiled for."""
    name = last.guard.strip()
    what = next((words for start, words in _SETTINGS if name.startswith(start)), f"torch's own setting `{name}`")
    text = "Nothing, if it was changed once and on purpose: each setting has its own graph. Else set it once, before training."
    return Guarded("global", what, NextStep(text=text))


def _counts(failed: list[Recompilation]) -> bool:
    """Whole numbers that go on in one direction."""
    values = [v for r in failed for v in (_number(r.after),) if v is not None]
    if not values:
        return False
    before = _number(failed[0].before)
    values = [before, *values] if before is not None else values
    return all(b > a for a, b in pairwise(values)) if len(values) > 1 else True


def _compared_in_python(report: Report, last: Recompilation, name: str) -> str | None:
    """The model's min or max of a constant and something with the attribute, written as a clamp."""
    tree = tree_of(report, last.location.file) if last.location is not None else None
    if tree is None:
        return None
    for function, keyword in (("min", "max"), ("max", "min")):
        for call in calls(tree, function):
            if not isinstance(call.func, ast.Name) or len(call.args) != 2:
                continue
            fixed = [a for a in call.args if isinstance(a, ast.Constant)]
            moving = [a for a in call.args if f"self.{name}" in ast.unparse(a)]
            if fixed and moving:
                return f"torch.clamp({ast.unparse(moving[0])}, {keyword}={ast.unparse(fixed[0])})"
    return None


def _append_outside(report: Report, last: Recompilation) -> str | None:
    line = (last.location.text if last.location is not None else None) or ""
    match = re.search(r"([\w.]+)\.append\((.+)\)\s*$", line)
    if match is None:
        return None
    held, value = match.groups()
    value = re.sub(r"[.](item|detach|cpu)[(][)]", "", value)
    # What the model's own names hold is not there in the loop.
    name = value if value.isidentifier() else "value"
    return f"{held.removeprefix('self.')}.append({name}.detach())  # in the training loop, after the call"


def _drop_last(report: Report) -> str | None:
    """The user's own DataLoader call with drop_last=True; the bare option where there is no single one."""
    found = [
        c for s in report.sources for t in (tree_of(report, s.file),) if t is not None for c in calls(t, "DataLoader")
    ]
    found = [c for c in found if not any(k.arg == "drop_last" for k in c.keywords)]
    if len(found) != 1:
        return "DataLoader(..., drop_last=True)"
    call = found[0]
    return f"{ast.unparse(call)[:-1]}, drop_last=True)"


def _name(source: str) -> str:
    """A guard's source as one would write it: L['x'] is x."""
    match = re.fullmatch(r"[LG]\['(\w+)'\]", source)
    return match.group(1) if match else source


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text.strip()) else None


def _is_float(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"-?\d*\.\d+(e-?\d+)?|-?\d+e-?\d+", text.strip()) is not None
