"""Pairs measured in turn, A B A B, so that a machine that changes speed changes both."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Result:
    """One line of the outcome."""

    name: str
    measured: str
    goal: str
    met: bool
    n: int


@dataclass(frozen=True)
class Pairs:
    """Measurements of A and B in turn, in the same unit."""

    a: list[float]
    b: list[float]

    @property
    def difference(self) -> float:
        """Median of A - B, pair by pair."""
        return median(x - y for x, y in zip(self.a, self.b, strict=True))

    @property
    def ratio(self) -> float:
        """Median of A / B, pair by pair."""
        return median(x / y for x, y in zip(self.a, self.b, strict=True))

    @property
    def ratios(self) -> tuple[float, float]:
        """Smallest and largest A / B."""
        every = [x / y for x, y in zip(self.a, self.b, strict=True)]
        return min(every), max(every)


def in_turn(a: Callable[[], float], b: Callable[[], float], pairs: int, warm_up: int = 1) -> Pairs:
    """Call both by turns; each returns its own measurement."""
    found = Pairs([], [])
    for turn in range(pairs + warm_up):
        x, y = a(), b()
        if turn >= warm_up:
            found.a.append(x)
            found.b.append(y)
    return found


def python(code: str, **environment: str) -> float:
    """Wall seconds of a fresh Python that runs ``code``."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment}, capture_output=True)
    return time.perf_counter() - started


def python_says(code: str, **environment: str) -> list[float]:
    """The numbers on the last line that a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, **environment}, capture_output=True, text=True
    )
    return [float(word) for word in done.stdout.strip().splitlines()[-1].split()]


def fresh_folder() -> str:
    return tempfile.mkdtemp(prefix="stc-bench-")
