"""Sends a run's steps to the store while it goes on, from the writer's thread: a step only notes itself.

So they get there also where the next step is long in coming, or never comes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stc.record.events import Event, StepsMeasured, StepsTaken

from .clock import StepClock

SEND_EVERY_S = 0.25  # steps go to the store this often
MEASURE_EVERY_S = 1.0  # and their statistics at most this often
# Statistics over everything cost more than a step may: while the run goes on they get this share of its time.
MEASURE_SHARE = 1 / 200


class Sending:
    """What of a clock's steps has been sent, and what is due.

    Args:
        emit: takes the events.
    """

    def __init__(self, clock: StepClock, emit: Callable[[Event], None]) -> None:
        self._clock = clock
        self._emit = emit
        self._lock = threading.Lock()
        self._sent_at = 0.0
        self._ended = False
        self._unmeasured = False  # there are steps that no statistics have seen
        self._measure_due = 0.0

    def now_and_then(self) -> None:
        """Send what is due; called often, from another thread than the training's."""
        if time.perf_counter() - self._sent_at >= SEND_EVERY_S:
            self._send()

    def at_once(self) -> None:
        """Send everything, statistics too."""
        self._send(measure=True)

    def end(self) -> None:
        """Send the rest; nothing is sent afterwards."""
        self._send(measure=True, ended=True)

    def _send(self, *, measure: bool = False, ended: bool = False) -> None:
        with self._lock:
            if self._ended:
                return
            self._ended = ended
            now = self._sent_at = time.perf_counter()
            series = self._clock.take_unsent()
            if series is not None:
                self._emit(StepsTaken(series=series))
                self._unmeasured = True
            if measure or (self._unmeasured and now >= self._measure_due):
                self._emit(StepsMeasured(steps=self._clock.measured(ended=ended)))
                self._unmeasured = False
                took = time.perf_counter() - now
                self._measure_due = now + max(MEASURE_EVERY_S, took / MEASURE_SHARE)
