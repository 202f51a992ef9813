"""Is compiling worth it, and how does a loop run next."""

from __future__ import annotations

from pathlib import Path

import pytest

from stc.plan.policy import FIRST_WINDOW, WINDOW_STEPS, LoopPolicy
from stc.plan.worth import BEST_SPEEDUP, Estimate, History, Shape, decide, estimate_compile

TEN_SECONDS = Estimate(10.0, "test")


def test_a_short_loop_is_left_eager_with_its_break_even() -> None:
    # given 300 steps of 167 µs and 10 s of compiling
    decision = decide(
        eager_step_s=167e-6, estimate=TEN_SECONDS, remaining=290, remaining_source="for", done=10, elapsed_s=0.002
    )
    # then even twice the speed needs 10 s / 83.5 µs steps
    assert decision is not None
    assert decision.action == "leave-eager"
    assert decision.break_even_step == pytest.approx(10 + 10 / (167e-6 / 2), rel=1e-3)


@pytest.mark.parametrize(("remaining", "action"), [(1999, "leave-eager"), (2000, "compile")])
def test_the_boundary_is_twice_the_compile_time(remaining: int, action: str) -> None:
    decision = decide(
        eager_step_s=0.01, estimate=TEN_SECONDS, remaining=remaining, remaining_source="for", done=5, elapsed_s=1
    )
    assert decision is not None
    assert decision.action == action
    assert BEST_SPEEDUP == 2.0


def test_an_unknown_length_waits_until_the_loop_has_run_as_long_as_compiling_takes() -> None:
    def after(elapsed: float) -> str | None:
        decision = decide(
            eager_step_s=0.01, estimate=TEN_SECONDS, remaining=None, remaining_source=None, done=5, elapsed_s=elapsed
        )
        return None if decision is None else decision.action

    assert after(9.9) is None
    assert after(10.0) == "compile"


def test_what_was_measured_before_is_the_estimate(tmp_path: Path) -> None:
    history = History(tmp_path / "deep" / "times.json")
    shape = Shape("AdamW:100", modules=10, optimizers=1)
    assert "estimated" in estimate_compile(shape, history).source
    history.remember("AdamW:100", 3.5)
    assert estimate_compile(shape, history).seconds == 3.5
    assert "measured" in estimate_compile(shape, history).source


def test_a_damaged_history_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "times.json"
    for damage in (b"\xff\x00", b"[1]", b'{"a": "x"}', b'{"a": -1}'):
        path.write_bytes(damage)
        assert History(path).seconds("a") is None


class TestPolicy:
    def test_an_order_compiles_from_the_first_step_and_takes_its_baseline_later(self) -> None:
        policy = LoopPolicy("inductor")
        assert policy.mode == "c"
        modes = [policy.after_step(compiled_steps=n, eager_steps=0, last_s=0.01, elapsed_s=n / 100) for n in range(31)]
        assert modes == ["c"] * FIRST_WINDOW + ["e"]
        modes = [
            policy.after_step(compiled_steps=30, eager_steps=n, last_s=0.01, elapsed_s=1) for n in range(WINDOW_STEPS)
        ]
        assert modes == ["e"] * (WINDOW_STEPS - 1) + ["c"]

    def test_a_later_window_must_be_cheap(self) -> None:
        policy = LoopPolicy("inductor")
        assert policy.after_step(compiled_steps=30, eager_steps=10, last_s=0.01, elapsed_s=5.9) == "c"
        policy = LoopPolicy("inductor")
        assert policy.after_step(compiled_steps=30, eager_steps=10, last_s=0.01, elapsed_s=6.1) == "e"

    def test_eager_stays_eager(self) -> None:
        policy = LoopPolicy("eager")
        assert policy.after_step(compiled_steps=0, eager_steps=999, last_s=1, elapsed_s=999) == "e"
        assert not policy.wants_decision

    @pytest.mark.parametrize(
        ("steps", "seconds", "enough"),
        [(4, 1.0, False), (5, 0.26, True), (5, 0.2, False), (40, 0.01, True), (3, 6.0, True)],
    )
    def test_when_a_baseline_is_long_enough(self, steps: int, seconds: float, enough: bool) -> None:
        assert LoopPolicy.baseline_done(steps, seconds) is enough

    def test_no_window_once_compiled_code_was_given_up(self) -> None:
        policy = LoopPolicy("inductor")
        policy.stop_windows()
        assert policy.after_step(compiled_steps=10**6, eager_steps=0, last_s=0.01, elapsed_s=1e9) == "c"
