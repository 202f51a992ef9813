"""Watches Inductor: which operations went into which kernel, what passes through memory, and why.

Reads the scheduler when its nodes are final, puts the report into the cached artefact, and reads it back on a warm start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stc.record.types import Bytes, CacheUse, Gap, GraphPhase

from . import warm
from .code import with_code
from .graphs import GraphRegistry
from .kernels import GraphKernels
from .operations import Operations, is_computed
from .reasons import Refusals
from .torch_compat import dynamo, inductor
from .traffic import decomposed_bytes, eager_bytes

VERSION = "1"  # of what is embedded in cached artefacts; part of Inductor's cache key


class Fusion:
    """The hooks of one listening period.

    Args:
        registry: takes what becomes known of a graph.
        on_fault: told what could not be seen; never raises.
    """

    def __init__(self, registry: GraphRegistry, on_fault: Callable[[str, BaseException], None]) -> None:
        self._registry = registry
        self._on_fault = on_fault
        self._undo: list[inductor.Undo] = []
        self._refusals = Refusals()
        self._written: list[tuple[list[Any], str]] = []
        self._sequences: dict[str, dict[int, str]] = {}  # compile id: sequence number to Dynamo node
        self._eager: dict[str, tuple[int, int | None] | str] = {}  # compile id: bytes, or why not
        self._last: tuple[str, GraphPhase] | None = None  # the graph whose code was written last

    def install(self) -> list[Gap]:
        """Put in what this torch has; returns what it lacks."""
        gaps = []
        parts: tuple[tuple[str, Callable[[], inductor.Undo]], ...] = (
            ("fusion", lambda: inductor.watch_scheduler(self._on_codegen, VERSION)),
            ("kernel names", lambda: inductor.watch_kernels(self._on_kernel)),
            ("reasons for not fusing", lambda: inductor.watch_refusals(self._on_refusal)),
            ("reports in the cache", lambda: inductor.watch_lowering(self._on_lowered)),
            ("reports from the cache", lambda: inductor.watch_cache_hits(self._on_hit)),
        )
        for part, put in parts:
            try:
                self._undo.append(put())
            except Exception as error:
                gaps.append(Gap(part=part, reason=str(error) or type(error).__name__))
        self._registry.on_dynamo_graph.append(self._on_dynamo_graph)
        return gaps

    def uninstall(self) -> None:
        while self._undo:
            self._undo.pop()()
        if self._on_dynamo_graph in self._registry.on_dynamo_graph:
            self._registry.on_dynamo_graph.remove(self._on_dynamo_graph)

    # ------------------------------------------------------------------ a cold compile

    def _on_dynamo_graph(self, compile_id: str, module: Any, inputs: Any) -> None:
        try:
            self._eager[compile_id] = eager_bytes(module)
        except Exception as error:
            self._eager[compile_id] = (
                f"eager bytes are not known: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
            )

    def _on_refusal(self, first: str, second: str, reason: str) -> None:
        self._refusals.add(first, second, reason)

    def _on_kernel(self, nodes: Any, name: str) -> None:
        if isinstance(nodes, (list, tuple)):
            self._written.append(([n for n in nodes if hasattr(n, "get_name")], name))

    def _on_codegen(self, graph: Any, scheduler: Any, go_on: Callable[[], Any]) -> Any:
        self._written = []
        result = go_on()
        try:
            self._snapshot(graph, scheduler)
        except Exception as error:
            self._on_fault("fusion", error)
        finally:
            self._refusals = Refusals()
        return result

    def _snapshot(self, graph: Any, scheduler: Any) -> None:
        compile_id = dynamo.current_compile_id()
        if compile_id is None:
            return
        phase: GraphPhase = "backward" if graph.is_backward else "inference" if graph.is_inference else "forward"
        record = self._registry.update(compile_id, phase)
        frame = self._registry.frame(compile_id)
        operations = Operations(
            graph.graph, frame.lines, self._sequences.setdefault(compile_id, {}),
            # An optimizer's own lines are torch's; the user's is the one that calls step.
            otherwise=frame.location if frame.optimizer else None,
        )  # fmt: skip
        seen = GraphKernels(
            record.id, graph, scheduler, self._written, self._refusals, operations, backward=graph.is_backward
        )
        notes: list[str] = []
        self._registry.update(
            compile_id, phase,
            ops=operations.of(n for n in graph.graph.nodes if is_computed(n)),
            kernels=seen.kernels, not_fused=seen.not_fused(), folded=seen.folded(),
            dynamic=_has_symbols(graph),
            bytes=Bytes(
                fused=seen.fused_bytes(), decomposed=decomposed_bytes(graph.graph),
                eager=self._eager_of(compile_id, phase, notes), notes=notes,
            ),
        )  # fmt: skip
        self._last = (compile_id, phase)

    def _eager_of(self, compile_id: str, phase: GraphPhase, notes: list[str]) -> int | None:
        known = self._eager.get(compile_id)
        if known is None:
            notes.append("eager bytes are not known: Dynamo's graph was not seen")
            return None
        if isinstance(known, str):
            notes.append(known)
            return None
        return known[1] if phase == "backward" else known[0]

    def _on_lowered(self, module: Any, inputs: Any, compiled: Any) -> None:
        try:
            last, self._last = self._last, None
            graph = None if last is None else self._registry.get(*last)
            if graph is not None:
                warm.embed(compiled, graph)
        except Exception as error:
            self._on_fault("reports in the cache", error)

    # ------------------------------------------------------------------ a warm start

    def _on_hit(self, compiled: Any) -> None:
        try:
            compile_id = dynamo.current_compile_id()
            held = warm.read(compiled)
            if compile_id is None:
                return
            if held is None:
                self._on_fault("fusion", dynamo.Missing("a graph came from the cache without its report"))
                return
            frame = self._registry.frame(compile_id)
            otherwise = frame.location if frame.optimizer else None
            fields = warm.remapped(held, compile_id, frame.lines, otherwise)
            self._registry.update(compile_id, held.phase, cache=CacheUse(outcome="hit", cache="fx_graph"), **fields)
            attach_code(self._registry, compile_id, held.phase)
        except Exception as error:
            self._on_fault("fusion", error)


def attach_code(registry: GraphRegistry, compile_id: str, phase: GraphPhase) -> None:
    """Tell a graph's kernels where their code is, once both are known: cold the code comes last, warm the kernels."""
    graph = registry.get(compile_id, phase)
    if graph is None or not graph.kernels or graph.id not in registry.code:
        return
    text, artefact = registry.code[graph.id]
    registry.update(compile_id, phase, kernels=with_code(graph.kernels, text, artefact))


def _has_symbols(graph: Any) -> bool:
    return any(getattr(value, "free_symbols", None) or _symbolic(value) for value in graph.graph_inputs.values())


def _symbolic(value: Any) -> bool:
    try:
        return any(getattr(size, "free_symbols", None) for size in value.get_size())
    except Exception:
        return False
