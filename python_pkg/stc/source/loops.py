"""How many turns the running loops will take in all, read from live frames.

Walks the call stack from a model call outwards, finds the `for` statements that enclose each frame's current line, and
evaluates their iterables' lengths without calling any of the user's code.
"""

from __future__ import annotations

import ast
import functools
import linecache
import math
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from .frames import variables
from .places import cell_of, is_user_code

# Wrappers that give one turn for each turn of what they wrap.
_TRANSPARENT = {"enumerate", "tqdm", "trange", "tqdm_notebook", "track", "iter", "list", "tuple", "reversed", "sorted"}
_MAX_FRAMES = 60


@dataclass(frozen=True)
class LoopCount:
    """Turns of all enclosing loops multiplied, and the source text they were read from."""

    turns: int
    source: str


class _Unknown(Exception):
    pass


def enclosing_turns(frame: FrameType | None, entered: tuple[FrameType, int] | None = None) -> LoopCount | None:
    """Total turns of the `for` loops around ``frame``'s line and around the calls that led there.

    The walk goes outwards through libraries (a trainer's loop counts) to the user's code and ends where that was called from.
    ``entered`` is the frame and line of a `with` block that the run is; loops around the block are not part of it.
    None where there is no loop, or where a loop's length cannot be known (a `while`, a generator).
    """
    turns, texts, in_user_code = 1, [], False
    for _ in range(_MAX_FRAMES):
        if frame is None:
            break
        filename = frame.f_code.co_filename
        mine = is_user_code(filename)
        if in_user_code and not mine:
            break
        in_user_code = in_user_code or mine
        here = entered is not None and frame is entered[0]
        for loop in reversed(_loops_at(frame.f_code, frame.f_lineno)):
            if here and entered is not None and loop.lineno <= entered[1]:
                continue
            if isinstance(loop, ast.While):
                return None
            try:
                length = _length(loop.iter, variables(frame), frame.f_globals)
            except Exception:
                return None
            turns *= length
            texts.append(f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}")
        if here:
            break
        frame = frame.f_back
    if not texts:
        return None
    return LoopCount(turns, "; ".join(reversed(texts)))


def _loops_at(code: CodeType, line: int) -> tuple[ast.For | ast.While, ...]:
    """Loops of this very function that enclose the line, outermost first."""
    return _loops_in(code.co_filename, code.co_name, code.co_firstlineno, line, _text(code.co_filename))


def _text(filename: str) -> str:
    cell = cell_of(filename)
    return "".join(linecache.getlines(filename)) or (cell.text if cell is not None else "")


@functools.lru_cache(maxsize=256)
def _loops_in(filename: str, name: str, first: int, line: int, text: str) -> tuple[ast.For | ast.While, ...]:
    try:
        tree: ast.AST = ast.parse(text)
    except (SyntaxError, ValueError):
        return ()
    scope = tree if name == "<module>" else _function_at(tree, name, first)
    return tuple(_descend(scope, line)) if scope is not None else ()


def _function_at(tree: ast.AST, name: str, first: int) -> ast.AST | None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if start == first or node.lineno == first:
                return node
    return None


def _descend(scope: ast.AST, line: int) -> list[ast.For | ast.While]:
    found: list[ast.For | ast.While] = []
    node: ast.AST | None = scope
    while node is not None:
        inner = None
        for child in ast.iter_child_nodes(node):
            start, end = getattr(child, "lineno", None), getattr(child, "end_lineno", None)
            if start is None or end is None or not start <= line <= end:
                continue
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                continue
            inner = child
            break
        if isinstance(inner, (ast.For, ast.While)):
            in_body = any(s.lineno <= line <= (s.end_lineno or s.lineno) for s in inner.body)
            if in_body:
                found.append(inner)
        node = inner
    return found


def _length(node: ast.expr, local: Mapping[str, Any], world: Mapping[str, Any]) -> int:
    if isinstance(node, ast.Call):
        name = _called(node)
        if name in ("range", "trange"):
            return len(range(*(_value(a, local, world) for a in node.args)))
        if name == "zip":
            return min(_length(a, local, world) for a in node.args)
        if name in _TRANSPARENT and node.args:
            return _length(node.args[0], local, world)
        if name == "DataLoader":
            return _loader_length(node, local, world)
        raise _Unknown
    value = _value(node, local, world)
    if isinstance(value, Sized):
        return len(value)
    raise _Unknown


def _loader_length(node: ast.Call, local: Mapping[str, Any], world: Mapping[str, Any]) -> int:
    """Batches of a DataLoader written in the loop's head, without making a second one."""
    given = {k.arg: k.value for k in node.keywords if k.arg}
    if not node.args or "sampler" in given or "batch_sampler" in given:
        raise _Unknown
    rows = len(_value(node.args[0], local, world))
    size_node = node.args[1] if len(node.args) > 1 else given.get("batch_size")
    size = 1 if size_node is None else _value(size_node, local, world)
    drop = bool(_value(given["drop_last"], local, world)) if "drop_last" in given else False
    return rows // size if drop else math.ceil(rows / size)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _value(node: ast.expr, local: Mapping[str, Any], world: Mapping[str, Any]) -> Any:
    """The value of a name, attribute chain, constant or whole-number arithmetic; nothing of the user's is called."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in local:
            return local[node.id]
        if node.id in world:
            return world[node.id]
        raise _Unknown
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, local, world)
        held = getattr(owner, "__dict__", {})
        if node.attr in held:  # never a property: reading one may run the user's code
            return held[node.attr]
        raise _Unknown
    if isinstance(node, ast.Call) and _called(node) == "len" and len(node.args) == 1:
        return _length(node.args[0], local, world)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, local, world), _value(node.right, local, world)
        if not isinstance(left, int) or not isinstance(right, int):
            raise _Unknown
        return _ARITHMETIC[type(node.op)](left, right)
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    raise _Unknown


_ARITHMETIC: dict[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}
