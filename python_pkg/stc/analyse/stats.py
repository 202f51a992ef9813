"""Step-time statistics: medians with their 95 % intervals, the speed-up, and when compiling has paid for itself.

Pure Python, and quick for 20,000 steps: the bootstrap distribution of a median is drawn directly, without resampling the
data. The seed is fixed, so the same steps always give the same figures.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median

from stc.record.types import BreakEven, Speedup, Timing

RESAMPLES = 2000  # the 2.5 % and 97.5 % points then vary by less than a tenth of the interval's width
SEED = 20240229
# Neighbouring steps are alike (clock speed, other processes), which makes an interval over single steps too narrow. From this
# many steps on, the medians of BLOCKS consecutive stretches are resampled instead, so that slow drift widens the interval.
BLOCKS = 32
BLOCK_FROM = BLOCKS * 8


def timing(durations: Sequence[float]) -> Timing | None:
    """Median with interval, 95th percentile and mean of step times in seconds; None where there are none."""
    if not durations:
        return None
    ordered = sorted(durations)
    low, high = _interval(_bootstrap_medians(durations, ordered, random.Random(SEED)))
    return Timing(
        median_s=median(ordered),
        p95_s=percentile(ordered, 0.95),
        mean_s=fmean(ordered),
        n=len(ordered),
        median_low_s=low,
        median_high_s=high,
    )


def speedup(eager: Sequence[float], compiled: Sequence[float]) -> Speedup | None:
    """Median eager over median compiled step time, with the interval of that ratio; None where either is missing."""
    if not eager or not compiled:
        return None
    rng = random.Random(SEED)
    slow = _bootstrap_medians(eager, sorted(eager), rng)
    fast = _bootstrap_medians(compiled, sorted(compiled), rng)
    if min(fast) <= 0.0:
        return None
    low, high = _interval([a / b for a, b in zip(slow, fast, strict=True)])
    return Speedup(ratio=median(eager) / median(compiled), low=low, high=high)


# An interval around 1 that is narrower than this says that there is no difference to speak of; a wider one says nothing.
TELLING = 1.25


def cannot_tell(found: Speedup) -> bool:
    """The steps vary so much that compiled ones may be faster as well as slower."""
    return found.low <= 1.0 <= found.high and found.high > TELLING * found.low


def break_even(eager: Sequence[float], durations: Sequence[float], kinds: str) -> BreakEven:
    """The number of steps after which the run, compiling included, had caught up with an eager one and stayed ahead.

    A step that compiled costs what it took over the eager median; a compiled one wins the difference of the medians. Single
    slow steps of either kind (an evaluation, a busy machine) are not held against compiling.

    Args:
        eager: durations of the eager baseline steps, in seconds.
        durations: every step of the loop in order, in seconds.
        kinds: one letter a step, see `StepSeries`.

    Returns:
        ``step`` counts from 1. Within the run ``reached`` is True; beyond its end the step is extrapolated from the medians
        and ``reached`` is False; where compiled steps are not faster there is no step, but a reason.
    """
    if not eager:
        return BreakEven(reason="No eager step was measured to compare with.")
    compiled = [d for d, k in zip(durations, kinds, strict=True) if k == "c"]
    if not compiled:
        return BreakEven(reached=False, reason="No step ran compiled without compiling anything.")
    usual, faster = median(eager), median(compiled)
    behind = 0.0  # seconds lost against eager so far
    last_behind = first = kinds.find("x")
    for position, (duration, kind) in enumerate(zip(durations, kinds, strict=True)):
        if kind == "x":
            behind += duration - usual
        elif kind == "c":
            behind += faster - usual
        if behind > 0.0 and position >= first:
            last_behind = position
    if last_behind < len(durations) - 1:
        return BreakEven(step=last_behind + 2, reached=True)
    if faster >= usual:
        return BreakEven(reached=False, reason="Compiled steps are not faster than eager ones.")
    return BreakEven(step=len(durations) + math.ceil(behind / (usual - faster)), reached=False)


def percentile(ordered: Sequence[float], share: float) -> float:
    """Percentile of ascending values by linear interpolation; ``share`` from 0 to 1."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def _interval(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return percentile(ordered, 0.025), percentile(ordered, 0.975)


def _bootstrap_medians(values: Sequence[float], ordered: Sequence[float], rng: random.Random) -> list[float]:
    """Medians of `RESAMPLES` samples drawn with replacement."""
    if len(values) >= BLOCK_FROM:
        edges = [len(values) * i // BLOCKS for i in range(BLOCKS + 1)]
        ordered = sorted(median(values[a:b]) for a, b in pairwise(edges))
    n = len(ordered)
    middle = (n + 1) // 2
    drawn = []
    for _ in range(RESAMPLES):
        # Rank of the middle one of n uniform draws is Beta distributed: no need to make the draws.
        u = rng.betavariate(middle, n - middle + 1)
        value = ordered[min(int(u * n), n - 1)]
        if n % 2 == 0:  # the next larger draw is the smallest of those above u
            v = u + (1.0 - u) * (1.0 - rng.random() ** (1.0 / (n - middle)))
            value = (value + ordered[min(int(v * n), n - 1)]) / 2
        drawn.append(value)
    return drawn
