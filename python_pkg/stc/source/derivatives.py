"""Does the code around a model's call ask for gradients of gradients? Compiled code has none, and fails at the second backward.

Read from code objects, without running anything: from the frames of the call, through the functions and methods that the user's
code names, to a call with ``create_graph``.
"""

from __future__ import annotations

import inspect
import linecache
import re
import tokenize
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from stc.record.types import Location

from .frames import variables
from .places import is_user_code, locate

# What asks for them: an argument of torch's, and functions of torch.autograd.functional that do so inside.
_ARGUMENT = "create_graph"
_FUNCTIONS = frozenset({"hessian", "hvp", "vhp"})
_ASKED = re.compile(r"\bcreate_graph\b(?!\W*[=:]\W*(?:False|None|0)\b)|\b(?:hessian|hvp|vhp)\s*\(")
# Methods that are called without being named.
_CALLED_BY_PYTHON = ("forward", "__init__", "__call__", "__iter__", "__next__", "__getitem__", "__enter__", "__exit__")
_MOST_FRAMES = 60
_MOST_CODE = 4000  # functions looked into; a program has more only if it is all reached from one place


def asks_for_second(frame: FrameType | None, classes: Iterable[type] = ()) -> Location | None:
    """Where the code that runs, or that it may call, asks for gradients that can be differentiated; None if nowhere.

    Args:
        frame: where the model is called.
        classes: of the model and its parts, whose own code counts as well.
    """
    search = _Search()
    for around in _frames(frame):
        mine = is_user_code(around.f_code.co_filename)
        search.add(around.f_code, around.f_globals, dict(variables(around)) if mine else {})
    for kind in classes:
        search.add_class(kind)
    return search.run()


class _Search:
    """Code that is reached: functions by their names, methods by theirs once anything names them."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[CodeType, Mapping[str, Any], Mapping[str, Any]]] = deque()
        self._seen: dict[int, CodeType] = {}
        self._names = set(_CALLED_BY_PYTHON)
        self._classes: dict[type, None] = {}
        self._methods: dict[str, list[FunctionType]] = {}  # not named yet

    def run(self) -> Location | None:
        while self._waiting and len(self._seen) < _MOST_CODE:
            code, world, local = self._waiting.popleft()
            if id(code) in self._seen:
                continue
            self._seen[id(code)] = code
            place = _asked_in(code)
            if place is not None:
                return place
            if is_user_code(code.co_filename):
                self._follow(code, world, local)
        return None

    def add(self, code: CodeType, world: Mapping[str, Any], local: Mapping[str, Any]) -> None:
        self._waiting.append((code, world, local))

    def add_class(self, kind: type) -> None:
        for base in kind.__mro__:
            if base in self._classes:
                continue
            self._classes[base] = None
            for name, held in list(vars(base).items()):
                inside = getattr(held, "__func__", getattr(held, "fget", held))  # static and class methods, properties
                if isinstance(inside, FunctionType) and is_user_code(inside.__code__.co_filename):
                    if name in self._names:
                        self._add_function(inside)
                    else:
                        self._methods.setdefault(name, []).append(inside)

    def _follow(self, code: CodeType, world: Mapping[str, Any], local: Mapping[str, Any]) -> None:
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self.add(inner, world, local)
        for name in code.co_names:
            self._names.add(name)
            for method in self._methods.pop(name, ()):
                self._add_function(method)
        for name in (*code.co_names, *code.co_freevars, *code.co_varnames):
            if name in local:
                self._add_value(local[name], code.co_names)
            elif name in world:
                self._add_value(world[name], code.co_names)

    def _add_value(self, value: Any, attributes: Iterable[str]) -> None:
        value = getattr(value, "__func__", value) if isinstance(value, MethodType) else value
        if isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, ModuleType):
            for held in (vars(value).get(name) for name in attributes):
                if isinstance(held, (FunctionType, type)):
                    self._add_value(held, ())
        else:
            self.add_class(value if isinstance(value, type) else type(value))

    def _add_function(self, function: FunctionType) -> None:
        inside = inspect.unwrap(function)
        if isinstance(inside, FunctionType):
            self.add(inside.__code__, inside.__globals__, _closure(inside))


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Outwards, through libraries, to where the user's code was called from."""
    reached = False
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        mine = is_user_code(frame.f_code.co_filename)
        if reached and not mine:
            return
        reached = reached or mine
        yield frame
        frame = frame.f_back


def _asked_in(code: CodeType) -> Location | None:
    """The first line of this function, or of what is defined in it, that asks."""
    whole = code.co_name == "<module>" and is_user_code(code.co_filename)  # a cell runs statement by statement
    if not whole and not _mentions(code):
        return None
    lines = linecache.getlines(code.co_filename)
    first = 0 if whole else code.co_firstlineno - 1
    block = lines if whole else _block(lines[first:])
    for number, line in enumerate(block, first + 1):
        if _ASKED.search(line.partition("#")[0]):
            return locate(code.co_filename, number)
    if whole or any(_ARGUMENT in line for line in block):
        return None  # only where it is turned off
    return locate(code.co_filename, code.co_firstlineno)


def _block(lines: list[str]) -> list[str]:
    """The lines of the function that the first one begins."""
    try:
        return inspect.getblock(lines)
    except (IndentationError, SyntaxError, tokenize.TokenError):
        return lines[:1]


def _mentions(code: CodeType) -> bool:
    if not _FUNCTIONS.isdisjoint(code.co_names):
        return True
    for value in code.co_consts:
        if value == _ARGUMENT or (isinstance(value, tuple) and _ARGUMENT in value):
            return True
        if isinstance(value, CodeType) and _mentions(value):
            return True
    return False


def _closure(function: FunctionType) -> Mapping[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return found
