"""The kernels of one Inductor graph, read from the scheduler when its nodes are final and their code is written.

A library call is one node. A generated kernel is one or more nodes: on the CPU one C++ function can hold several loop nests,
which are groups of it and not fused with each other.
"""

from __future__ import annotations

from typing import Any

from stc.record.types import Group, Kernel, KernelKind, Layout, Location, NotFused, Operation

from .operations import Operations, is_computed, slice_back
from .reasons import Refusals, explain
from .torch_compat import inductor


class GraphKernels:
    """Kernels, edges between them and folded lines of one graph.

    Args:
        graph: Inductor's GraphLowering. scheduler: its scheduler, after code generation.
        written: scheduler nodes and name of each generated kernel, as they were written.
    """

    def __init__(
        self, identity: str, graph: Any, scheduler: Any, written: list[tuple[list[Any], str]], refusals: Refusals,
        operations: Operations, backward: bool,
    ) -> None:  # fmt: skip
        self._identity = identity
        self._graph = graph
        self._operations = operations
        self._refusals = refusals
        self._backward = backward
        self._nodes = [n for n in scheduler.nodes if type(n).__name__ != "NopKernelSchedulerNode"]
        self._by_buffer = {name: node for node in self._nodes for name in _written_names(node)}
        self._fx_buffer = self._fx_buffers()
        self._returned = self._returned_buffers()
        self.kernels: list[Kernel] = []
        self._groups: list[tuple[Any, str, int]] = []  # final node, id of its kernel, its group in it
        self._build(written)

    # ------------------------------------------------------------------ kernels

    def _build(self, written: list[tuple[list[Any], str]]) -> None:
        kernel_of: dict[str, int] = {}  # operation name: number of the generated kernel that holds it
        for position, (nodes, _) in enumerate(written):
            for node in nodes:
                kernel_of.setdefault(node.get_name(), position)
        gathered: dict[int, list[Any]] = {}
        found: list[tuple[list[Any], str, Any]] = []
        for final in self._nodes:
            base = final.get_nodes()
            if len(base) == 1 and base[0].node is not None and inductor.is_library_call(base[0].node):
                found.append(([final], _call_name(base[0].node), base[0].node))
                continue
            number: int | None = next((kernel_of[n.get_name()] for n in base if n.get_name() in kernel_of), None)
            if number is None:
                found.append(([final], final.get_name(), None))
            elif number in gathered:
                gathered[number].append(final)
            else:
                gathered[number] = [final]
                found.append((gathered[number], written[number][1], None))
        for position, (finals, name, call) in enumerate(found):
            self.kernels.append(self._kernel(f"{self._identity}:{position}", name, finals, call))

    def _kernel(self, kernel_id: str, name: str, finals: list[Any], call: Any) -> Kernel:
        operations: list[Operation] = []
        groups: list[Group] = []
        notes: list[str] = []
        kind: KernelKind
        for final in finals:
            nodes, exact = self._computed_by(final)
            mine = self._operations.of(nodes)
            groups.append(
                Group(
                    ops=list(range(len(operations), len(operations) + len(mine))),
                    nodes=[n.get_name() for n in final.get_nodes()],
                )
            )
            operations.extend(mine)
            self._groups.append((final, kernel_id, len(groups) - 1))
            if not exact and "Operations are approximate: Inductor did not say what each loop computes." not in notes:
                notes.append("Operations are approximate: Inductor did not say what each loop computes.")
        reads, writes = self._traffic(finals)
        device = next((n.get_device() for f in finals for n in f.get_nodes() if n.get_device() is not None), None)
        if call is not None:
            kind = "fallback" if inductor.is_fallback(call) else "library"
        else:
            kind = "cpp" if device is None or device.type == "cpu" else "triton"
        return Kernel(
            id=kernel_id, name=name, kind=kind, ops=operations, groups=groups, notes=notes,
            bytes_read=_total(reads), bytes_written=_total(writes), layout=self._layouts(reads, writes),
        )  # fmt: skip

    def _computed_by(self, final: Any) -> tuple[list[Any], bool]:
        """FX nodes of a final scheduler node, and whether that is certain."""
        own = _written_names(final)
        inner = {n.node.get_name() for n in final.get_nodes() if n.node is not None} | set(own)
        reads = {dep.name for dep in final.read_writes.reads} - inner
        cut = {fx for fx, buffer in self._fx_buffer.items() if buffer in reads}
        starts, loose = [], []
        for node in final.get_nodes():
            if node.node is None:
                continue
            origin = getattr(node.node, "origin_node", None)
            if origin is not None:
                starts.append(origin)
            else:
                loose.extend(node.node.origins)
        sliced = slice_back(starts, lambda fx: fx in cut)
        allowed = {fx for node in final.get_nodes() if node.node is not None for fx in node.node.origins}
        # A slice can run past what is materialised under another name; origins bound it from the other side.
        kept = [fx for fx in sliced if fx in allowed or fx in starts] if allowed else sliced
        extra = [fx for fx in loose if fx not in cut and fx not in kept]
        order = {fx: i for i, fx in enumerate(self._graph.graph.nodes)}
        return sorted({*kept, *extra}, key=lambda fx: order.get(fx, 0)), not (loose and not starts)

    # ------------------------------------------------------------------ memory

    def _traffic(self, finals: list[Any]) -> tuple[dict[str, int | None], dict[str, int | None]]:
        """Bytes read from and written to each buffer by one execution; within a fused node nothing passes through memory."""
        reads: dict[str, int | None] = {}
        writes: dict[str, int | None] = {}
        for final in finals:
            try:
                for name, size in final.get_read_write_buffer_accesses(
                    include_reads=True, include_writes=False
                ).items():
                    _accumulate(reads, name, inductor.size_hint(size))
                for name, size in final.get_read_write_buffer_accesses(
                    include_reads=False, include_writes=True
                ).items():
                    _accumulate(writes, name, inductor.size_hint(size))
            except Exception:
                for dep in final.read_writes.reads:
                    reads.setdefault(dep.name, None)
                for name in _written_names(final):
                    writes.setdefault(name, None)
        gone = self._graph.removed_buffers
        return ({n: s for n, s in reads.items() if n not in gone}, {n: s for n, s in writes.items() if n not in gone})

    def _layouts(self, reads: dict[str, int | None], writes: dict[str, int | None]) -> list[Layout]:
        found = []
        for role, names in (("read", reads), ("write", writes)):
            for name in names:
                layout = self._layout(name, "read" if role == "read" else "write")
                if layout is not None:
                    found.append(layout)
        return found

    def _layout(self, name: str, role: Any) -> Layout | None:
        try:
            held = self._graph.graph_inputs.get(name) or self._graph.try_get_buffer(name)
            layout = held.get_layout()
            sizes, strides = list(layout.size), list(layout.stride)
            return Layout(
                buffer=name, role=role, dtype=str(layout.dtype).removeprefix("torch."), shape=[str(s) for s in sizes],
                stride=[str(s) for s in strides], format=_format(sizes, strides), reason=self._why_in_memory(name),
            )  # fmt: skip
        except Exception:
            return None

    def _why_in_memory(self, name: str) -> str | None:
        if name in self._graph.graph_inputs:
            return "graph input"
        if name in self._returned:
            return self._returned[name]
        writer = self._by_buffer.get(name)
        readers = [n for n in self._nodes if n is not writer and name in {d.name for d in n.read_writes.reads}]
        if len(readers) > 1:
            return f"read by {len(readers)} kernels or loop nests"
        return "read by another kernel or loop nest" if readers else None

    def _returned_buffers(self) -> dict[str, str]:
        names = [str(n) for n in self._graph.get_output_names()]
        if self._backward:
            return dict.fromkeys(names, "gradient")
        count = None if getattr(self._graph, "is_inference", False) else inductor.forward_returns()
        found: dict[str, str] = {}
        for position, name in enumerate(names):
            saved = count is not None and position >= count
            reason = "saved for backward" if saved else "returned"
            found[name] = f"{found[name]} and {reason}" if name in found and found[name] != reason else reason
        return found

    def _fx_buffers(self) -> dict[Any, str]:
        found = {}
        for name, buffer in self._graph.name_to_buffer.items():
            origin = getattr(buffer, "origin_node", None)
            if origin is not None:
                found[origin] = name
        return found

    # ------------------------------------------------------------------ edges and folded lines

    def not_fused(self) -> list[NotFused]:
        """One entry for each pair of neighbours between which a result passes through memory."""
        by_id = {k.id: k for k in self.kernels}
        place = {id(final): (kernel_id, group) for final, kernel_id, group in self._groups}
        edges: dict[tuple[str, int, str, int], list[str]] = {}
        pairs: dict[tuple[str, int, str, int], tuple[Any, Any]] = {}
        for final, kernel_id, group in self._groups:
            for dep in final.read_writes.reads:
                writer = self._by_buffer.get(dep.name)
                if writer is None or writer is final or id(writer) not in place:
                    continue
                key = (*place[id(writer)], kernel_id, group)
                buffers = edges.setdefault(key, [])
                pairs[key] = (writer, final)
                if dep.name not in buffers:
                    buffers.append(dep.name)
        found = []
        for key, buffers in edges.items():
            writer, reader = pairs[key]
            said = self._refusals.between(_names(writer), _names(reader))
            reason, detail = explain(said, by_id[key[0]], by_id[key[2]])
            found.append(
                NotFused(
                    first=key[0],
                    second=key[2],
                    first_group=key[1],
                    second_group=key[3],
                    reason=reason,
                    detail=detail,
                    buffers=buffers,
                )
            )
        return found

    def folded(self) -> list[Location]:
        """Places whose operations are in no kernel: constants, dead code and views."""
        used = {(op.location.file, op.location.line) for k in self.kernels for op in k.ops if op.location is not None}
        every = self._operations.places(n for n in self._graph.graph.nodes if is_computed(n))
        return list({(p.file, p.line): p for p in every if (p.file, p.line) not in used}.values())

    def fused_bytes(self) -> int | None:
        parts = [b for k in self.kernels for b in (k.bytes_read, k.bytes_written)]
        return None if any(b is None for b in parts) else sum(b for b in parts if b is not None)


def _written_names(final: Any) -> list[str]:
    return [out.get_name() for out in final.get_outputs()]


def _names(final: Any) -> frozenset[str]:
    return frozenset(n.get_name() for n in final.get_nodes())


def _call_name(node: Any) -> str:
    for name in ("python_kernel_name", "cpp_kernel_name"):
        held = getattr(node, name, None)
        if isinstance(held, str) and held:
            return held
    overload = getattr(node, "op_overload", None)
    return str(overload) if overload is not None else type(node).__name__


def _accumulate(into: dict[str, int | None], name: str, size: int | None) -> None:
    before = into.get(name, 0)
    into[name] = None if size is None or before is None else before + size


def _total(sizes: dict[str, int | None]) -> int | None:
    return None if any(s is None for s in sizes.values()) else sum(s for s in sizes.values() if s is not None)


def _format(sizes: list[Any], strides: list[Any]) -> str | None:
    """Name of a memory format, for sizes over 1; None where they are symbolic and cannot be told."""
    try:
        size, stride = [int(s) for s in sizes], [int(s) for s in strides]
    except (TypeError, ValueError):
        return None
    dims = [i for i, s in enumerate(size) if s > 1]

    def dense(order: list[int]) -> bool:
        expected = 1
        for dim in reversed([d for d in order if d in dims]):
            if stride[dim] != expected:
                return False
            expected *= size[dim]
        return True

    rank = list(range(len(size)))
    if dense(rank):
        return "contiguous"
    if len(size) in (4, 5) and dense([0, *rank[2:], 1]):
        return "channels_last"
    if len(size) >= 2 and dense([*rank[:-2], rank[-1], rank[-2]]):
        return "transposed"
    return "strided"
