"""Step statistics: right figures, honest intervals, quick enough to run at the end of a long loop."""

from __future__ import annotations

import random
import time
from statistics import median

import pytest

from stc.analyse import stats


def noisy(n: int, centre: float, seed: int = 1) -> list[float]:
    rng = random.Random(seed)
    return [centre * rng.gauss(1.0, 0.05) for _ in range(n)]


def resampled_interval(values: list[float]) -> tuple[float, float]:
    """The bootstrap as it is written in books, for comparison."""
    rng = random.Random(3)
    medians = sorted(median(rng.choices(values, k=len(values))) for _ in range(4000))
    return medians[100], medians[3900]


@pytest.mark.parametrize("n", [5, 8, 41, 100])
def test_the_interval_is_that_of_a_resampling_bootstrap(n: int) -> None:
    values = noisy(n, 0.02)
    timing = stats.timing(values)
    assert timing is not None and timing.median_low_s is not None and timing.median_high_s is not None
    low, high = resampled_interval(values)
    width = high - low
    assert timing.median_low_s == pytest.approx(low, abs=0.25 * width)
    assert timing.median_high_s == pytest.approx(high, abs=0.25 * width)


def test_timing_of_known_values() -> None:
    timing = stats.timing([1.0, 2.0, 3.0, 4.0, 5.0])
    assert timing is not None
    assert (timing.median_s, timing.mean_s, timing.n) == (3.0, 3.0, 5)
    assert timing.p95_s == pytest.approx(4.8)  # linear between the fourth and the fifth


def test_no_steps_have_no_timing() -> None:
    assert stats.timing([]) is None
    assert stats.speedup([], [1.0]) is None
    assert stats.speedup([1.0], []) is None


def test_one_step_has_an_interval_without_width() -> None:
    timing = stats.timing([0.5])
    assert timing is not None and timing.median_low_s == timing.median_high_s == 0.5


def test_the_same_steps_give_the_same_figures() -> None:
    eager, compiled = noisy(30, 0.02), noisy(300, 0.015, seed=2)
    assert stats.timing(eager) == stats.timing(eager)
    assert stats.speedup(eager, compiled) == stats.speedup(eager, compiled)


def test_slow_drift_widens_the_interval() -> None:
    steady = noisy(2000, 0.01)
    drifting = [d * (1.0 + 0.2 * (i / 2000)) for i, d in enumerate(steady)]
    narrow, wide = stats.timing(steady), stats.timing(drifting)
    assert narrow is not None and wide is not None
    assert narrow.median_high_s is not None and narrow.median_low_s is not None
    assert wide.median_high_s is not None and wide.median_low_s is not None
    assert wide.median_high_s - wide.median_low_s > 3 * (narrow.median_high_s - narrow.median_low_s)


def test_a_speed_up_has_an_interval_around_its_ratio() -> None:
    found = stats.speedup(noisy(40, 0.0184), noisy(1000, 0.014, seed=5))
    assert found is not None
    assert 1.0 < found.low < found.ratio < found.high
    assert found.ratio == pytest.approx(1.314, rel=0.05)


def test_equal_step_times_have_an_interval_around_one() -> None:
    found = stats.speedup(noisy(40, 0.01), noisy(400, 0.01, seed=9))
    assert found is not None and found.low <= 1.0 <= found.high


def test_twenty_thousand_steps_take_less_than_half_a_second() -> None:
    eager, compiled = noisy(40, 0.02), noisy(20_000, 0.015)
    kinds = "e" * 40 + "x" + "c" * 19_999
    started = time.perf_counter()
    stats.timing(compiled)
    stats.speedup(eager, compiled)
    stats.break_even(eager, [*eager, 20.0, *compiled[1:]], kinds)
    assert time.perf_counter() - started < 0.5


class TestBreakEven:
    def test_it_is_the_step_from_which_the_run_stays_ahead(self) -> None:
        # given eager steps of 2 s, a compile of 10 s in the third step, then steps of 1 s
        durations = [2.0, 2.0, 10.0] + [1.0] * 17
        # when 8 s are won back, one a step: after eight compiled steps it is even, and even is caught up
        found = stats.break_even([2.0, 2.0], durations, "eex" + "c" * 17)
        # then
        assert (found.step, found.reached) == (11, True)

    def test_one_step_earlier_it_is_extrapolated(self) -> None:
        durations = [2.0, 2.0, 10.0] + [1.0] * 7
        found = stats.break_even([2.0, 2.0], durations, "eex" + "c" * 7)
        assert (found.step, found.reached) == (11, False)

    def test_slower_compiled_steps_never_get_there(self) -> None:
        found = stats.break_even([1.0] * 3, [1.0] * 3 + [5.0] + [1.1] * 10, "eeex" + "c" * 10)
        assert (found.step, found.reached) == (None, False)
        assert found.reason == "Compiled steps are not faster than eager ones."

    def test_a_late_recompilation_that_does_not_undo_the_gain_does_not_count(self) -> None:
        durations = [2.0, 4.0] + [1.0] * 50 + [5.0] + [1.0] * 5
        found = stats.break_even([2.0], durations, "ex" + "c" * 50 + "x" + "c" * 5)
        assert (found.step, found.reached) == (4, True)

    def test_without_a_baseline_nothing_is_claimed(self) -> None:
        found = stats.break_even([], [1.0, 1.0], "xc")
        assert (found.step, found.reached) == (None, None)
        assert found.reason is not None
