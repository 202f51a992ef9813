"""Where compile time goes: each moment of it belongs to one phase.

torch brackets its work with begin and end events. A moment is given to the innermost bracket that has a phase; brackets on
other threads are not counted, since only the training thread's waiting delays the training.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from stc.record.types import Phase

LABELS = {
    "dynamo": "Tracing Python (Dynamo)",
    "aot": "Forward and backward graphs (AOTAutograd)",
    "inductor": "Lowering and fusion (Inductor)",
    "codegen": "Writing code",
    "compile": "C++ or Triton compiler",
    "cache": "Compile caches",
    "guards": "Building guards",
    "other": "Other",
}

# Beginning of a bracket's name: phase. The first match counts; a bracket without one belongs to the one around it.
_PREFIXES = (
    ("compile_file", "compile"), ("async_compile", "compile"), ("AsyncCompile", "compile"), ("TritonBundler", "cache"),
    ("PyCodeCache.load", "compile"), ("triton", "compile"), ("CachingAutotuner", "compile"),
    ("code_gen", "codegen"), ("GraphLowering.codegen", "codegen"), ("Scheduler.codegen", "codegen"),
    ("PythonWrapperCodegen", "codegen"), ("GraphLowering.compile_to_fn", "codegen"),
    ("Scheduler", "inductor"), ("GraphLowering", "inductor"), ("inductor_compile", "inductor"),
    ("fx_codegen_and_compile", "inductor"), ("_recursive_post_grad_passes", "inductor"),
    ("_recursive_pre_grad_passes", "inductor"), ("_recursive_joint_graph_passes", "inductor"),
    ("FxGraphCache", "cache"), ("fx_graph_cache", "cache"), ("AOTAutogradCache", "cache"), ("inductor_codecache", "cache"),
    ("CacheBase", "cache"), ("remote_", "cache"),
    ("create_aot_dispatcher_function", "aot"), ("aot_", "aot"), ("min_cut", "aot"), ("backward", "aot"),
    ("build_guards", "guards"), ("guards", "guards"),
    ("entire_frame_compile", "dynamo"), ("bytecode_tracing", "dynamo"), ("dynamo", "dynamo"), ("compile_attempt", "dynamo"),
    ("entire_backward_compile", "aot"),
)  # fmt: skip


_BACKWARD = ("entire_backward_compile", "compile_fx.<locals>.bw_compiler")


class PhaseClock:
    """Exclusive time by phase, of one thread at a time.

    Args:
        now: seconds, monotonic.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._thread: int | None = None  # the one whose compile is going on
        self._open: list[tuple[str, str]] = []  # name and phase of the brackets around this moment
        self._since = 0.0
        self._outer_since = 0.0
        self._total = 0.0
        self._self: dict[str, float] = {}
        self._count: dict[str, int] = {}
        self.compiles = 0  # outermost brackets so far

    def begin(self, name: str) -> None:
        now, thread = self._now(), threading.get_ident()
        if not self._open:
            self._thread, self._outer_since = thread, now
            self.compiles += 1
        elif thread != self._thread:
            return
        else:
            self._spend(now)
        self._since = now
        around = self._open[-1][1] if self._open else None
        phase = phase_of(name) or around or "other"
        if phase != around:
            self._count[phase] = self._count.get(phase, 0) + 1
        self._open.append((name, phase))

    def end(self, name: str) -> bool:
        """Close a bracket, and with it those within it that an exception left open. One that was never opened is ignored.

        Returns:
            True where it was the outermost one: nothing is being compiled any more.
        """
        if threading.get_ident() != self._thread or all(name != opened for opened, _ in self._open):
            return False
        now = self._now()
        self._spend(now)
        self._since = now
        while self._open.pop()[0] != name:
            pass
        if self._open:
            return False
        self._total += now - self._outer_since
        return True

    @property
    def current(self) -> str | None:
        """Phase of this moment; None when nothing is being compiled."""
        return self._open[-1][1] if self._open else None

    @property
    def backward(self) -> bool:
        """Is it a backward graph that is being compiled by itself, in `.backward()`?"""
        return bool(self._open) and self._open[0][0].startswith(_BACKWARD)

    def total_s(self) -> float:
        return self._total + (self._now() - self._outer_since if self._open else 0.0)

    def phases(self) -> list[Phase]:
        """Largest first."""
        ordered = sorted(self._self.items(), key=lambda item: -item[1])
        return [Phase(name=n, label=LABELS[n], self_s=s, count=self._count.get(n, 1)) for n, s in ordered if s > 0]

    def _spend(self, now: float) -> None:
        phase = self._open[-1][1]
        self._self[phase] = self._self.get(phase, 0.0) + now - self._since


def phase_of(name: str) -> str | None:
    """Phase of a bracket by its name, or None where it belongs to what is around it."""
    for prefix, phase in _PREFIXES:
        if name.startswith(prefix):
            return phase
    return None
