"""The step clock: where one step ends and the next begins, how long each took, and which may be compared.

A step ends with the optimizer's update; in a loop without an optimizer, with the backward pass. A step in which anything was
compiled, the first one, and the first after a switch between eager and compiled are counted but left out of the statistics.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from stc.analyse import stats
from stc.record.types import BreakEven, Excluded, Speedup, Steps, StepSeries

Kind = Literal["e", "c", "x", "w", "m", "i"]
Mode = Literal["e", "c"]


class Marks(Protocol):
    """Time stamps on a device's own queue, for hardware that works asynchronously."""

    def mark(self, settle: Callable[[float], None]) -> None:
        """Stamp now; ``settle`` is called later with the seconds since the previous stamp."""

    def settle(self, *, wait: bool = False) -> None:
        """Hand out what is known by now; with ``wait`` everything."""


@dataclass
class Loop:
    """The steps of one training loop: same architecture, same kind of optimizer. Columns have one entry a step."""

    signature: str
    anchor: str  # "optimizer update" or "backward pass"
    starts: array[float] = field(default_factory=lambda: array("d"))  # seconds since the run started
    durations: array[float] = field(default_factory=lambda: array("d"))  # seconds
    kinds: list[Kind] = field(default_factory=list)
    compile_s: float = 0.0  # seconds of compiling within its steps
    limited: bool = False  # a compiled function has been given up: steps are partly eager from here on
    fresh: bool = True  # the next step is the first, or the first after a switch
    eager_steps: int = 0  # running counts, so that a step costs the same however many there were
    eager_s: float = 0.0
    compiled_steps: int = 0
    elapsed_s: float = 0.0

    @property
    def total(self) -> int:
        return len(self.kinds)

    def of(self, kind: Kind) -> list[float]:
        return [d for d, k in zip(self.durations, self.kinds, strict=False) if k == kind]

    def count(self, kind: Kind) -> int:
        return self.kinds.count(kind)


class StepClock:
    """Times the steps of every loop of a run.

    Steps are ended on the training thread alone; they may be read from another one meanwhile, which then sees them up to the
    last one or the one before.

    Args:
        compiling: seconds of compiling so far, and a counter that grows with each compile.
        now: seconds, monotonic.
        marks: stamps on the device's queue where it works asynchronously; None where the wall clock is right.
    """

    def __init__(
        self,
        compiling: Callable[[], tuple[float, int]],
        now: Callable[[], float] = time.perf_counter,
        marks: Marks | None = None,
    ) -> None:
        self._compiling = compiling
        self._now = now
        self.marks = marks
        self._run_started = now()
        self.loops: dict[str, Loop] = {}
        self.current: Loop | None = None
        self.index = 0  # number, over the whole run, of the step that is going on
        self._since: float | None = None
        self._touched = False  # a model was called in the step that is going on
        self._compiled_before: tuple[float, int] = compiling()
        self._unsent: deque[tuple[int, Loop, int]] = deque()

    def activity(self) -> None:
        """A model was called. The first step of all begins with it."""
        self._touched = True
        if self._since is None:
            self._since = self._now()

    def end_step(self, signature: str, anchor: str, mode: Mode) -> Loop:
        """The step that is going on ends here; ``mode`` says how its models ran. Returns its loop."""
        now = self._now()
        since = now if self._since is None else self._since
        seconds, compiles = self._compiling()
        loop = self.loops.get(signature)
        if loop is None:
            loop = self.loops[signature] = Loop(signature, anchor)
        if loop is not self.current:
            loop.fresh = True
            self.current = loop
        kind = self._kind(loop, compiles != self._compiled_before[1], mode)
        loop.compile_s += max(0.0, seconds - self._compiled_before[0])
        loop.fresh = False
        if kind == "e":
            loop.eager_steps += 1
            loop.eager_s += now - since
        loop.compiled_steps += kind == "c"
        loop.elapsed_s += now - since
        loop.starts.append(since - self._run_started)
        loop.durations.append(now - since)
        loop.kinds.append(kind)  # last: a step that has a kind has a time for another thread, too
        position = loop.total - 1
        self._unsent.append((self.index, loop, position))
        if self.marks is not None:
            self.marks.mark(lambda s, loop=loop, position=position: loop.durations.__setitem__(position, s))  # type: ignore[misc]
            self.marks.settle()
        self.index += 1
        self._since, self._touched, self._compiled_before = now, False, (seconds, compiles)
        return loop

    @staticmethod
    def _kind(loop: Loop, compiled: bool, mode: Mode) -> Kind:
        if compiled:
            return "x"
        if mode == "c" and loop.limited:
            return "m"
        return "w" if loop.fresh else mode

    def take_unsent(self) -> StepSeries | None:
        """Steps since the last call, for the store; None where there are none."""
        taken = []
        while self._unsent:
            taken.append(self._unsent.popleft())
        if not taken:
            return None
        return StepSeries(
            index=[i for i, _, _ in taken],
            start_s=[round(loop.starts[p], 6) for _, loop, p in taken],
            duration_s=[round(loop.durations[p], 9) for _, loop, p in taken],
            kind="".join(loop.kinds[p] for _, loop, p in taken),
        )

    def series(self, most: int = 2000) -> StepSeries:
        """All steps of all loops in order, thinned evenly to at most about ``most``."""
        rows = sorted(
            (loop.starts[p], loop.durations[p], loop.kinds[p])
            for loop in self.loops.values()
            for p in range(loop.total)
        )
        stride = max(1, -(-len(rows) // most))
        # Compiling steps are few and what one looks for: they stay.
        kept = [i for i, row in enumerate(rows) if i % stride == 0 or (row[2] == "x" and len(rows) > most)]
        return StepSeries(
            index=kept,
            start_s=[round(rows[i][0], 6) for i in kept],
            duration_s=[round(rows[i][1], 9) for i in kept],
            kind="".join(rows[i][2] for i in kept),
            decimated=stride > 1,
        )

    def measured(self, *, ended: bool) -> Steps:
        """Statistics of the loop that took most of the time; the series is left to the store."""
        if self.marks is not None and ended:  # else the steps themselves settle what is known
            self.marks.settle(wait=True)
        if not self.loops:
            return Steps(excluded=Excluded(count=int(self._touched), incomplete=int(self._touched)))
        loop = max(list(self.loops.values()), key=lambda found: sum(found.durations))
        unfinished = int(ended and self._touched and self.current is loop)
        excluded = Excluded(
            compiling=loop.count("x"), warm_up=loop.count("w"), mixed=loop.count("m"), incomplete=unfinished,
            count=loop.count("x") + loop.count("w") + loop.count("m") + unfinished,
        )  # fmt: skip
        eager, compiled = loop.of("e"), loop.of("c")
        definition = loop.anchor
        if len(self.loops) > 1:
            definition += f"; the longest of {len(self.loops)} training loops"
        reason = _why_no_speedup(loop, len(eager), len(compiled))
        speedup = stats.speedup(eager, compiled) if reason is None else None
        return Steps(
            total=loop.total,
            definition=definition,
            eager=stats.timing(eager),
            compiled=stats.timing(compiled),
            excluded=excluded,
            speedup=speedup,
            speedup_reason=reason,
            break_even=_break_even(loop, eager, speedup, reason),
        )


MIN_STEPS = 3  # of each kind, for a median and an interval to mean anything


def _why_no_speedup(loop: Loop, eager: int, compiled: int) -> str | None:
    if loop.limited:
        return "After the recompile limit a step is partly eager and partly compiled."
    if compiled < MIN_STEPS:
        done = "No step" if compiled == 0 else f"Only {compiled} step{'s' if compiled > 1 else ''}"
        return f"{done} ran compiled without compiling anything; {MIN_STEPS} are needed."
    if eager < MIN_STEPS:
        done = "No step" if eager == 0 else f"Only {eager} step{'s' if eager > 1 else ''}"
        return f"{done} ran eager; {MIN_STEPS} are needed as a baseline."
    return None


def _break_even(loop: Loop, eager: list[float], speedup: Speedup | None, reason: str | None) -> BreakEven | None:
    if loop.compile_s == 0.0 and loop.count("c") == 0:
        return None
    if reason is not None:
        return BreakEven(reason=reason)
    if (
        speedup is not None and speedup.low <= 1.0 <= speedup.high
    ):  # a step from medians that may be equal would be made up
        if stats.cannot_tell(speedup):
            return BreakEven(reason="The step times vary too much to tell whether compiled steps are faster.")
        return BreakEven(reached=False, reason="Compiled steps are not measurably faster than eager ones.")
    kinds = "".join(loop.kinds)
    return stats.break_even(eager, loop.durations[: len(kinds)].tolist(), kinds)
