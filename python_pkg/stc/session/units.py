"""The models and optimizers a run meets, and how each runs now: eager, compiled, or given up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import msgspec

from stc.record.events import Event, SourceSeen, UnitSeen
from stc.record.types import Failure, Location, Unit
from stc.source.frames import variables
from stc.source.places import is_user_code, locate, source_of


class Units:
    """Keeps one `Unit` record for each model or optimizer and emits it when it changes."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._units: dict[str, Unit] = {}
        self._counts: dict[str, int] = {}
        self._sources: set[str] = set()

    def add(self, kind: str, value: Any, *, frame: FrameType | None, parameters: int | None) -> str:
        """A model or optimizer met for the first time; returns its id."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        identity = f"{kind}-{self._counts[kind]}"
        caller = user_frame(frame)
        if caller is not None:
            self._note_source(caller.f_code.co_filename)
        self._put(
            Unit(
                id=identity,
                kind="model" if kind == "model" else "optimizer",
                name=name_of(value, frame) or type(value).__name__,
                type=type(value).__name__,
                state="found",
                parameters=parameters,
                location=place_of(caller) if caller is not None else None,
            )
        )
        return identity

    def change(self, identity: str, **fields: Any) -> None:
        before = self._units[identity]
        after = msgspec.structs.replace(before, **fields)
        if after != before:
            self._put(after)

    def left(self, identity: str, *, calls: int, kept: bool) -> None:
        """The run ends; ``kept`` says that the unit stays compiled."""
        state = self._units[identity].state
        if state == "compiled" and not kept:
            state = "restored"
        elif state == "found":
            state = "eager"  # met, and never compiled
        self.change(identity, calls=calls, state=state)

    def fail(self, identity: str, error: BaseException) -> None:
        self.change(identity, state="failed", failure=Failure(type=type(error).__name__, message=first_line(error)))

    def get(self, identity: str) -> Unit:
        return self._units[identity]

    def all(self) -> list[Unit]:
        return list(self._units.values())

    def _note_source(self, filename: str) -> None:
        if filename not in self._sources:
            self._sources.add(filename)
            source = source_of(filename)
            if source is not None:
                self._emit(SourceSeen(source=source))

    def _put(self, unit: Unit) -> None:
        self._units[unit.id] = unit
        self._emit(UnitSeen(unit=unit))


def first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The nearest frame, outwards, that is the user's own code."""
    while frame is not None and not is_user_code(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def place_of(frame: FrameType) -> Location:
    name = frame.f_code.co_name
    return locate(frame.f_code.co_filename, frame.f_lineno, function=None if name == "<module>" else name)


def name_of(value: Any, frame: FrameType | None, depth: int = 12) -> str | None:
    """What the user's code calls this object: a variable of a caller, or an attribute of its `self`."""
    while frame is not None and depth:
        if is_user_code(frame.f_code.co_filename):
            local = variables(frame)
            for name, held in local.items():
                if held is value and not name.startswith("_") and name != "self":
                    return name
            owner = local.get("self")
            for name, held in list(getattr(owner, "__dict__", {}).items()):
                if held is value:
                    return f"self.{name}"
        frame = frame.f_back
        depth -= 1
    return None


def caller(level: int = 1) -> FrameType | None:
    return sys._getframe(level + 1)
