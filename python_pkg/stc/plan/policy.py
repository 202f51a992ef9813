"""How one training loop is to run next: eager for a baseline, compiled, eager once more to check, or left alone.

The default measures a few eager steps first and compiles if that can pay. An ordered plan compiles from the first call and
takes its eager baseline later, once compiled steps have been measured. Eager windows cost at most a fiftieth of the time.
"""

from __future__ import annotations

from typing import Literal

from stc.record.types import Decision

from .worth import Estimate, decide

Mode = Literal["e", "c"]

BASELINE_STEPS = 5  # at least, after the first
BASELINE_S = 0.25  # at least, unless there are BASELINE_MOST steps already
BASELINE_MOST = 40
SLOW_BASELINE_STEPS = 3  # enough where a step takes seconds
SLOW_BASELINE_S = 5.0
FIRST_WINDOW = 30  # compiled steps before the first eager window
WINDOW_GROWTH = 3  # and again after three times as many: the machine's speed drifts
WINDOW_STEPS = 12  # one of them a warm-up
WINDOW_SHARE = 1 / 50  # of the time so far


class LoopPolicy:
    """Told of each step of a loop; says how the next one runs.

    Args:
        plan: None for the default, else the plan that was ordered.
    """

    def __init__(self, plan: Literal["inductor", "eager"] | None) -> None:
        self._ordered = plan
        self.mode: Mode = "c" if plan == "inductor" else "e"
        self.decision: Decision | None = None
        self._settled = plan is not None
        self._next_window = FIRST_WINDOW
        self._window_left = 0

    @property
    def wants_decision(self) -> bool:
        """A decision is due once the baseline is long enough."""
        return not self._settled

    @staticmethod
    def baseline_done(eager_steps: int, eager_s: float) -> bool:
        """Enough eager steps for a median to compare with."""
        if eager_s >= SLOW_BASELINE_S and eager_steps >= SLOW_BASELINE_STEPS:
            return True
        return eager_steps >= BASELINE_STEPS and (eager_s >= BASELINE_S or eager_steps >= BASELINE_MOST)

    def consider(
        self, *, eager_step_s: float, estimate: Estimate, remaining: int | None, remaining_source: str | None,
        done: int, elapsed_s: float,
    ) -> Decision | None:  # fmt: skip
        """Decide, if that is possible yet; the decision is taken once."""
        decision = decide(
            eager_step_s=eager_step_s, estimate=estimate, remaining=remaining, remaining_source=remaining_source,
            done=done, elapsed_s=elapsed_s,
        )  # fmt: skip
        if decision is not None:
            self.decision, self._settled = decision, True
            self.mode = "c" if decision.action == "compile" else "e"
        return decision

    def after_step(self, *, compiled_steps: int, eager_steps: int, last_s: float, elapsed_s: float) -> Mode:
        """The mode of the next step, for a loop that is compiled."""
        if self._ordered == "eager" or not self._settled or (self.decision and self.decision.action == "leave-eager"):
            return self.mode
        if self._window_left:
            self._window_left -= 1
            if self._window_left == 0:
                self.mode = "c"
        elif compiled_steps >= self._next_window:
            first = eager_steps == 0
            self._next_window = compiled_steps * WINDOW_GROWTH
            if first or WINDOW_STEPS * last_s <= elapsed_s * WINDOW_SHARE:
                self._window_left, self.mode = WINDOW_STEPS, "e"
        return self.mode

    def stop_windows(self) -> None:
        """Compiled code has been given up: an eager baseline would be compared with a mixture."""
        self._window_left, self._next_window = 0, 2**62
        if self._ordered != "eager" and self._settled and not (self.decision and self.decision.action == "leave-eager"):
            self.mode = "c"
