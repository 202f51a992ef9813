"""What torch says during one run, turned into the run's events: the receivers of the trace.

Each remembers only what later events need. Whatever goes wrong in one becomes a gap; torch and the other receivers go on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from stc.record.events import CompileFailed, Event, PhasesMeasured, RunProgress
from stc.record.types import CacheUse, GraphPhase, Location, Progress
from stc.source.places import locate

from .breaks import Breaks
from .bus import TraceEvent, as_json
from .failures import NO_FAILURE, SOFT, described
from .fusion import attach_code
from .graphs import GraphRegistry
from .phases import LABELS, PhaseClock
from .recompiles import Recompilations, function_name
from .stacks import RESUMED, Frame, function_of, innermost, is_optimizers, is_users
from .torch_compat import dynamo

PROGRESS_EVERY_S = 0.2
_AOT_ID = re.compile(r"AOT ID: \['(?P<id>\d+)_(?P<phase>forward|backward|inference)'\]")
_CACHES = ("fx_graph_cache", "fx_graph_bundled_cache", "aotautograd_cache")
_MISSES = {"guard_miss": "It was compiled before, but for sizes that do not hold here."}


class Hearing:
    """The state of one listening period.

    Args:
        emit: receives events.
        artefact: keeps a text under a name.
        step: number of the step that is going on, or None.
        call: the compiled function that was called last, and the number of its call from 1; None where that is not counted.
        on_fault: told what could not be understood; must not raise.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        artefact: Callable[[str, str], None],
        step: Callable[[], int | None],
        call: Callable[[], tuple[object, int] | None],
        on_fault: Callable[[str, BaseException], None],
    ) -> None:
        self._emit = emit
        self._artefact = artefact
        self._step = step
        self._on_fault = on_fault
        self.graphs = GraphRegistry(emit, step, time.time)
        self.clock = PhaseClock()
        self.waiting_backward: set[str] = set()
        self.codes: dict[str, Any] = {}  # code objects by compile id
        self.given_up: dict[Any, None] = {}  # code objects that Dynamo leaves to Python from now on
        self._breaks = Breaks(emit, step, lambda: (step(), call()))
        self._recompilations = Recompilations(emit, step, lambda: made[1] if (made := call()) is not None else None)
        self._last_phase: dict[str, GraphPhase] = {}
        self._bypassed: dict[str, str] = {}  # compile id: why AOTAutograd's cache was not used
        self._numbers: dict[tuple[str | None, bool], int] = {}  # compile id, backward: number shown to the user
        self._said: tuple[int, str] | None = None
        self._said_at = 0.0

    def routes(self) -> dict[str, Callable[[TraceEvent], None]]:
        """Receiver of each kind of event."""
        caches = {f"{cache}_{outcome}": self._on_cache for cache in _CACHES for outcome in ("hit", "miss", "bypass")}
        return {
            "chromium_event": self._on_bracket,
            "dynamo_start": self._on_start,
            "dynamo_graph_break_reason": self._on_break,
            "recompile_reasons": self._recompilations.guards_failed,
            "inductor_output_code": self._on_code,
            "compilation_metrics": self._on_metrics,
            "bwd_compilation_metrics": self._on_backward_metrics,
            **caches,
        }

    # ------------------------------------------------------------------ Dynamo

    def on_graph(self, module: Any, inputs: Any) -> None:
        """Dynamo hands a graph to Inductor."""
        try:
            compile_id = dynamo.current_compile_id()
            if compile_id is None:
                return
            frame = self.graphs.frame(compile_id)
            for node in module.graph.nodes:
                place = innermost(node.meta.get("stack_trace") or getattr(node, "stack_trace", None))
                if place is None and node.op.startswith("call"):
                    place = frame.location  # all of it is torch's: the user's line is the one that calls it
                if place is not None:
                    frame.lines[node.name] = place
            frame.dynamic = any(_is_symbolic(value) for value in inputs)
            for listen in self.graphs.on_dynamo_graph:
                listen(compile_id, module, inputs)
        except Exception as error:
            self._on_fault("Dynamo graph", error)

    def _on_start(self, event: TraceEvent) -> None:
        stack = event.metadata.get("stack") or []
        if event.compile_id is None or not stack:
            return
        last = stack[-1]
        name, file = str(last.get("name")), dynamo.file_of(last.get("filename")) or ""
        being = dynamo.frame_being_compiled()
        if being is not None:
            self.codes[event.compile_id] = being[0]
        shown = plain_name(name if being is None else function_name(being[0], being[1]))
        place = None
        for frame in reversed(stack):
            caller = dynamo.file_of(frame.get("filename")) or ""
            if is_users(caller):
                place = locate(caller, int(frame["line"]), function=function_of(frame.get("name")))
                break
        self.graphs.set_frame(event.compile_id, shown, place, optimizer=is_optimizers(file))
        self._recompilations.compile_started()

    def _on_break(self, event: TraceEvent) -> None:
        frame = self.graphs.frame(event.compile_id or "")
        self._breaks.add(str(event.payload), event.compile_id, within=frame.name, optimizer=frame.optimizer)

    def _on_metrics(self, event: TraceEvent) -> None:
        """A frame is done with: compiled, given up, or failed."""
        compile_id, about = event.compile_id, event.metadata
        if compile_id is None:
            return
        failed, reason = about.get("fail_type"), str(about.get("fail_reason") or "").strip()
        optimizer = self.graphs.frame(compile_id).optimizer
        if failed is None:
            self._recompilations.compile_ended(compile_id)
            if about.get("guard_count") is None and about.get("has_guarded_code"):
                # How torch up to 2.12 tells of a frame that it skips.
                self._breaks.skipped(compile_id, None, None, optimizer=optimizer)
            self._compiled(compile_id, about, backward=False)
            return
        self.graphs.drop(compile_id)
        self.waiting_backward.discard(compile_id)
        being = dynamo.frame_being_compiled()
        if being is not None:
            self.given_up[being[0]] = None
        file, line = about.get("fail_user_frame_filename"), about.get("fail_user_frame_lineno")
        where = Frame(file, int(line), about.get("co_name")) if file and line else None
        if self._recompilations.compile_failed(compile_id, failed, reason) or failed in NO_FAILURE:
            return
        if failed in SOFT:
            self._breaks.skipped(compile_id, reason or None, where, optimizer=optimizer)
            return
        place = where.location() if where is not None and is_users(where.file) else None
        self._failed(compile_id, failed, reason, place)

    def _on_backward_metrics(self, event: TraceEvent) -> None:
        if event.compile_id is not None:
            self.waiting_backward.discard(event.compile_id)
            self._compiled(event.compile_id, event.metadata, backward=True)

    def on_backward_failure(self, error: BaseException) -> None:
        """Inductor failed on a backward graph, which runs as it is."""
        compile_id = dynamo.current_compile_id()
        if compile_id is not None:
            self.waiting_backward.discard(compile_id)
            self.graphs.drop(compile_id, backward=True)
        self._failed(compile_id, type(error).__name__, f"in the backward graph: {error}", None)

    def _failed(self, compile_id: str | None, kind: str, reason: str, place: Location | None) -> None:
        failure = described(kind, reason, place)
        if failure.location is None and compile_id is not None:
            frame = self.graphs.frame(compile_id)
            failure = described(kind, reason, frame.location)
        self._emit(CompileFailed(failure=failure, compile_id=compile_id))

    def _compiled(self, compile_id: str, about: Any, *, backward: bool) -> None:
        """How long it took, and what is known by now of its graphs."""
        took = about.get("duration_us")
        off = dynamo.caches_off()
        for graph in self.graphs.of_compile(compile_id):
            fields: dict[str, Any] = {}
            if (graph.phase == "backward") == backward and took is not None:
                fields["compile_s"] = took / 1e6
            if graph.cache is None and off is not None:
                fields["cache"] = CacheUse(outcome="off", reason=off)
            if fields:
                self.graphs.update(compile_id, graph.phase, **fields)
        self.graphs.release(compile_id)

    # ------------------------------------------------------------------ Inductor and the caches

    def _on_code(self, event: TraceEvent) -> None:
        text = str(event.payload)
        match = _AOT_ID.search(text)
        if match is None or event.compile_id is None:
            return
        phase: GraphPhase = match["phase"]  # type: ignore[assignment]
        self._last_phase[event.compile_id] = phase
        name = f"{event.compile_id.replace('/', '.').replace('!', 'a')}-{phase}.py"
        graph = self.graphs.update(event.compile_id, phase, code=name)
        self.graphs.code[graph.id] = (text, name)
        self._artefact(name, text)
        attach_code(self.graphs, event.compile_id, phase)
        if phase == "forward":
            self.waiting_backward.add(event.compile_id)
        elif phase == "backward":
            self.waiting_backward.discard(event.compile_id)

    def _on_cache(self, event: TraceEvent) -> None:
        if event.compile_id is None:
            return
        cache, _, outcome = event.name.rpartition("_")
        about = as_json(event.payload)
        about = about if isinstance(about, dict) else {}
        cache = cache.removesuffix("_cache")
        why = about.get("cache_bypass_reason")
        if cache == "aotautograd" and outcome == "bypass":
            self._bypassed[event.compile_id] = f"AOTAutograd's cache is not used: {why}" if why else ""
        reason = why or _MISSES.get(str(about.get("cache_status_detailed")))
        use = CacheUse(
            outcome="hit" if outcome == "hit" else "bypass" if outcome == "bypass" else "miss", cache=cache,
            key=about.get("key"), reason=reason or self._bypassed.get(event.compile_id) or None,
        )  # fmt: skip
        if cache == "aotautograd" and outcome == "hit":
            for graph in self.graphs.of_compile(event.compile_id):
                self.graphs.update(event.compile_id, graph.phase, cache=use)
            return
        phase = self._last_phase.get(event.compile_id)
        if phase is not None and cache != "aotautograd":
            self.graphs.update(event.compile_id, phase, cache=use)

    # ------------------------------------------------------------------ time

    def _on_bracket(self, event: TraceEvent) -> None:
        about = as_json(event.payload) or event.metadata
        if not isinstance(about, dict):
            return
        name, kind = str(about.get("name")), about.get("ph")
        if kind == "B":
            before = self.clock.current
            if before is None:
                self.graphs.release()  # of a compile whose end torch has not told of
            self.clock.begin(name)
            if self.clock.current != before:
                self._progress(event.compile_id)
        elif kind == "E" and self.clock.end(name):
            self._said, self._said_at = None, 0.0
            self._emit(PhasesMeasured(phases=self.clock.phases(), total_s=self.clock.total_s()))
            self._emit(RunProgress(progress=None))

    def _progress(self, compile_id: str | None) -> None:
        phase = self.clock.current
        if phase is None:
            return
        backward = self.clock.backward
        number = self._numbers.setdefault((compile_id, backward), len(self._numbers) + 1)
        now = time.monotonic()
        # The C++ compiler is what one waits for: it is always told of, anything else a few times a second.
        if self._said == (number, phase) or (phase != "compile" and now - self._said_at < PROGRESS_EVERY_S):
            return
        self._said, self._said_at = (number, phase), now
        frame = self.graphs.frame(compile_id) if compile_id else None
        kind = "optimizer" if frame is not None and frame.optimizer else "backward" if backward else "forward"
        message = f"Compiling graph {number} ({kind}): {LABELS[phase]}"
        self._emit(
            RunProgress(
                progress=Progress(message=message, at=time.time(), graph=number, phase=phase, step=self._step())
            )
        )


def plain_name(name: str) -> str:
    """The rest of a function after a graph break has a name of Dynamo's; say it in plain words."""
    resumed = RESUMED.match(name)
    return f"{resumed['name']} (from line {resumed['line']})" if resumed else name


def _is_symbolic(value: Any) -> bool:
    if type(value).__name__ in ("SymInt", "SymFloat"):
        return True
    return any(type(size).__name__ == "SymInt" for size in getattr(value, "shape", ()))
