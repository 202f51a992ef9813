"""Recompilations of a run, and the moment at which Dynamo gives a function up.

torch says that guards failed before it decides whether to compile once more, and before that can fail: only at the end of it
is it a recompilation, the limit, or a failure told elsewhere.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from stc.record.events import Event, LimitReached, RecompilationSeen
from stc.record.types import Limit, Location, Recompilation
from stc.source.places import locate

from . import guards
from .bus import TraceEvent, as_json
from .stacks import RESUMED, function_of, is_optimizers, is_users
from .torch_compat import dynamo

_LIMIT_FAILURE = re.compile(r"(?P<setting>accumulated_recompile_limit|recompile_limit|cache_size_limit)")
_READ = ("value", "length", "type", "identity")  # kinds of guard that a line of the function brought about
_LIMIT_NUMBER = re.compile(r"currently set to (?P<number>\d+)")


class Recompilations:
    """Collects them.

    Args:
        emit: receives `RecompilationSeen` and `LimitReached`.
        step: number of the step that is going on, or None.
        call: number of the compiled function's call that is going on, from 1, or None.
    """

    def __init__(
        self, emit: Callable[[Event], None], step: Callable[[], int | None], call: Callable[[], int | None]
    ) -> None:
        self._emit = emit
        self._step = step
        self._call = call
        self._count = 0
        self._waiting: dict[str, Recompilation] = {}  # by compile id: guards failed, not compiled yet
        self._modes: dict[Any, set[tuple[bool, Any]]] = {}  # by code object: modes it was compiled in

    def guards_failed(self, event: TraceEvent) -> None:
        """A function is called in a way that none of its compiled versions takes."""
        said = as_json(event.payload)
        reasons = said if isinstance(said, list) else [said if isinstance(said, str) else str(event.payload)]
        # A version made for an object that is gone is no failed guard.
        reasons = [r for r in map(str, reasons) if "Cache line invalidated" not in r]
        if not reasons or event.compile_id is None:
            return
        being = dynamo.frame_being_compiled()
        code, local, world = being if being is not None else (None, {}, {})
        mode = _mode(code, local)
        known = mode in self._modes.get(code, ())
        guard = guards.choose([guards.parse(r, local, world, grad=mode[0]) for r in reasons], mode_known=known)
        name, place, optimizer = event.compile_id, guard.location, False
        if code is not None:
            name, optimizer = function_name(code, local), is_optimizers(code.co_filename)
            if optimizer:
                place = locate(code.co_filename, code.co_firstlineno, function=function_of(code.co_name))
            elif place is None and is_users(code.co_filename):
                place = first_read(code, guard.source if guard.kind in _READ else None)
        self._waiting[event.compile_id] = Recompilation(
            id="", function=name, guard=guard.text, reason=guard.reason, kind=guard.kind, source=guard.source,
            dimension=guard.dimension, before=guard.before, after=guard.after, location=place,
            compile_id=event.compile_id, step=self._step(), call=self._call(), at=time.time(),
            benign=guard.benign or optimizer,
        )  # fmt: skip

    def compile_started(self) -> None:
        """Dynamo compiles after all."""
        being = dynamo.frame_being_compiled()
        if being is not None:
            self._modes.setdefault(being[0], set()).add(_mode(being[0], being[1]))

    def compile_ended(self, compile_id: str) -> None:
        """It is done; where it was one more version of a function, that was a recompilation."""
        found = self._waiting.pop(compile_id, None)
        if found is not None:
            self._count += 1
            self._emit(RecompilationSeen(recompilation=replace(found, id=f"recompilation-{self._count}")))

    def compile_failed(self, compile_id: str, kind: str, reason: str) -> bool:
        """It came to nothing, so nothing was recompiled. True where that is because of the recompile limit."""
        found = self._waiting.pop(compile_id, None)
        setting = _LIMIT_FAILURE.search(reason)
        if setting is None or not (kind == "RecompileLimitExceeded" or "limit exceeded" in reason.splitlines()[0]):
            return False
        number = _LIMIT_NUMBER.search(reason)
        limit = int(number["number"]) if number else dynamo.recompile_limit(setting["setting"])
        being = dynamo.frame_being_compiled()
        place, name = None, compile_id
        if found is not None:
            place, name = found.location, found.function
        elif being is not None:
            name = function_name(being[0], being[1])
        if place is None and being is not None:  # torch's own code too: whose limit it is shows there
            place = locate(being[0].co_filename, being[0].co_firstlineno, function=function_of(being[0].co_name))
        self._emit(
            LimitReached(
                limit=Limit(
                    function=name, limit=limit, guard=None if found is None else found.guard, location=place,
                    step=self._step(), call=self._call(),
                )
            )
        )  # fmt: skip
        return True


def function_name(code: Any, local: Any) -> str:
    """ "Net.forward" for a method. The rest of a function after a graph break keeps the name that Dynamo gave it."""
    name = str(code.co_name)
    if RESUMED.match(name):
        return name
    wrapped = dynamo.inlined_module(code, local)
    if wrapped is not None:
        return f"{type(wrapped).__name__}.forward"
    owner = local.get("self") if code.co_varnames[:1] == ("self",) else None
    if owner is not None and not is_users(code.co_filename):
        return f"{type(owner).__name__}.{name}"  # AdamW has its step from Adam, but the user made an AdamW
    qualified = getattr(code, "co_qualname", None)
    if qualified is not None:
        return str(qualified).rpartition("<locals>.")[2]
    return name if owner is None else f"{type(owner).__name__}.{name}"


def first_read(code: Any, source: str | None) -> Location:
    """The line on which a function first reads a guarded value, as torch before 2.11 does not say; else its first line."""
    function = function_of(code.co_name)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if source is not None and lines:
        with suppress(SyntaxError, ValueError):
            tree = ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
            found = [n for n in ast.walk(tree) if isinstance(n, (ast.Name, ast.Attribute)) and ast.unparse(n) == source]
            if found:
                line = min(n.lineno for n in found)
                return locate(code.co_filename, code.co_firstlineno + line - 1, function=function)
    return locate(code.co_filename, code.co_firstlineno, function=function)


def _mode(code: Any, local: Any) -> tuple[bool, Any]:
    """Whether gradients are recorded, and whether the frame's module trains or evaluates."""
    held = None if code is None else dynamo.owner(code, local)
    return dynamo.records_gradients(), getattr(held, "__dict__", {}).get("training")
