"""The process's one ear on torch: installs every hook with the first run that listens, takes them out after the last.

Turns what torch says into the events of `stc.record.events` and hands them to the runs that are attached.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any

from stc.record.events import (
    CompileFailed,
    Event,
    GapSeen,
    LimitReached,
    PhasesMeasured,
    RecompilationSeen,
    RunProgress,
    SourceSeen,
)
from stc.record.types import CacheUse, Failure, Gap, GraphPhase, Limit, Location, Phase, Progress, Recompilation
from stc.source.places import is_user_code, locate, source_at

from . import guards
from .breaks import Breaks
from .bus import TraceBus, TraceEvent, as_json
from .fusion import Fusion, attach_code
from .graphs import GraphRegistry
from .phases import LABELS, PhaseClock
from .stacks import innermost
from .torch_compat import dynamo

Sink = Callable[[Event], None]
Artefact = Callable[[str, str], None]

PROGRESS_EVERY_S = 0.2
_AOT_ID = re.compile(r"AOT ID: \['(?P<id>\d+)_(?P<phase>forward|backward|inference)'\]")
_RESUME = re.compile(r"^torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)$")
_LIMIT = re.compile(r"^'(?P<name>.+)' \((?P<file>.+):(?P<line>\d+)\)$")


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
        self.graphs = GraphRegistry(self.emit, self.step, time.time)
        self._breaks = Breaks(self.emit, self.step, lambda: (self.step(), self._call))
        self._clock = PhaseClock()
        self._sources: set[str] = set()
        self._recompilations = 0
        self._waiting_backward: set[str] = set()
        self._last_phase: dict[str, GraphPhase] = {}
        self._progressed = 0.0
        self._last_guard: dict[str, guards.Guard] = {}
        self._graph_numbers: dict[str, int] = {}

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
        """Stop telling a run. With the last one every hook is taken out again."""
        with self._lock:
            self._sinks.pop(sink, None)
            if not self._sinks:
                while self._undo:
                    undo = self._undo.pop()
                    try:
                        undo()
                    except Exception as error:
                        self.fault("hooks", error)

    @property
    def attached(self) -> bool:
        return bool(self._sinks)

    @property
    def pending(self) -> bool:
        """A compiled forward still waits for its backward to be compiled."""
        return bool(self._waiting_backward)

    def gaps(self) -> list[Gap]:
        """Hooks that could not be installed on this torch, and events that could not be read."""
        return list(self._gaps.values())

    def compiling(self) -> tuple[float, int]:
        """Seconds that the training thread has waited for compilers, and how many times."""
        return self._clock.total_s(), self._clock.compiles

    def phases(self) -> tuple[list[Phase], float]:
        """Exclusive compile time by phase, and the total, in seconds."""
        return self._clock.phases(), self._clock.total_s()

    # ------------------------------------------------------------------ compiling

    def wrap(
        self, function: Callable[..., Any], *, dynamic: bool | None = None, options: Any = None
    ) -> Callable[..., Any]:
        """``torch.compile`` of a function; its calls are counted while a run listens."""
        import torch

        compiled = torch.compile(function, dynamic=dynamic, options=options)
        identity, calls = object(), 0

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
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
        for step, _ in self._sinks.values():
            return step()
        return None

    def emit(self, event: Event) -> None:
        for sink in list(self._sinks):
            try:
                sink(event)
            except Exception:
                logging.getLogger("stc").debug("a run could not take an event", exc_info=True)

    def artefact(self, name: str, text: str) -> None:
        for _, keep in list(self._sinks.values()):
            keep(name, text)

    def fault(self, part: str, error: BaseException) -> None:
        """Something could not be seen: a gap in the report, and nothing else."""
        logging.getLogger("stc").debug("capture: %s", part, exc_info=error)
        self.gap(part, str(error) if isinstance(error, dynamo.Missing) else f"{type(error).__name__}: {error}")

    def gap(self, part: str, reason: str) -> None:
        if (part, reason) not in self._gaps:
            self._gaps[part, reason] = Gap(part=part, reason=reason)
            self.emit(GapSeen(gap=self._gaps[part, reason]))

    def show_source(self, location: Location | None) -> None:
        """Send the source that a location is in, once."""
        if location is not None and location.file not in self._sources:
            self._sources.add(location.file)
            source = source_at(location)
            if source is not None:
                self.emit(SourceSeen(source=source))

    # ------------------------------------------------------------------ hooks

    def _install(self) -> None:
        bus = TraceBus(
            {
                "chromium_event": self._on_bracket,
                "dynamo_start": self._on_start,
                "dynamo_graph_break_reason": self._on_break,
                "recompile_reasons": self._on_recompile,
                "inductor_output_code": self._on_code,
                "compilation_metrics": self._on_metrics,
                "fx_graph_cache_hit": self._on_cache,
                "fx_graph_cache_miss": self._on_cache,
                "fx_graph_cache_bypass": self._on_cache,
                "fx_graph_bundled_cache_hit": self._on_cache,
                "aotautograd_cache_hit": self._on_cache,
                "aotautograd_cache_miss": self._on_cache,
                "aotautograd_cache_bypass": self._on_cache,
            },
            self.fault,
        )
        self._try("trace", bus.install)
        self._try("Dynamo graphs", lambda: dynamo.patch_inductor(self._on_graph))
        self._try("backward", lambda: dynamo.soften_backward(self._on_backward_failure))
        self._try("recompile limit", self._watch_limit)
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

    def _watch_limit(self) -> Callable[[], None]:
        watch = _LimitFilter(self._on_limit)
        logger = logging.getLogger(dynamo.LIMIT_LOGGER)
        logger.addFilter(watch)
        return lambda: logger.removeFilter(watch)

    # ------------------------------------------------------------------ what torch says

    def _on_graph(self, module: Any, inputs: Any) -> None:
        try:
            compile_id = dynamo.current_compile_id()
            if compile_id is None:
                return
            frame = self.graphs.frame(compile_id)
            for node in module.graph.nodes:
                place = innermost(node.meta.get("stack_trace") or getattr(node, "stack_trace", None))
                if place is not None:
                    frame.lines[node.name] = place
                    self.show_source(place)
            frame.dynamic = any(_is_symbolic(value) for value in inputs)
            self._waiting_backward.add(compile_id)
            for listen in self.graphs.on_dynamo_graph:
                listen(compile_id, module, inputs)
        except Exception as error:
            self.fault("Dynamo graph", error)

    def _on_start(self, event: TraceEvent) -> None:
        stack = event.metadata.get("stack") or []
        if event.compile_id is None or not stack:
            return
        last = stack[-1]
        name, file = str(last.get("name")), dynamo.file_of(last.get("filename")) or ""
        shown = _shown_name(name)
        optimizer = "/torch/optim/" in file.replace("\\", "/")
        place = locate(file, int(last["line"]), function=shown) if is_user_code(file) else None
        if place is None:
            for frame in reversed(stack):
                caller = dynamo.file_of(frame.get("filename")) or ""
                if is_user_code(caller):
                    place = locate(caller, int(frame["line"]), function=str(frame.get("name")))
                    break
        self.graphs.set_frame(event.compile_id, shown, place, optimizer=optimizer)
        self.show_source(place)

    def _on_break(self, event: TraceEvent) -> None:
        optimizer = event.compile_id is not None and self.graphs.frame(event.compile_id).optimizer
        frame = self.graphs.frame(event.compile_id or "")
        found = self._breaks.add(str(event.payload), event.compile_id, within=frame.name, optimizer=optimizer)
        self.show_source(found.location)

    def _on_recompile(self, event: TraceEvent) -> None:
        said = as_json(event.payload)
        reasons = said if isinstance(said, list) else [said if isinstance(said, str) else str(event.payload)]
        if "Cache line invalidated" in str(reasons[0]):
            return  # what was compiled for an object that is gone; no guard failed
        being = dynamo.frame_being_compiled()
        code, local, world = being if being is not None else (None, {}, {})
        guard = guards.parse(str(reasons[0]), local, world)
        place = guard.location
        if place is None and code is not None and is_user_code(code.co_filename):
            place = locate(code.co_filename, code.co_firstlineno, function=code.co_name)
        optimizer = code is not None and "/torch/optim/" in code.co_filename.replace("\\", "/")
        name = code.co_name if code is not None else self.graphs.frame(event.compile_id or "").name or "unknown"
        name = _shown_name(name)
        self._recompilations += 1
        self._last_guard[name] = guard
        self.show_source(place)
        self.emit(
            RecompilationSeen(
                recompilation=Recompilation(
                    id=f"recompilation-{self._recompilations}", function=name, guard=guard.text, reason=guard.reason,
                    kind=guard.kind, source=guard.source, dimension=guard.dimension, before=guard.before,
                    after=guard.after, location=place, compile_id=event.compile_id, step=self.step(),
                    call=None if self._call is None else self._call[1], at=time.time(), benign=guard.benign or optimizer,
                )
            )
        )  # fmt: skip

    def _on_limit(self, limit: int, function: str) -> None:
        match = _LIMIT.match(function)
        name = _shown_name(match["name"] if match else function)
        place = locate(match["file"], int(match["line"]), function=name) if match else None
        guard = self._last_guard.get(name)
        self.emit(
            LimitReached(
                limit=Limit(
                    function=name, limit=limit, guard=None if guard is None else guard.text,
                    location=(guard.location if guard is not None else None) or place, step=self.step(),
                    call=None if self._call is None else self._call[1],
                )
            )
        )  # fmt: skip

    def _on_code(self, event: TraceEvent) -> None:
        text = str(event.payload)
        match = _AOT_ID.search(text)
        if match is None or event.compile_id is None:
            return
        phase: GraphPhase = match["phase"]  # type: ignore[assignment]
        self._last_phase[event.compile_id] = phase
        name = f"{event.compile_id.replace('/', '.').replace('!', 'a')}-{phase}.py"
        self.artefact(name, text)
        graph = self.graphs.update(event.compile_id, phase, code=name)
        self.graphs.code[graph.id] = (text, name)
        attach_code(self.graphs, event.compile_id, phase)
        if phase != "forward":
            self._waiting_backward.discard(event.compile_id)

    def _on_cache(self, event: TraceEvent) -> None:
        if event.compile_id is None:
            return
        cache, _, outcome = event.name.rpartition("_")
        about = as_json(event.payload)
        about = about if isinstance(about, dict) else {}
        cache = cache.removesuffix("_cache")
        use = CacheUse(
            outcome="hit" if outcome == "hit" else "bypass" if outcome == "bypass" else "miss", cache=cache,
            key=about.get("key"), reason=about.get("cache_bypass_reason") or about.get("cache_status_detailed"),
        )  # fmt: skip
        if cache == "aotautograd" and outcome == "hit":
            for graph in self.graphs.of_compile(event.compile_id):
                self.graphs.update(event.compile_id, graph.phase, cache=use)
            return
        phase = self._last_phase.get(event.compile_id)
        if phase is not None and cache != "aotautograd":
            self.graphs.update(event.compile_id, phase, cache=use)

    def _on_metrics(self, event: TraceEvent) -> None:
        about = event.metadata
        failed = about.get("fail_type")
        if failed and failed not in ("Unsupported", "None"):
            file, line = about.get("fail_user_frame_filename"), about.get("fail_user_frame_lineno")
            place = locate(file, int(line)) if file and line and is_user_code(file) else None
            reason = str(about.get("fail_reason") or "").strip()
            self._failed(str(failed), reason, place, event.compile_id)

    def _on_backward_failure(self, error: BaseException) -> None:
        self._failed(type(error).__name__, f"in the backward graph: {error}", None, dynamo.current_compile_id())

    def _failed(self, kind: str, reason: str, place: Location | None, compile_id: str | None) -> None:
        failure = Failure(type=kind, message=reason.splitlines()[0] if reason else kind, location=place)
        self.emit(CompileFailed(failure=failure, compile_id=compile_id))

    def _on_bracket(self, event: TraceEvent) -> None:
        about = as_json(event.payload) or event.metadata
        if not isinstance(about, dict):
            return
        name, kind = str(about.get("name")), about.get("ph")
        if kind == "B":
            before = self._clock.current
            self._clock.begin(name)
            if self._clock.current != before:
                self._progress(event.compile_id)
        elif kind == "E":
            self._clock.end(name)
            if self._clock.current is None:
                self._progressed = 0.0
                phases, total = self.phases()
                self.emit(PhasesMeasured(phases=phases, total_s=total))
                self.emit(RunProgress(progress=None))

    def _progress(self, compile_id: str | None) -> None:
        now = time.monotonic()
        phase = self._clock.current
        if phase is None or now - self._progressed < PROGRESS_EVERY_S:
            return
        self._progressed = now
        frame = self.graphs.frame(compile_id) if compile_id else None
        number = self._graph_numbers.setdefault(compile_id or "", len(self._graph_numbers) + 1)
        what = f" ({frame.name})" if frame is not None and frame.name else ""
        self.emit(
            RunProgress(
                progress=Progress(
                    message=f"Compiling graph {number}{what}: {LABELS[phase]}", at=time.time(), graph=number, phase=phase,
                    step=self.step(),
                )
            )
        )  # fmt: skip


class _LimitFilter(logging.Filter):
    """Reads the one log line that says Dynamo has given up; lets everything through."""

    def __init__(self, told: Callable[[int, str], None]) -> None:
        super().__init__()
        self._told = told

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            if str(record.msg).startswith("torch._dynamo hit config.") and isinstance(record.args, tuple):
                self._told(int(str(record.args[1])), str(record.args[2]))
        except Exception:
            logging.getLogger("stc").debug("the recompile limit's message has changed", exc_info=True)
        return True


def _shown_name(name: str) -> str:
    """The rest of a function after a graph break has a name of Dynamo's; say it in plain words."""
    resumed = _RESUME.match(name)
    return f"{resumed['name']} (from line {resumed['line']})" if resumed else name


def _is_symbolic(value: Any) -> bool:
    if type(value).__name__ in ("SymInt", "SymFloat"):
        return True
    return any(type(size).__name__ == "SymInt" for size in getattr(value, "shape", ()))


_listener: Listener | None = None


def listener() -> Listener:
    """The process's one listener; installs nothing yet."""
    global _listener
    if _listener is None:
        _listener = Listener()
    return _listener
