"""Graph breaks and skipped frames, out of torch's own words: the cause, the user's line, the hints.

The same cause at the same line is one break. Its count is the number of calls of the compiled function in which it stopped a
compile: Dynamo reports a break when it compiles, not when compiled code passes it again. A skipped frame runs eager from then on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable

from msgspec.structs import replace

from stc.record.events import BreakSeen, Event
from stc.record.types import Break, Location

from .stacks import Frame, frames, is_optimizers, is_users

_WHERE = re.compile(r"^Graph break in user code at (?P<file>.+):(?P<line>\d+)", re.MULTILINE)
_HINT = re.compile(r"^\s*Hint: (?P<text>.+)$", re.MULTILINE)
_CONTEXT = re.compile(r"^\s*Developer debug context: (?P<text>.+)$", re.MULTILINE)
_EXPLANATION = re.compile(r"^\s*Explanation: (?P<text>.+)$", re.MULTILINE)
_PREAMBLES = ("Encountered graph break", "Failed to handle graph break gracefully", "Graph break encountered")
_SKIPPED = ("Skipping the function and falling back to eager", "frame skipped")
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
        self._of_compile: dict[str, list[str]] = {}  # compile id: breaks met in it

    def add(self, text: str, compile_id: str | None, *, within: str | None, optimizer: bool) -> None:
        """A break in torch's words, as its trace event gives them; ``within`` is the function that is being compiled."""
        if _WHERE.match(text) is None:
            return  # a frame given up whole, told again in other words: `skipped` hears of it
        found = parse(text, optimizer=optimizer)
        # The rest of a line that broke the graph often cannot be compiled either: that is the same break.
        if found.location is not None and within is not None and within.endswith(f"(from line {found.location.line})"):
            for earlier in self._breaks.values():
                if earlier.location is not None and _line(earlier.location) == _line(found.location):
                    return
        self._count(found, compile_id)

    def skipped(self, compile_id: str, reason: str | None, where: Frame | None, *, optimizer: bool) -> None:
        """A compile ended without code: its frame runs eager from now on.

        Args:
            reason: torch's words, where it gave any beyond the breaks met in this compile.
            where: the frame that it gave up at.
        """
        met = [self._breaks[i] for i in self._of_compile.get(compile_id, ()) if i in self._breaks]
        if met:
            if met[-1].kind != "frame-skipped":
                known = self._breaks[met[-1].id] = replace(met[-1], kind="frame-skipped")
                self._emit(BreakSeen(graph_break=known))
            return
        if reason is None:
            return  # nothing in it to compile
        found = parse(reason, optimizer=optimizer, where=where)
        self._count(replace(found, kind="frame-skipped"), compile_id)

    def _count(self, found: Break, compile_id: str | None) -> None:
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
            kind = "frame-skipped" if "frame-skipped" in (before.kind, found.kind) else "graph-break"
            known = replace(before, kind=kind, steps=steps, compile_ids=ids, count=before.count + again)
        self._breaks[found.id] = known
        self._last_call[found.id] = call
        if compile_id:
            self._of_compile.setdefault(compile_id, []).append(found.id)
        self._emit(BreakSeen(graph_break=known))


def parse(text: str, *, optimizer: bool, where: Frame | None = None) -> Break:
    """One break from torch's description of it; ``where`` is the place of one that names none."""
    skipped = any(words in text for words in _SKIPPED)
    reason_text, _, trace = (text.partition("Graph Break Reason:")[2] or text).partition("User code traceback:")
    said = reason_text.partition("*** While handling this graph break")[0]
    reason = _reason(said)
    stack = frames(trace.partition("Traceback (most recent call last)")[0])
    named = _WHERE.search(text)
    if named is not None:
        where = Frame(named["file"], int(named["line"]))
    if not stack and where is not None:
        stack = [where]
    users = [frame.location() for frame in stack if is_users(frame.file)]
    inner = users[-1] if users else None
    parts = [p["text"].strip() for p in (_EXPLANATION.search(said), _CONTEXT.search(said)) if p is not None]
    last = stack[-1] if stack else None
    if last is not None and not is_users(last.file):
        parts.append(f"In {last.name or 'a function'}, line {last.line} of {last.file}.")
    key = f"{reason}|{inner.file if inner else last.file if last else ''}|{inner.line if inner else 0}"
    return Break(
        id="break-" + hashlib.sha256(key.encode()).hexdigest()[:10],
        reason=reason,
        kind="frame-skipped" if skipped else "graph-break",
        location=inner,
        stack=users,
        hints=list(dict.fromkeys(h["text"].strip() for h in _HINT.finditer(said))),
        detail=" ".join(parts) or None,
        benign=optimizer
        or (last is not None and is_optimizers(last.file))
        or (where is not None and is_optimizers(where.file)),
    )


def _line(place: Location) -> tuple[str, int]:
    return place.file, place.line


def _reason(text: str) -> str:
    """The first line that says what the cause is."""
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith(_PREAMBLES):
            return line.split("  ")[0]
    return "Unknown reason"
