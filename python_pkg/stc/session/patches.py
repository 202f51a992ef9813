"""Attributes replaced for as long as a run lasts, and put back exactly as they were, in reverse order."""

from __future__ import annotations

from typing import Any

_ABSENT: Any = object()


class Patches:
    """A stack of replaced attributes."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace ``owner.name``; an attribute found only on the class or not at all is deleted again by `undo`."""
        before = vars(owner).get(name, _ABSENT)
        setattr(owner, name, value)
        self._done.append((owner, name, before, value))

    def undo(self) -> None:
        """Put everything back. Where somebody else has replaced ours since, theirs is left alone."""
        while self._done:
            owner, name, before, value = self._done.pop()
            if vars(owner).get(name, _ABSENT) is not value:
                continue
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
