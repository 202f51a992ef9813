"""Recompilations: which guard failed, what it compared, and its value before and after.

torch gives the reason as text; the value after is read from the frame that is being compiled, without running any code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from stc.record.types import Location

from .stacks import innermost
from .torch_compat import dynamo

Kind = Literal["shape", "dtype", "value", "length", "type", "identity", "grad-mode", "training-mode", "global", "other"]

_TENSOR = re.compile(
    r"tensor '(?P<source>.+?)' (?P<what>size|stride|rank|dtype|dispatch key set|requires_grad|Tensor device index|device)"
    r" mismatch(?: at index (?P<index>\d+))?\. expected (?:device index to be )?(?P<before>.+?)(?:,? actual (?P<after>.+?))?\s*$",
    re.IGNORECASE,
)
_COMPARE = re.compile(r"^(?P<source>.+?) (?:==|is(?! not)) (?P<before>.+)$")
_LEN = re.compile(r"^len\((?P<source>.+)\) == (?P<before>\d+)$")
_CHECK = re.compile(r"^___check_(?P<what>type_id|obj_id)\((?P<source>.+?), \d+\)(?:, type=(?P<type>.+))?")
_SIZE = re.compile(r"^(?P<tensor>.+)\.size\(\)\[(?P<index>\d+)\]$")
_SIZES = re.compile(r"(?P<tensor>[\w.\[\]'\"]+)\.size\(\)\[(?P<index>\d+)\]")
_KEY = re.compile(r"^(?P<not>not )?___dict_contains\((?P<key>.+?), (?P<source>.+)\)$")
# "  # the user's code  # file:line in name" and "(HINT: ...)" follow the condition.
_AFTER_CONDITION = re.compile(r"\s+# .*$|\s+\(HINT: .*$", re.DOTALL)
MODES: tuple[Kind, ...] = ("grad-mode", "training-mode")


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

    @property
    def benign(self) -> bool:
        """A loop that both trains and evaluates: each mode gets its own graph, once."""
        return self.kind in MODES


def choose(found: Sequence[Guard], *, mode_known: bool) -> Guard:
    """The guard that explains a recompilation, one having failed for each earlier compile, latest used first.

    Args:
        mode_known: the function was compiled before in this mode (gradients, training). Then it is not the mode that is new.
    """
    if mode_known:
        return next((g for g in found if not g.benign), found[0])
    return next((g for g in found if g.benign), found[0])


def parse(reason: str, local: Mapping[str, Any], world: Mapping[str, Any], *, grad: bool | None = None) -> Guard:
    """One reason, with or without the "0/3:" that says whose guard it was.

    Args:
        local, world: the variables of the frame that is being compiled again.
        grad: whether gradients are recorded now; None where that is not known.
    """
    head, _, stack = reason.partition("User stack trace:")
    head = re.sub(r"^\s*!?[\d/]+: ", "", head).strip()
    place = innermost(stack) if stack else None
    condition = _AFTER_CONDITION.sub("", head).strip() or head
    guard = _tensor(condition) or _state(condition, grad) or _condition(condition, local, world)
    return replace(guard, reason=condition, location=place)


def _tensor(text: str) -> Guard | None:
    match = _TENSOR.match(text)
    if match is None:
        return None
    source, what = plain(match["source"]), match["what"].lower()
    before, after = match["before"].strip(), match["after"].strip() if match["after"] else None
    if what == "size":
        index = int(match["index"])
        return Guard(f"{source}.size()[{index}] == {before}", text, "shape", source, index, before, after)
    if what == "stride":
        index = int(match["index"] or 0)
        return Guard(f"{source}.stride()[{index}] == {before}", text, "shape", source, index, before, after)
    if what == "rank":
        return Guard(f"{source}.dim() == {before}", text, "shape", source, None, before, after)
    if what == "dtype":
        return Guard(f"{source}.dtype == {before}", text, "dtype", source, None, before, after)
    if what == "requires_grad":
        needs = before.rpartition("=")[2].lower() in ("1", "true")
        return Guard(f"{source}.requires_grad == {needs}", text, "other", source, None, str(needs), str(not needs))
    name = "device" if "device" in what else "dispatch_keys"
    return Guard(f"{source}.{name} == {before}", text, "other", source, None, before, after)


def _state(text: str, grad: bool | None) -> Guard | None:
    if "grad_mode" in text or "is_grad_enabled" in text:
        known = grad is not None
        return Guard(
            "torch.is_grad_enabled()", text, "grad-mode", before=str(not grad) if known else None,
            after=str(grad) if known else None,
        )  # fmt: skip
    if text.startswith("GLOBAL_STATE changed"):
        return Guard(text.split(":", 1)[-1].strip() or text, text, "global")
    return None


def _condition(text: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Guard:
    length = _LEN.match(text)
    if length is not None:
        return _length(length["source"], length["before"], text, local, world)
    key = _KEY.match(text)
    if key is not None:
        there, source = key["not"] is None, plain(key["source"])
        words = f"{key['key']} {'in' if there else 'not in'} {source}"
        return Guard(
            words, text, "value", source, None, "present" if there else "absent", "absent" if there else "present"
        )
    if re.match(r"^not [\w.\[\]'\"]+$", text):
        return _length(text[4:].strip(), "0", text, local, world)
    checked = _CHECK.match(text)
    if checked is not None:
        return _checked(checked, text, local, world)
    compared = _COMPARE.match(text)
    if compared is None:
        return _relation(text)
    source, before = compared["source"], compared["before"].strip()
    size = _SIZE.match(source)
    if size is not None and before.isdigit():
        index = int(size["index"])
        return Guard(
            f"{plain(source)} == {before}", text, "shape", plain(size["tensor"]), index, before,
            _size_now(size["tensor"], index, local, world),
        )  # fmt: skip
    if _SIZES.search(source):
        return _relation(text)
    kind: Kind = "training-mode" if source.endswith(".training") else "value"
    return Guard(
        f"{plain(source)} == {before}", text, kind, plain(source), None, before, _now(source, local, world)
    )  # fmt: skip


def _length(source: str, before: str, text: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Guard:
    """Of a list, tuple or dict. An empty one is guarded as "not seen"."""
    held = _value(source, local, world)
    if before == "0" and isinstance(held, (bool, int, float)):  # not a container: a plain truth value
        return Guard(f"not {plain(source)}", text, "value", plain(source), None, "False", repr(held))
    now = str(len(held)) if isinstance(held, (list, tuple, dict, set, frozenset, str)) else None
    return Guard(f"len({plain(source)}) == {before}", text, "length", plain(source), None, before, now)


def _checked(match: re.Match[str], text: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Guard:
    """A guard on an object's type or identity, which torch gives as a number."""
    source, held = match["source"], _value(match["source"], local, world)
    if source.endswith(".training") and isinstance(held, bool):
        return Guard(plain(source), text, "training-mode", plain(source), None, str(not held), str(held))
    kind: Kind = "type" if match["what"] == "type_id" else "identity"
    now = None if held is _MISSING else type(held).__name__
    if kind == "identity" and isinstance(held, (bool, int, float, str, type(None))):
        now = _shown(held)
    named = re.match(r"<class '(?:.*\.)?(?P<name>\w+)'>", match["type"] or "")
    before = named["name"] if named and kind == "type" else None
    if before is not None:
        return Guard(f"type({plain(source)}) is {before}", text, kind, plain(source), None, before, now)
    return Guard(f"{kind} of {plain(source)}", text, kind, plain(source), after=now)


def _relation(text: str) -> Guard:
    """A condition with no single expected value, such as "2 <= x.size()[0]"."""
    sizes = list(_SIZES.finditer(text))
    if not sizes:
        return Guard(plain(text), text, "other")
    return Guard(plain(text), text, "shape", plain(sizes[0]["tensor"]), int(sizes[0]["index"]))


def plain(source: str) -> str:
    """A guard's expression as the user would write it."""
    text = re.sub(r"""\b[LG]\[['"](\w+)['"]\]""", r"\1", source)
    text = re.sub(r"""\._(?:modules|parameters|buffers)\[['"](\w+)['"]\]""", r".\1", text)
    text = re.sub(r"___as_tensor\((.+?)\)\.item\(\)", r"\1", text)
    text = re.sub(r"___get_type_id\((.+?)\)|___from_numpy\((.+?)\)", r"\1\2", text)
    return re.sub(r"""\.__dict__\[['"](\w+)['"]\]""", r".\1", text)


_MISSING = object()


def _now(source: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> str | None:
    held = _value(source, local, world)
    if held is _MISSING:
        return None
    if isinstance(held, (int, float, str, bool, type(None), complex, bytes)):
        return _shown(held)
    return type(held).__name__


def _shown(held: Any) -> str:
    text = repr(held)
    return text if len(text) <= 80 else text[:77] + "..."


def _size_now(tensor: str, index: int, local: Mapping[str, Any], world: Mapping[str, Any]) -> str | None:
    shape = dynamo.sizes(_value(tensor, local, world))
    return str(shape[index]) if index < len(shape) else None


def _value(source: str, local: Mapping[str, Any], world: Mapping[str, Any]) -> Any:
    """The value of a guard's source: names, attributes held in `__dict__`, constant subscripts. Runs no code."""
    try:
        return _walk(ast.parse(source, mode="eval").body, local, world)
    except (SyntaxError, KeyError, IndexError, TypeError, AttributeError, ValueError):
        return _MISSING


def _walk(node: ast.expr, local: Mapping[str, Any], world: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("___") and node.args:
        return _walk(node.args[0], local, world)
    if isinstance(node, ast.Name):
        if node.id == "L":
            return local
        if node.id == "G":
            return world
        return local[node.id] if node.id in local else world[node.id]
    if isinstance(node, ast.Attribute):
        owner = _walk(node.value, local, world)
        held = object.__getattribute__(owner, "__dict__")
        if node.attr == "__dict__":
            return held
        for part in (held, *(held.get(p) or {} for p in ("_modules", "_parameters", "_buffers"))):
            if node.attr in part:
                return part[node.attr]
        raise AttributeError(node.attr)
    if isinstance(node, ast.Subscript):
        owner, index = _walk(node.value, local, world), ast.literal_eval(node.slice)
        if owner is local or owner is world:
            return owner[index]
        if isinstance(owner, dict):
            return dict.get(owner, index, _MISSING)
        if isinstance(owner, list):
            return list.__getitem__(owner, index)
        if isinstance(owner, tuple):
            return tuple.__getitem__(owner, index)
    raise ValueError(ast.dump(node))
