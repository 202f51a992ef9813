"""Watches Inductor: which operations went into which kernel, what passes through memory, and why.

Reads the scheduler when its nodes are final, puts the report into the cached artefact, and reads it back on a warm start.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from stc.record.types import Bytes, CacheUse, Gap, Graph, GraphPhase, Kernel, Location, NotFused, Operation

from . import warm
from .code import with_code
from .graphs import Frame, GraphRegistry
from .kernels import GraphKernels, total
from .operations import Operations, operator_name
from .snapshot import Snapshot
from .torch_compat import dynamo, inductor
from .traffic import EagerGraph, NotCountable, decomposed_bytes

VERSION = str(warm.FORMAT)  # part of Inductor's cache key: a report of another format is another entry
PART = "fusion"
MOST_EDGES = 5000  # of one graph: what a reader can use and a report can carry


class _Compile:
    """One graph that Inductor is compiling. Graphs inside it (branches, loops) leave snapshots of their own."""

    def __init__(self, phase: GraphPhase) -> None:
        self.phase = phase
        self.snapshots: list[Snapshot] = []
        self.ops: list[Operation] = []
        self.labels: dict[str, str] = {}


class _Known:
    """What is known of one compile id, for all of its graphs."""

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.traced: list[EagerGraph] = []  # Dynamo's graphs, until they are counted
        self.eager: tuple[int, int | None] | str | None = None  # bytes of forward and backward, or why not
        self.inputs: list[str] = []
        self.labels: dict[str, str] = {}  # what each graph input is
        self.calls: dict[str, str] = {}  # Dynamo nodes that ask for an operation, in order, and which
        self.sequences: dict[int, str] = {}
        self.merged: dict[GraphPhase, Graph] = {}


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
        self._known: dict[str, _Known] = {}
        self._local = threading.local()  # a backward may be compiled on a thread of autograd's

    def install(self) -> list[Gap]:
        """Put in what this torch has; returns what it lacks."""
        gaps = []
        parts: tuple[tuple[str, Callable[[], inductor.Undo]], ...] = (
            (PART, lambda: inductor.watch_scheduler(self._on_graph, self._on_fault, VERSION)),
            ("reasons for not fusing", inductor.watch_refusals),
            ("fusion reports", lambda: inductor.watch_lowering(self)),
            ("reports from the cache", lambda: inductor.watch_cache_hits(self._on_hit)),
            ("lines of graphs from the cache", lambda: inductor.watch_lookups(self._on_lookup)),
        )
        for part, put in parts:
            try:
                self._undo.append(put())
            except Exception as error:
                gaps.append(Gap(part=part, reason=str(error) or type(error).__name__))
        if all(gap.part != PART for gap in gaps):
            with suppress(dynamo.Missing):  # a torch that overwrites nothing needs no sparing
                self._undo.append(inductor.spare_saved_tensors())
        self._registry.on_dynamo_graph.append(self._on_dynamo_graph)
        return gaps

    def uninstall(self) -> None:
        """Take everything out again, in the reverse order."""
        if self._on_dynamo_graph in self._registry.on_dynamo_graph:
            self._registry.on_dynamo_graph.remove(self._on_dynamo_graph)
        while self._undo:
            self._undo.pop()()
        self._known.clear()

    # ------------------------------------------------------------------ Dynamo

    def _of(self, compile_id: str) -> _Known:
        known = self._known.get(compile_id)
        attempt = inductor.attempt()
        if known is None or known.attempt != attempt:  # Dynamo began anew: what it said before is void
            known = self._known[compile_id] = _Known(attempt)
        return known

    def _on_dynamo_graph(self, compile_id: str, module: Any, inputs: Any) -> None:
        try:
            known = self._of(compile_id)
            known.inputs = [_plain_name(name) for name in inductor.input_names(module)]
            known.calls.update((n.name, operator_name(n)) for n in module.graph.nodes if n.op.startswith("call"))
            known.eager = None
            known.traced.append(EagerGraph(module))
        except Exception as error:
            self._on_fault("bytes", error)

    # ------------------------------------------------------------------ a cold compile

    @property
    def _stack(self) -> list[_Compile | None]:
        stack: list[_Compile | None] | None = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = []
        return stack

    def begin(self, module: Any, *, backward: bool, inference: bool) -> None:
        """Inductor starts on a graph."""
        compiling = None
        self._local.wanted = None
        try:
            compile_id = dynamo.current_compile_id()
            if compile_id is not None:
                compiling = _Compile("backward" if backward else "inference" if inference else "forward")
                known = self._of(compile_id)
                compiling.ops = self._operations(compile_id, module.graph, compiling.phase).every()
                if not backward:
                    known.labels.update(_labels(module, known.inputs))
                compiling.labels = _saved(module, known.labels) if backward else known.labels
        except Exception as error:
            self._on_fault(PART, error)
        finally:
            self._stack.append(compiling)

    def _on_graph(self, snapshot: Snapshot) -> None:
        if self._stack and self._stack[-1] is not None:
            # A C++ wrapper for a GPU is written in two passes over the same graph; the second counts.
            others = [s for s in self._stack[-1].snapshots if s.fx is not snapshot.fx]
            self._stack[-1].snapshots = [*others, snapshot]

    def end(self, compiled: Any | None) -> None:
        """Inductor has done with it; ``compiled`` is None where it failed."""
        try:
            compiling = self._stack.pop()
            compile_id = dynamo.current_compile_id()
            if compiled is None and compile_id is not None:
                self._known.pop(compile_id, None)
            if compiling is None or compiled is None or compile_id is None:
                return
            if not compiling.snapshots:
                why = inductor.elsewhere() or "another pass before fusion was set while this graph was compiled"
                raise dynamo.Missing(why)
            graph = self._report(compile_id, compiling)
            known = self._of(compile_id)
            warm.embed(
                compiled,
                warm.Embedded(
                    format=warm.FORMAT, graph=graph, eager=known.eager, calls=list(known.calls.items()),
                    sequences=known.sequences if compiling.phase == "forward" else {},
                ),
            )  # fmt: skip
        except Exception as error:
            self._on_fault(PART, error)

    def _operations(self, compile_id: str, graph: Any, phase: GraphPhase) -> Operations:
        frame = self._registry.frame(compile_id)
        return Operations(
            graph, frame.lines, self._of(compile_id).sequences, backward=phase == "backward",
            otherwise=_caller(frame),
        )  # fmt: skip

    def _report(self, compile_id: str, compiling: _Compile) -> Graph:
        """Put one compiled graph's records together and send them. Returns this graph alone, for the cache."""
        phase = compiling.phase
        known = self._of(compile_id)
        identity = (self._registry.get(compile_id, phase) or self._registry.update(compile_id, phase)).id
        before = known.merged.get(phase)  # DDP has Dynamo's graph compiled in parts
        kernels: list[Kernel] = []
        not_fused: list[NotFused] = []
        fused: list[int | None] = []
        decomposed: list[int | None] = []
        for snapshot in compiling.snapshots:
            operations = self._operations(compile_id, snapshot.fx, phase)
            first = len(kernels) + (0 if before is None else len(before.kernels))
            seen = GraphKernels(identity, snapshot, operations, compiling.labels, first)
            kernels += seen.kernels
            not_fused += seen.not_fused()
            fused.append(seen.fused_bytes())
            decomposed.append(decomposed_bytes(snapshot.fx))
        if len(not_fused) > MOST_EDGES:
            kept = (
                f"reasons are kept for {MOST_EDGES:,} of the {len(not_fused):,} pairs of neighbours in graph {identity}"
            )
            self._on_fault("reasons for not fusing", dynamo.Missing(kept))
            del not_fused[MOST_EDGES:]
        notes: list[str] = []
        if any(unit.call_kind == "other" for s in compiling.snapshots for unit in s.units):
            notes.append("Fused bytes count every branch, and one turn of each loop, of the graphs inside this one.")
        moved = Bytes(
            fused=_sum(fused, "fused", notes), decomposed=_sum(decomposed, "decomposed", notes),
            eager=self._eager_bytes(known, phase, notes), notes=notes,
        )  # fmt: skip
        alone = Graph(
            id=identity, phase=phase, ops=compiling.ops, kernels=kernels, not_fused=not_fused, bytes=moved,
            dynamic=any(s.dynamic for s in compiling.snapshots),
        )  # fmt: skip
        whole = alone if before is None else _merged(before, alone)
        known.merged[phase] = whole
        self._registry.update(
            compile_id, phase, ops=whole.ops, kernels=whole.kernels, not_fused=whole.not_fused, bytes=whole.bytes,
            dynamic=whole.dynamic, folded=self._folded(compile_id, phase, whole),
        )  # fmt: skip
        attach_code(self._registry, compile_id, phase)
        return alone

    def _eager_bytes(self, known: _Known, phase: GraphPhase, notes: list[str]) -> int | None:
        if known.eager is None:
            known.eager = _count(known.traced)
            known.traced = []
        if isinstance(known.eager, str):
            notes.append(known.eager)
            return None
        if phase == "backward" and known.eager[1] is None:
            notes.append("Eager bytes are not known: run eager, this graph has no backward.")
        return known.eager[1 if phase == "backward" else 0]

    def _folded(self, compile_id: str, phase: GraphPhase, graph: Graph) -> list[Location]:
        """Lines of which no operation is left in a kernel."""
        used = {(op.location.file, op.location.line) for k in graph.kernels for op in k.ops if op.location is not None}
        if phase == "backward":
            places = [op.location for op in graph.ops if op.location is not None]
        else:
            lines, calls = self._registry.lines(compile_id), self._of(compile_id).calls
            places = [place for name, place in lines.items() if name in calls]
        return list({(p.file, p.line): p for p in places if (p.file, p.line) not in used}.values())

    # ------------------------------------------------------------------ a warm start

    def _on_lookup(self, module: Any) -> None:
        self._local.wanted = module

    def _on_hit(self, compiled: Any) -> None:
        # AOTAutograd's own cache brings the graph without Inductor having looked for it.
        wanted, self._local.wanted = getattr(self._local, "wanted", None), None
        try:
            compile_id = dynamo.current_compile_id()
            if compile_id is None:
                return
            held = warm.read(compiled)
            if held is None:
                raise dynamo.Missing("a graph came from the cache without its report")
            known = self._of(compile_id)
            if held.graph.phase != "backward":
                known.eager, known.traced = held.eager, []
            frame = self._registry.frame(compile_id)
            phase = held.graph.phase
            if wanted is None:
                names = warm.same_calls(held.calls, list(known.calls.items()))
                known.sequences.update({s: names[n] for s, n in held.sequences.items() if n in names})
            else:
                names = warm.same_operations(held.graph.ops, self._operations(compile_id, wanted.graph, phase).every())
            lost = sum(op.node is not None and op.node not in names for op in held.graph.ops)
            if lost:
                other = f"of {lost} of its operations, since it came from the cache, where another program left it"
                self._on_fault("lines of graphs from the cache", dynamo.Missing(f"{phase} {compile_id}: {other}"))
            identity = (self._registry.get(compile_id, phase) or self._registry.update(compile_id, phase)).id
            fields = warm.remapped(held.graph, identity, names, frame.lines, _caller(frame))
            graph = self._registry.update(compile_id, phase, cache=CacheUse(outcome="hit", cache="fx_graph"), **fields)
            self._registry.update(compile_id, phase, folded=self._folded(compile_id, phase, graph))
            attach_code(self._registry, compile_id, phase)
        except Exception as error:
            self._on_fault(PART, error)


def attach_code(registry: GraphRegistry, compile_id: str, phase: GraphPhase) -> None:
    """Tell a graph's kernels where their code is, once both are known."""
    graph = registry.get(compile_id, phase)
    if graph is None or not graph.kernels or graph.id not in registry.code:
        return
    text, artefact = registry.code[graph.id]
    registry.update(compile_id, phase, kernels=with_code(graph.kernels, text, artefact))


def _caller(frame: Frame) -> Location | None:
    """The user's line that leads into a compiled frame of torch's own, such as an optimizer's step or a stock module."""
    place = frame.location
    return place if place is not None and (frame.optimizer or place.function != frame.name) else None


def _count(traced: list[EagerGraph]) -> tuple[int, int | None] | str:
    if not traced:
        return "Eager bytes are not known: Dynamo's graph was not seen."
    forward, backward = 0, None
    try:
        for graph in traced:
            there, back = graph.count()
            forward += there
            if back is not None:
                backward = back + (backward or 0)
    except NotCountable as error:
        return f"Eager bytes are not known: {error}."
    return forward, backward


def _sum(parts: list[int | None], what: str, notes: list[str]) -> int | None:
    whole = total(parts)
    if whole is None:
        notes.append(f"{what.capitalize()} bytes are not known: a size depends on the data.")
    return whole


def _merged(before: Graph, more: Graph) -> Graph:
    """Two parts of one graph. A figure that one of them lacks is not known of the whole."""
    one, other = before.bytes or Bytes(), more.bytes or Bytes()

    return Graph(
        id=before.id, phase=before.phase, ops=[*before.ops, *more.ops], kernels=[*before.kernels, *more.kernels],
        not_fused=[*before.not_fused, *more.not_fused], dynamic=bool(before.dynamic or more.dynamic),
        bytes=Bytes(
            fused=total([one.fused, other.fused]), decomposed=total([one.decomposed, other.decomposed]), eager=other.eager,
            notes=[*one.notes, *(n for n in other.notes if n not in one.notes)],
        ),
    )  # fmt: skip


def _labels(module: Any, inputs: list[str]) -> dict[str, str]:
    """Name of each input of an AOTAutograd graph to what people call it."""
    holders = [n for n in module.graph.nodes if n.op == "placeholder"]
    found = {}
    for position, node in enumerate(holders):
        number = inductor.input_number(node, position if len(holders) == len(inputs) else None)
        if number is not None and number < len(inputs) and inputs[number]:
            found[node.name] = f"graph input {inputs[number]}"
    return found


def _saved(module: Any, forward: dict[str, str]) -> dict[str, str]:
    """What the inputs of a backward graph are: inputs of the forward, what it saved, and gradients of its outputs."""
    return {
        n.name: "gradient of an output" if n.name.startswith("tangents_") else forward.get(n.name, "saved by the forward")
        for n in module.graph.nodes if n.op == "placeholder"
    }  # fmt: skip


_WORDS = re.compile(r"\[['\"]?(?P<key>[^'\"\]]+)['\"]?\]|\.(?P<attribute>\w+)")
_PLUMBING = {"self", "fn", "_modules", "_parameters", "_buffers", "__dict__", "_dynamo_graph"}


def _plain_name(source: str) -> str:
    """ "lin.weight" for L['self']._modules['lin']._parameters['weight']."""
    words = [m["key"] or m["attribute"] for m in _WORDS.finditer(source)]
    return ".".join(w for w in words if w not in _PLUMBING)
