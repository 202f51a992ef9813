"""How much the store keeps: number of runs, bytes, age; set by environment variables, the oldest ended runs go first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from .types import Run

GIGABYTE = 10**9


@dataclass(frozen=True)
class Retention:
    """Limits; 0 means no limit."""

    runs: int = 500
    bytes: int = 2 * GIGABYTE
    days: float = 0.0

    @classmethod
    def from_environment(cls) -> Retention:
        """``STC_KEEP_RUNS``, ``STC_KEEP_GB``, ``STC_KEEP_DAYS``; a value that is not a number counts as not given."""
        return cls(
            runs=int(_number("STC_KEEP_RUNS", cls.runs)),
            bytes=int(_number("STC_KEEP_GB", cls.bytes / GIGABYTE) * GIGABYTE),
            days=_number("STC_KEEP_DAYS", cls.days),
        )

    def surplus(self, ended: list[Run], size: Callable[[Run], int]) -> list[Run]:
        """The runs to remove, given the ended ones newest first. The newest is always kept."""
        gone: list[Run] = []
        total = 0
        for position, run in enumerate(ended):
            if self.bytes:
                total += size(run)
            too_many = bool(self.runs) and position >= self.runs
            too_large = bool(self.bytes) and total > self.bytes
            too_old = bool(self.days) and time.time() - run.started_at > self.days * 86400
            if position and (too_many or too_large or too_old):
                gone.append(run)
        return gone


def _number(name: str, default: float) -> float:
    try:
        value = float(os.environ.get(name, default))
    except ValueError:
        return default
    return value if value >= 0 else default
