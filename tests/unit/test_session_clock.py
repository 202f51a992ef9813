"""The step clock, with a clock of our own."""

from __future__ import annotations

from stc.session.clock import StepClock


class World:
    """Time and compiles that the test moves by hand."""

    def __init__(self) -> None:
        self.time = 0.0
        self.compiles = (0.0, 0)
        self.clock = StepClock(lambda: self.compiles, lambda: self.time)

    def step(self, seconds: float, mode: str = "e", *, compile_s: float = 0.0, loop: str = "a") -> None:
        self.clock.activity()
        self.time += seconds
        if compile_s:
            self.compiles = (self.compiles[0] + compile_s, self.compiles[1] + 1)
        self.clock.end_step(loop, "optimizer update", "c" if mode == "c" else "e")


def test_a_step_that_compiled_is_left_out_and_counted() -> None:
    # given a warm-up, four eager steps, one that compiled, four compiled ones
    world = World()
    for _ in range(5):
        world.step(2.0)
    world.step(9.0, "c", compile_s=8.0)
    for _ in range(4):
        world.step(1.0, "c")
    # when they are measured
    steps = world.clock.measured(ended=True)
    # then each is where it belongs
    assert steps.eager is not None and steps.compiled is not None and steps.speedup is not None
    assert (steps.total, steps.eager.n, steps.compiled.n) == (10, 4, 4)
    assert (steps.excluded.warm_up, steps.excluded.compiling, steps.excluded.count) == (1, 1, 2)
    assert (steps.eager.median_s, steps.compiled.median_s, steps.speedup.ratio) == (2.0, 1.0, 2.0)
    # and the 7 s that compiling cost are won back a second a step: 4 so far, 3 to go after the tenth step
    assert steps.break_even is not None
    assert (steps.break_even.step, steps.break_even.reached) == (13, False)


def test_where_the_interval_spans_one_no_break_even_step_is_made_up() -> None:
    # given steps of either kind that vary tenfold, compiled ones a little faster in the median
    world = World()
    world.step(1.0)
    for seconds in (1.0, 2.0, 10.0, 1.5, 3.0):
        world.step(seconds)
    world.step(9.0, "c", compile_s=8.0)
    for seconds in (1.0, 9.0, 1.9, 0.9, 3.0):
        world.step(seconds, "c")
    # when they are measured
    steps = world.clock.measured(ended=True)
    # then nothing is said about when compiling pays, but why
    assert steps.speedup is not None and steps.speedup.low < 1.0 < steps.speedup.high
    assert steps.break_even is not None
    assert steps.break_even.step is None and steps.break_even.reached is None
    assert "vary too much" in (steps.break_even.reason or "")


def test_no_speed_up_over_a_mixture() -> None:
    world = World()
    for _ in range(5):
        world.step(2.0)
    for _ in range(5):
        world.step(1.0, "c")
    assert world.clock.current is not None
    world.clock.current.limited = True
    for _ in range(5):
        world.step(1.5, "c")
    steps = world.clock.measured(ended=True)
    assert steps.speedup is None
    assert "recompile limit" in (steps.speedup_reason or "")
    assert steps.excluded.mixed == 5


def test_too_few_steps_give_no_speed_up_but_a_reason() -> None:
    world = World()
    for _ in range(3):
        world.step(2.0)
    steps = world.clock.measured(ended=True)
    assert steps.speedup is None
    assert steps.speedup_reason is not None


def test_a_step_that_did_not_end_is_counted_as_incomplete() -> None:
    world = World()
    world.step(1.0)
    world.clock.activity()
    assert world.clock.measured(ended=False).excluded.incomplete == 0
    assert world.clock.measured(ended=True).excluded.incomplete == 1


def test_two_loops_are_not_mixed_and_the_longest_is_reported() -> None:
    world = World()
    for _ in range(4):
        world.step(1.0, loop="short")
    for _ in range(6):
        world.step(5.0, loop="long")
    steps = world.clock.measured(ended=True)
    assert steps.eager is not None
    assert (steps.total, steps.eager.median_s) == (6, 5.0)
    assert "2 training loops" in (steps.definition or "")


def test_the_series_is_thinned_but_keeps_the_steps_that_compiled() -> None:
    world = World()
    for n in range(5000):
        world.step(0.001, compile_s=1.0 if n == 1234 else 0.0)
    series = world.clock.series(most=500)
    assert series.decimated
    assert len(series.index) <= 502
    assert 1234 in series.index
    assert series.kind[series.index.index(1234)] == "x"


def test_unsent_steps_are_given_once() -> None:
    world = World()
    world.step(1.0)
    world.step(1.0)
    first = world.clock.take_unsent()
    assert first is not None
    assert (first.index, first.kind) == ([0, 1], "we")
    assert world.clock.take_unsent() is None
