"""Step ends stamped on a CUDA stream: a step's time is then the device's, not the time to queue its work.

Has never run on hardware; on CPU it is not used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any


class CudaMarks:
    """One event a step on the current stream, read once the device has passed it."""

    def __init__(self) -> None:
        self._last: Any = None
        self._waiting: deque[tuple[Any, Any, Callable[[float], None]]] = deque()

    def mark(self, settle: Callable[[float], None]) -> None:
        """Stamp the end of a step; the first has nothing before it and keeps its wall-clock time."""
        import torch

        event = torch.cuda.Event(enable_timing=True)
        event.record()
        if self._last is not None:
            self._waiting.append((self._last, event, settle))
        self._last = event

    def settle(self, *, wait: bool = False) -> None:
        """Hand out the times of all steps that the device has finished; with ``wait`` wait for the rest."""
        while self._waiting:
            before, after, tell = self._waiting[0]
            if wait:
                after.synchronize()
            elif not after.query():
                return
            self._waiting.popleft()
            tell(before.elapsed_time(after) / 1000.0)
