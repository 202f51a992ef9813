"""The process's one ear on torch: installs every hook with the first run that listens, takes them out after the last.

What is heard is turned into the events of `stc.record.events` (`hearing.py`) and handed to the runs that are attached.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType
from typing import Any

from stc.record.events import BreakSeen, Event, GapSeen, GraphSeen, LimitReached, RecompilationSeen, SourceSeen
from stc.record.types import Gap, Location, Phase
from stc.source.places import source_at

from .bus import TraceBus
from .fusion import Fusion
from .graphs import GraphRegistry
from .hearing import Hearing
from .torch_compat import dynamo

Sink = Callable[[Event], None]
Artefact = Callable[[str, str], None]

MOST_GAPS = 100
log = logging.getLogger("stc")


class Listener:
    """See the module. One sink at a time is the usual case; several hear the same events."""

    def __init__(self) -> None:
        self._sinks: dict[Sink, tuple[Callable[[], int | None], Artefact]] = {}
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []
        self._gaps: dict[tuple[str, str], Gap] = {}
        self._call: tuple[object, int] | None = None  # compiled function and number of its call that was made last
        self._begin()

    def _begin(self) -> None:
        """Forget what was heard before: a new run begins."""
        self._call = None
        self._hearing = Hearing(self.emit, self.artefact, self.step, lambda: self._call, self.fault)
        self._sources: set[str] = set()

    # ------------------------------------------------------------------ attaching

    def attach(self, sink: Sink, *, step: Callable[[], int | None], artefact: Artefact) -> None:
        """Let a run hear everything from now on. The first one puts the hooks in."""
        with self._lock:
            first = not self._sinks
            self._sinks[sink] = (step, artefact)
            if first:
                self._begin()
                self._gaps.clear()
                self._install()
                return
        for gap in self.gaps():
            sink(GapSeen(gap=gap))

    def detach(self, sink: Sink) -> None:
        """Stop telling a run. With the last one every hook is taken out again, also while a backward is `pending`."""
        with self._lock:
            if list(self._sinks) == [sink]:
                self.graphs.release()
            if self._sinks.pop(sink, None) is None or self._sinks:
                return
            # A later run tries again what was given up: the cause may have been mended, and else it says so again.
            undo = [partial(dynamo.retry, code) for code in self._hearing.given_up] + self._undo[::-1]
            self._undo.clear()
            for action in undo:
                try:
                    action()
                except Exception as error:
                    self.fault("hooks", error)

    @property
    def attached(self) -> bool:
        return bool(self._sinks)

    @property
    def pending(self) -> bool:
        """A compiled forward still waits for its backward to be compiled. It may wait for ever."""
        return bool(self._hearing.waiting_backward)

    @property
    def graphs(self) -> GraphRegistry:
        """The graphs of this listening period."""
        return self._hearing.graphs

    def gaps(self) -> list[Gap]:
        """Hooks that could not be installed on this torch, and events that could not be read."""
        return list(self._gaps.values())

    def compiling(self) -> tuple[float, int]:
        """Seconds that the training thread has waited for compilers, and how many times."""
        return self._hearing.clock.total_s(), self._hearing.clock.compiles

    def compiled_code(self, compile_id: str) -> CodeType | None:
        """What was compiled under that id in this listening period."""
        return self._hearing.codes.get(compile_id)

    def in_use(self, code: CodeType) -> str | None:
        """Compile id of the compiled version of a function that was called last, of whatever period."""
        return dynamo.in_use(code)

    def phases(self) -> tuple[list[Phase], float]:
        """Exclusive compile time by phase, and the total, in seconds."""
        return self._hearing.clock.phases(), self._hearing.clock.total_s()

    # ------------------------------------------------------------------ compiling

    def wrap(
        self, function: Callable[..., Any], *, dynamic: bool | None = None, options: Any = None
    ) -> Callable[..., Any]:
        """``torch.compile`` of a function; its calls are counted while a run listens."""
        import torch

        compiled = torch.compile(function, dynamic=dynamic, options=options)
        traced = torch.compiler.is_compiling
        identity, calls = object(), 0

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            if traced():  # part of a larger compiled function of the user's, which must not guard on our counter
                return function(*args, **kwargs)
            calls += 1
            self._call = (identity, calls)
            return compiled(*args, **kwargs)

        return call

    def wrap_module(self, module: Any, *, dynamic: bool | None = None, options: Any = None) -> Callable[..., Any]:
        """What to put where `Module.compile` puts its compiled call. Stock modules are seen through as well."""
        try:
            target = dynamo.inlined(module)
        except Exception as error:
            self.fault("stock modules", error)
            target = None
        return self.wrap(module._call_impl if target is None else target, dynamic=dynamic, options=options)

    def wrap_optimizer_step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """A compiled stand-in for an optimizer's bound inner step."""
        return self.wrap(step)

    # ------------------------------------------------------------------ telling

    def step(self) -> int | None:
        """Number of the step that is going on, by the run that was attached first."""
        for step, _ in list(self._sinks.values()):
            return step()
        return None

    def emit(self, event: Event) -> None:
        """Hand an event to every run, the sources that its places are in before it. Never raises."""
        try:
            for source in self._new_sources(event):
                self._send(source)
        except Exception as error:
            self.fault("sources", error)
        self._send(event)

    def artefact(self, name: str, text: str) -> None:
        for _, keep in list(self._sinks.values()):
            try:
                keep(name, text)
            except Exception as error:
                self.fault("artefacts", error)

    def fault(self, part: str, error: BaseException) -> None:
        """Something could not be seen: a gap in the report, and nothing else."""
        log.debug("capture: %s", part, exc_info=error)
        self.gap(part, str(error) if isinstance(error, dynamo.Missing) else f"{type(error).__name__}: {error}")

    def gap(self, part: str, reason: str) -> None:
        """Tell of a gap, once."""
        if (part, reason) not in self._gaps and len(self._gaps) < MOST_GAPS:
            self._gaps[part, reason] = Gap(part=part, reason=reason)
            self._send(GapSeen(gap=self._gaps[part, reason]))

    def _send(self, event: Event) -> None:
        for sink in list(self._sinks):
            try:
                sink(event)
            except Exception:
                log.debug("a run could not take an event", exc_info=True)

    def _new_sources(self, event: Event) -> Iterator[Event]:
        for place in _places(event):
            if place.file not in self._sources:
                self._sources.add(place.file)
                source = source_at(place)
                if source is not None:
                    yield SourceSeen(source=source)

    # ------------------------------------------------------------------ hooks

    def _install(self) -> None:
        hearing = self._hearing
        self._try("trace", TraceBus(hearing.routes(), self.fault).install)
        self._try("Dynamo graphs", lambda: dynamo.patch_inductor(hearing.on_graph))
        self._try("backward failures", lambda: dynamo.soften_backward(hearing.on_backward_failure))
        self._try("fusion", self._install_fusion)

    def _try(self, part: str, install: Callable[[], Callable[[], None]]) -> None:
        try:
            self._undo.append(install())
        except Exception as error:
            self.fault(part, error)

    def _install_fusion(self) -> Callable[[], None]:
        fusion = Fusion(self.graphs, self.fault)
        for gap in fusion.install():
            self.gap(gap.part, gap.reason)
        return fusion.uninstall


def _places(event: Event) -> Iterator[Location]:
    """Every place that an event points to."""
    if isinstance(event, GraphSeen):
        graph = event.graph
        found = [graph.location, *(op.location for op in graph.ops), *graph.folded]
        found += [op.location for kernel in graph.kernels for op in kernel.ops]
    elif isinstance(event, BreakSeen):
        found = [event.graph_break.location, *event.graph_break.stack]
    elif isinstance(event, RecompilationSeen):
        found = [event.recompilation.location]
    elif isinstance(event, LimitReached):
        found = [event.limit.location]
    else:
        return
    yield from (place for place in found if place is not None)


_listener: Listener | None = None


def listener() -> Listener:
    """The process's one listener; installs nothing yet."""
    global _listener
    if _listener is None:
        _listener = Listener()
    return _listener
