"""Is compiling worth its own time for this loop?

Compares what compiling is expected to cost with what the rest of the loop can win. The estimate is of the right order, not
exact: it is marked as an estimate, and the report says afterwards whether compiling did pay.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

from stc.record.types import Decision

# Half of the step is the most that compiling saves on the models we measured in float32 (a median is nearer to a tenth), so
# a loop whose remaining time is under twice the compile time will not get it back.
BEST_SPEEDUP = 2.0
# First compile in a process on two CPU cores: a fixed part (C++ headers, Dynamo, first use of Inductor) and a part for
# each module that computes something. Fitted on eight small models, 8 to 60 s; see benchmarks/compile_cost.py.
FIXED_COMPILE_S = 8.0
COMPILE_S_PER_MODULE = 0.45
OPTIMIZER_COMPILE_S = 4.0


@dataclass(frozen=True)
class Shape:
    """What the compile time of a loop depends on, roughly: its kinds of modules and their number."""

    signature: str  # same for the same architecture and optimizer
    modules: int  # modules without children
    optimizers: int


@dataclass(frozen=True)
class Estimate:
    seconds: float
    source: str


def estimate_compile(shape: Shape, history: History) -> Estimate:
    """Expected seconds of compiling: measured here before for the same architecture, else by the number of modules."""
    known = history.seconds(shape.signature)
    if known is not None:
        return Estimate(known, "measured on this machine when the same model was last compiled")
    seconds = FIXED_COMPILE_S + COMPILE_S_PER_MODULE * shape.modules + OPTIMIZER_COMPILE_S * shape.optimizers
    return Estimate(seconds, f"estimated from {shape.modules} modules")


def decide(*, eager_step_s: float, estimate: Estimate, remaining: int | None, remaining_source: str | None, done: int,
           elapsed_s: float) -> Decision | None:  # fmt: skip
    """Compile or leave eager; None to go on measuring.

    With a known length the loop is compiled if it has at least twice the compile time to go. With an unknown one it is
    compiled once it has run as long as compiling would take: so the worst case costs no more than the loop itself did.
    """
    pays_after = math.ceil(estimate.seconds / (eager_step_s * (1 - 1 / BEST_SPEEDUP)))

    def decision(action: str, reason: str, break_even: int | None) -> Decision:
        return Decision(
            action="compile" if action == "compile" else "leave-eager", reason=reason, eager_step_s=eager_step_s,
            compile_s=estimate.seconds, compile_source=estimate.source, remaining_steps=remaining,
            remaining_source=remaining_source, break_even_step=break_even,
        )  # fmt: skip

    if remaining is None:
        if elapsed_s < estimate.seconds:
            return None
        return decision(
            "compile", "The loop's length is not known, and it has run as long as compiling would take.", None
        )
    if remaining < pays_after:
        return decision(
            "leave-eager",
            f"The {remaining} steps left cannot win back the compile time, even at {BEST_SPEEDUP:g} times the speed.",
            done + pays_after,
        )
    return decision("compile", "The rest of the loop is long enough to win back the compile time.", None)


class History:
    """Compile seconds by architecture, kept in a small JSON file; a damaged file counts as empty."""

    _KEEP = 200

    def __init__(self, path: Path) -> None:
        self._path = path

    def seconds(self, signature: str) -> float | None:
        value = self._read().get(signature)
        return float(value) if isinstance(value, (int, float)) and value >= 0 else None

    def remember(self, signature: str, seconds: float) -> None:
        """Replace what is known; silently does nothing where the file cannot be written: it is only a hint."""
        entries = self._read()
        entries.pop(signature, None)
        entries[signature] = round(seconds, 3)
        kept = dict(list(entries.items())[-self._KEEP :])
        temporary = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(kept))
            temporary.replace(self._path)
        except OSError:
            return

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
