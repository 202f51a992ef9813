"""Recompilations: which guard failed, what it compared, and its value before and after.

torch gives the reason as text; the value after is read from the frame that is being compiled, without running any code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stc.record.types import Location

from .stacks import innermost

Kind = Literal["shape", "dtype", "value", "length", "type", "identity", "grad-mode", "training-mode", "global", "other"]

_TENSOR = re.compile(
    r"tensor '(?P<source>.+?)' (?P<what>size|stride|rank|dtype|dispatch key set|requires_grad|device|Tensor Device|Tensor dispatch)"
    r"[^.]*?mismatch(?: at index (?P<index>\d+))?\. expected (?P<before>.+?),? actual (?P<after>.+?)\s*$"
)
_COMPARE = re.compile(r"^(?P<source>.+?) (?:==|is) (?P<before>.+)$")
_LEN = re.compile(r"^len\((?P<source>.+)\) == (?P<before>\d+)$")
_COMMENT = re.compile(r"\s+# (?P<code>.*?)\s+# (?P<file>\S+):(?P<line>\d+) in (?P<name>\S+)")


@dataclass(frozen=True)
class Guard:
    """A failed guard, taken apart."""

    text: str  # "x.size()[0] == 32"
    reason: str  # torch's words
    kind: Kind
    source: str | None = None
    dimension: int | None = None
    before: str | None = None
    after: str | None = None
    location: Location | None = None
    benign: bool = False


def parse(reason: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Guard:
    """One reason, with or without the "0/3:" that says whose guard it was.

    Args:
        local, world: the variables of the frame that is being compiled again.
    """
    head, _, stack = reason.partition("User stack trace:")
    head = re.sub(r"^\s*\d+/\d+: ", "", head).strip()
    place = innermost(stack) if stack else None
    first = head.splitlines()[0] if head else reason
    condition = _COMMENT.split(first)[0].split(" # ")[0].strip()
    guard = _tensor(condition) or _state(condition) or _condition(condition, local, world)
    return Guard(**{**guard.__dict__, "reason": first.strip(), "location": place})


def _tensor(text: str) -> Guard | None:
    match = _TENSOR.match(text)
    if match is None:
        return None
    source, what = plain(match["source"]), match["what"]
    before, after = match["before"].strip(), match["after"].strip()
    if what == "size":
        index = int(match["index"])
        return Guard(f"{source}.size()[{index}] == {before}", text, "shape", source, index, before, after)
    if what == "stride":
        index = int(match["index"] or 0)
        return Guard(f"{source}.stride()[{index}] == {before}", text, "shape", source, index, before, after)
    if what == "rank":
        return Guard(f"{source}.dim() == {before}", text, "shape", source, None, before, after)
    kind: Kind = "dtype" if what == "dtype" else "other"
    return Guard(f"{source}.{what.replace(' ', '_')} == {before}", text, kind, source, None, before, after)


def _state(text: str) -> Guard | None:
    if "grad_mode" in text:
        return Guard("torch.is_grad_enabled()", text, "grad-mode", benign=True)
    if text.startswith("GLOBAL_STATE changed"):
        return Guard(text.split(":", 1)[-1].strip() or text, text, "global")
    return None


def _condition(text: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Guard:
    length = _LEN.match(text)
    if length is not None:
        source = length["source"]
        return Guard(
            f"len({plain(source)}) == {length['before']}", text, "length", plain(source), None, length["before"],
            _length_now(source, local, world),
        )  # fmt: skip
    if text.startswith("not "):
        source = text[4:].strip()
        return Guard(
            f"len({plain(source)}) == 0", text, "length", plain(source), None, "0", _length_now(source, local, world)
        )
    called = re.match(r"^___check_(?P<what>type_id|obj_id)\((?P<source>.+?), \d+\)(?:, type=(?P<type>.+))?", text)
    if called is not None:
        source = called["source"]
        if source.endswith(".training"):
            return Guard(
                plain(source), text, "training-mode", plain(source), benign=True, after=_now(source, local, world)
            )
        kind: Kind = "type" if called["what"] == "type_id" else "identity"
        return Guard(f"{kind} of {plain(source)}", text, kind, plain(source), after=_now(source, local, world))
    compared = _COMPARE.match(text)
    if compared is None:
        return Guard(plain(text), text, "other")
    source, before = compared["source"], compared["before"].strip()
    size = re.match(r"^(?P<tensor>.+)\.size\(\)\[(?P<index>\d+)\]$", source)
    if size is not None:
        index = int(size["index"])
        held = _value(size["tensor"], local, world)
        after = str(held.shape[index]) if hasattr(held, "shape") and index < len(held.shape) else None
        return Guard(f"{plain(source)} == {before}", text, "shape", plain(size["tensor"]), index, before, after)
    training = source.endswith(".training")
    return Guard(
        f"{plain(source)} == {before}", text, "training-mode" if training else "value", plain(source), None, before,
        _now(source, local, world), benign=training,
    )  # fmt: skip


def plain(source: str) -> str:
    """A guard's expression as the user would write it."""
    text = re.sub(r"""\b[LG]\[['"](\w+)['"]\]""", r"\1", source)
    text = re.sub(r"""\._(?:modules|parameters|buffers)\[['"](\w+)['"]\]""", r".\1", text)
    text = re.sub(r"___as_tensor\((.+?)\)\.item\(\)", r"\1", text)
    return re.sub(r"""\.__dict__\[['"](\w+)['"]\]""", r".\1", text)


_MISSING = object()


def _now(source: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> str | None:
    held = _value(source, local, world)
    if held is _MISSING or not isinstance(held, (int, float, str, bool, type(None), complex, bytes)):
        return None if held is _MISSING else type(held).__name__
    text = repr(held)
    return text if len(text) <= 80 else text[:77] + "..."


def _length_now(source: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> str | None:
    held = _value(source, local, world)
    return str(len(held)) if isinstance(held, (list, tuple, dict, set, str)) else None


def _value(source: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Any:
    """The value of a guard's source: names, attributes held in `__dict__`, constant subscripts. Runs no code."""
    try:
        return _walk(ast.parse(source, mode="eval").body, local, world)
    except (SyntaxError, KeyError, IndexError, TypeError, AttributeError, ValueError):
        return _MISSING


def _walk(node: ast.expr, local: Mapping[str, Any], world: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        if node.id == "L":
            return local
        if node.id == "G":
            return world
        return local[node.id] if node.id in local else world[node.id]
    if isinstance(node, ast.Attribute):
        owner = _walk(node.value, local, world)
        held = object.__getattribute__(owner, "__dict__")
        for part in (held, *(held.get(p) or {} for p in ("_modules", "_parameters", "_buffers"))):
            if node.attr in part:
                return part[node.attr]
        raise AttributeError(node.attr)
    if isinstance(node, ast.Subscript):
        owner, index = _walk(node.value, local, world), ast.literal_eval(node.slice)
        if type(owner) in (dict, list, tuple) or owner is local or owner is world or isinstance(owner, dict):
            return owner[index]
    raise ValueError(ast.dump(node))
