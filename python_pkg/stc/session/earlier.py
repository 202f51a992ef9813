"""What earlier runs of this process have compiled and torch still holds in memory.

A model that runs on compiled code from an earlier run compiles nothing, so that torch says nothing: its graphs and breaks are told
again from here. Which of them it runs on, torch's cache knows: it has what was used last in front.
"""

from __future__ import annotations

import inspect
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Protocol

from msgspec.structs import replace

from stc.record.events import BreakSeen, Event, GraphSeen
from stc.record.types import CacheUse, Location
from stc.source.places import as_now

Key = tuple[
    int, str
]  # id of a code object, for as long as it lives; architecture, since stock modules share their code

_REASON = "It was compiled by an earlier run of this process, and is in memory."


class Unit(Protocol):
    """A model or an optimizer."""

    code: CodeType | None
    architecture: str


@dataclass(frozen=True)
class _Kept:
    event: GraphSeen | BreakSeen
    compiled: dict[str, weakref.ref[CodeType]]  # compile id: the code object that it compiled
    roots: frozenset[str]  # compile ids of the model's or optimizer's own function that led to it


_kept: dict[Key, dict[str, _Kept]] = {}  # by what an event tells of
_texts: dict[str, str] = {}  # generated code by the name of its artefact


def _forget(key: Key) -> None:
    """The function is gone, and with it what torch had compiled for it."""
    for kept in _kept.pop(key, {}).values():
        if isinstance(kept.event, GraphSeen) and kept.event.graph.code is not None:
            _texts.pop(kept.event.graph.code, None)


class Earlier:
    """What one run hears, and what it is to be told again.

    Args:
        emit: takes events that are told again; they come back to `heard`.
        artefact: takes their generated code.
        step: number of the step that is going on, or None.
        compiled: the code object that was compiled under a compile id of this run.
        in_use: compile id of what torch's cache has in front for a code object.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        artefact: Callable[[str, str], None],
        step: Callable[[], int | None],
        compiled: Callable[[str], CodeType | None],
        in_use: Callable[[CodeType], str | None],
    ) -> None:
        self._emit = emit
        self._artefact = artefact
        self._step = step
        self._compiled = compiled
        self._in_use = in_use
        self._ran: dict[Key, CodeType] = {}
        self._heard: set[tuple[Key, str]] = set()
        self._by_compile: dict[str, Key] = {}  # compile id: what it was for
        self._roots: dict[str, str] = {}  # compile id: that of the function by which it was reached

    def heard(self, event: Event, unit: Unit | None) -> None:
        """Keep an event. ``unit`` runs now; a backward pass belongs to what was compiled under its id before."""
        if isinstance(event, GraphSeen):
            name, compiles = f"graph {event.graph.id}", [event.graph.compile_id or ""]
        elif isinstance(event, BreakSeen):
            name, compiles = f"break {event.graph_break.id}", event.graph_break.compile_ids
        else:
            return
        key = next((self._by_compile[c] for c in compiles if c in self._by_compile), None) or _key(unit)
        if key is None:
            return
        self._by_compile.update(dict.fromkeys(compiles, key))
        self._heard.add((key, name))
        if key not in _kept:
            if unit is None or _key(unit) != key:
                return
            _kept[key] = {}
            weakref.finalize(unit.code, _forget, key).atexit = False
        codes = {c: weakref.ref(code) for c in compiles if (code := self._compiled(c)) is not None}
        before = _kept[key].get(name)
        _kept[key][name] = _Kept(
            event,
            codes or (before.compiled if before is not None else {}),
            self._roots_of(compiles, unit) | (before.roots if before is not None else frozenset()),
        )

    def _roots_of(self, compiles: list[str], unit: Unit | None) -> frozenset[str]:
        code = None if unit is None else unit.code
        for compile_id in compiles:
            if compile_id not in self._roots and code is not None:
                root = compile_id if self._compiled(compile_id) is code else self._in_use(code)
                if root is not None:
                    self._roots[compile_id] = root
        return frozenset(self._roots[c] for c in compiles if c in self._roots)

    def text(self, name: str, text: str) -> None:
        """Keep generated code."""
        _texts[name] = text

    def ran(self, unit: Unit) -> None:
        """It has run compiled for the first time in this run."""
        key = _key(unit)
        if key is not None and unit.code is not None and key not in self._ran:
            self._ran[key] = unit.code
            self._tell(key)

    def end(self) -> None:
        """The run ends: what came into use after the first time is told, too."""
        for key in self._ran:
            self._tell(key)

    def _tell(self, key: Key) -> None:
        step = self._step()
        root = self._in_use(self._ran[key])
        for name, kept in list(_kept.get(key, {}).items()):
            if (key, name) in self._heard or not self._is_used(kept, root):
                continue
            if isinstance(kept.event, BreakSeen):
                steps = [] if step is None else [step]
                self._emit(BreakSeen(graph_break=_as_now(replace(kept.event.graph_break, steps=steps, count=1))))
                continue
            use = CacheUse(outcome="hit", cache="memory", reason=_REASON)
            graph = replace(kept.event.graph, cache=use, compile_s=0.0, step=step, at=time.time())
            if graph.code in _texts:
                self._artefact(graph.code, _texts[graph.code])
            self._by_compile[graph.compile_id or ""] = key
            self._emit(GraphSeen(graph=_as_now(graph)))

    def _is_used(self, kept: _Kept, root: str | None) -> bool:
        # What was reached by way of code that has been compiled anew may be in memory still, and yet nothing calls it.
        if kept.roots and root not in kept.roots:
            return False
        found = ((compile_id, reference()) for compile_id, reference in kept.compiled.items())
        return any(code is not None and self._in_use(code) == compile_id for compile_id, code in found)


def _key(unit: Unit | None) -> Key | None:
    return None if unit is None or unit.code is None else (id(unit.code), unit.architecture)


def _as_now(value: Any) -> Any:
    """The same record, whose places bear the numbers that their cells have now."""
    if isinstance(value, Location):
        return as_now(value)
    if isinstance(value, list):
        return [_as_now(item) for item in value]
    fields = {f: getattr(value, f) for f in getattr(value, "__struct_fields__", ())}
    changed = {name: now for name, old in fields.items() if (now := _as_now(old)) is not old and now != old}
    return replace(value, **changed) if changed else value


def code_of(function: Any) -> CodeType | None:
    """The code object of a method, whatever is wrapped around it."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None
