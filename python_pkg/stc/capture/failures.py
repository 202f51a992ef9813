"""What a compiler failed with, in one sentence: torch wraps the cause in exceptions and paragraphs of its own."""

from __future__ import annotations

import re

from stc.record.types import Failure, Location

from .stacks import innermost

# Dynamo leaves the frame to Python: a skipped frame, told among the graph breaks.
SOFT = ("Unsupported", "UserError")
# Nothing to compile, or the user's own doing.
NO_FAILURE = ("SkipFrame", "SkipCodeRecursiveException", "KeyboardInterrupt", "SystemExit", "GeneratorExit")

_WRAPPED = re.compile(r"^backend='.*' raised:$")
_CAUSE = re.compile(r"^(?P<type>[A-Z]\w*(?:Error|Exception|Failed|Compiler|Missing)): (?P<message>.+)$")
_ON_FAKE_TENSORS = re.compile(r"\bgot (?P<type>\w+)\((?P<quote>['\"])(?P<message>.+?)(?P=quote)\)")


def described(kind: str, reason: str, place: Location | None) -> Failure:
    """A failure by the exception's type and text. ``place`` is where it is known to have happened."""
    if place is None:
        place = innermost(reason.partition("from user code:")[2])
    fake = _ON_FAKE_TENSORS.search(reason)
    if fake is not None:
        return Failure(type=fake["type"], message=fake["message"], location=place)
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    lines = [line for line in lines if not _WRAPPED.match(line)]
    cause = _CAUSE.match(lines[0]) if lines else None
    if cause is not None:
        return Failure(type=cause["type"], message=cause["message"], location=place)
    return Failure(type=kind, message=lines[0] if lines else kind, location=place)
