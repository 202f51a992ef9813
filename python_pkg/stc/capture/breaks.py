"""Graph breaks and skipped frames, out of torch's own words: the cause, the user's line, the hints.

The same cause at the same line is one break. Its count is the number of calls of the compiled function in which it stopped a
compile: Dynamo reports a break when it compiles, not when compiled code passes it again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable

from msgspec.structs import replace

from stc.record.events import BreakSeen, Event
from stc.record.types import Break, Location
from stc.source.places import is_user_code

from .stacks import user_frames

_WHERE = re.compile(r"^Graph break in user code at (?P<file>.+):(?P<line>\d+)", re.MULTILINE)
_HINT = re.compile(r"^\s*Hint: (?P<text>.+)$", re.MULTILINE)
_CONTEXT = re.compile(r"^\s*Developer debug context: (?P<text>.+)$", re.MULTILINE)
_EXPLANATION = re.compile(r"^\s*Explanation: (?P<text>.+)$", re.MULTILINE)
_PREAMBLES = ("Encountered graph break", "Failed to handle graph break gracefully", "Graph break encountered")
MOST_STEPS = 1000


class Breaks:
    """Collects the breaks of a run.

    Args:
        emit: receives `BreakSeen`, again whenever a count has grown.
        step: number of the step that is going on, or None.
        call: something that differs from call to call of the compiled functions.
    """

    def __init__(
        self, emit: Callable[[Event], None], step: Callable[[], int | None], call: Callable[[], Hashable]
    ) -> None:
        self._emit = emit
        self._step = step
        self._call = call
        self._breaks: dict[str, Break] = {}
        self._last_call: dict[str, Hashable] = {}

    def add(self, text: str, compile_id: str | None, *, within: str | None, optimizer: bool) -> Break:
        """A break in torch's words, as its trace event gives them; ``within`` is the function that is being compiled."""
        found = parse(text, optimizer=optimizer)
        # The rest of a line that broke the graph often cannot be compiled either: that is the same break.
        if found.location is not None and within is not None and within.endswith(f"(from line {found.location.line})"):
            for earlier in self._breaks.values():
                if earlier.location is not None and _line(earlier.location) == _line(found.location):
                    return earlier
        step, call = self._step(), self._call()
        before = self._breaks.get(found.id)
        if before is None:
            known = replace(found, steps=[] if step is None else [step], compile_ids=[compile_id] if compile_id else [])
        else:
            ids = before.compile_ids
            if compile_id and compile_id not in ids and len(ids) < MOST_STEPS:
                ids = [*ids, compile_id]
            steps = before.steps
            if step is not None and step not in steps[-1:] and len(steps) < MOST_STEPS:
                steps = [*steps, step]
            # Dynamo meets the same line again when it compiles the rest of the frame: that is still the same break.
            again = self._last_call.get(found.id) != call
            known = replace(before, steps=steps, compile_ids=ids, count=before.count + again)
        self._breaks[found.id] = known
        self._last_call[found.id] = call
        self._emit(BreakSeen(graph_break=known))
        return known


def parse(text: str, *, optimizer: bool) -> Break:
    """One break from torch's description of it."""
    skipped = "Skipping the function and falling back to eager" in text or "frame skipped" in text
    reason_text = text.partition("Graph Break Reason:")[2] or text
    first_reason = reason_text.partition("*** While handling this graph break")[0]
    reason = _reason(first_reason)
    trace = text.partition("User code traceback:")[2]
    stack = user_frames(trace)
    where = _WHERE.search(text)
    inner = stack[-1].location() if stack else None
    if inner is None and where is not None and is_user_code(where["file"]):
        from .stacks import Frame

        inner = Frame(where["file"], int(where["line"])).location()
    context = _CONTEXT.search(first_reason)
    explanation = _EXPLANATION.search(first_reason)
    key = f"{reason}|{inner.file if inner else where['file'] if where else ''}|{inner.line if inner else 0}"
    return Break(
        id="break-" + hashlib.sha256(key.encode()).hexdigest()[:10],
        reason=reason,
        kind="frame-skipped" if skipped else "graph-break",
        location=inner,
        stack=[frame.location() for frame in stack],
        hints=[h["text"].strip() for h in _HINT.finditer(first_reason)],
        detail=" ".join(p["text"].strip() for p in (explanation, context) if p is not None) or None,
        benign=inner is None or optimizer,
    )


def _line(place: Location) -> tuple[str, int]:
    return place.file, place.line


def _reason(text: str) -> str:
    """The first line that says what the cause is."""
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(_PREAMBLES):
            return line.split("  ")[0]
    return "Unknown reason"
