"""Reads Inductor's scheduler into a `Snapshot`. The only file that knows how its nodes, buffers and dependencies look.

Works on what is there: a field that this torch lacks leaves its part of the snapshot empty rather than failing the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from stc.capture.snapshot import Access, Attempt, Buffer, CallKind, Leaf, Snapshot, Unit, UnitKind, Written

# Calls that only serve the host: reading a scalar, checking a size.
_HOST = {
    "DynamicScalar",
    "AssertScalar",
    "DynamicSelectStorageOffset",
    "DynamicSliceSize",
    "MemoryCheckKernel",
    "TMADescriptor",
}
_SUBGRAPH = {
    "InvokeSubgraph": "invoke_subgraph",
    "Conditional": "cond",
    "WhileLoop": "while_loop",
    "SubgraphBuffer": "subgraph",
}
# Operators that Inductor leaves to eager's kernel because a tuned library stands behind it.
_LIBRARY = (
    "conv", "_scaled_dot_product", "_flash_attention", "_efficient_attention", "_cudnn", "cudnn", "miopen", "mkldnn",
    "onednn", "mkl", "lstm", "gru", "rnn", "mm", "bmm", "addmm", "baddbmm", "_scaled_mm", "_int_mm", "linear",
    "_fft", "linalg", "cholesky", "triangular_solve", "all_reduce", "all_gather", "reduce_scatter", "wait_tensor",
    "_grouped_mm", "_weight_int4pack_mm",
)  # fmt: skip


def read(
    graph: Any, scheduler: Any, written: list[tuple[str, str, list[Any]]], attempts: list[Attempt], returns: int | None
) -> Snapshot:
    """The snapshot of one graph, right after its code was generated.

    Args:
        graph: Inductor's GraphLowering. scheduler: its scheduler.
        written: name, backend class and nodes of each generated kernel, in order.
        returns: how many outputs of a forward go to the user.
    """
    from torch._inductor import config

    reader = _Reader(graph, dict(getattr(scheduler, "mutation_real_name", {})))
    units: list[Unit] = []
    made_of: dict[str, tuple[str, ...]] = {}
    results: dict[str, list[str]] = {}
    for node in scheduler.nodes:
        kind = _kind(node)
        if kind == "none":
            parts = tuple(dep.name for dep in node.read_writes.reads)
            for out in node.get_outputs():
                made_of[out.get_name()] = parts
        elif _class(node.node) == "MultiOutput":
            # One result of a call before it: the same memory under a name of its own.
            for out in node.get_outputs():
                made_of[out.get_name()] = tuple(dep.name for dep in node.read_writes.reads)
                for parent in made_of[out.get_name()]:
                    results.setdefault(parent, []).append(out.get_name())
        else:
            units.append(reader.unit(node, kind))
    return Snapshot(
        units=units,
        written=[_written(*one) for one in written],
        attempts=attempts,
        buffers=reader.buffers(),
        inputs=list(graph.graph_inputs),
        outputs=_outputs(graph),
        fx=graph.graph,
        fx_buffers=reader.fx_buffers(),
        real_names=reader.real_names,
        made_of=made_of,
        results=results,
        removed=frozenset(graph.removed_buffers) | frozenset(getattr(graph, "inplaced_to_remove", ())),
        returns=returns,
        backward=bool(getattr(graph, "is_backward", False)),
        inference=bool(getattr(graph, "is_inference", False)),
        dynamic=_is_dynamic(graph),
        max_bodies=getattr(getattr(config, "cpp", None), "max_horizontal_fusion_size", None),
    )


def names_in(name: str) -> frozenset[str]:
    """The nodes before fusion that a scheduler node's name lists: "op1_op2" is op1 and op2."""
    parts = name.split("_")
    return frozenset(parts) if all(p[:2] == "op" and p[2:].isdigit() for p in parts) else frozenset([name])


class _Reader:
    def __init__(self, graph: Any, real_names: dict[str, str]) -> None:
        self._graph = graph
        self.real_names = real_names
        self._buffers: dict[str, Buffer | None] = {}
        self._hints: dict[Any, int | None] = {}

    # ------------------------------------------------------------------ nodes

    def unit(self, node: Any, kind: UnitKind) -> Unit:
        base = list(node.get_nodes())
        leaves = tuple(self._leaf(n) for n in base)
        device = None
        with suppress(Exception):
            device = next((d.type for n in base if (d := n.get_device()) is not None), None)
        call: str | None = None
        call_kind: CallKind | None = None
        notes: tuple[str, ...] = ()
        if kind in ("call", "host"):
            extern: Any = next((n for n in base if n.node is not None and _is_extern(n.node)), base[0])
            call, call_kind, notes = _call(extern.node)
        parts: tuple[tuple[str, ...], ...] = ()
        if node.is_foreach():
            parts = tuple(tuple(n.get_name() for n in part.get_nodes()) for part in node.snodes)
        return Unit(
            name=node.get_name(), kind=kind, leaves=leaves, device=device, call=call, call_kind=call_kind, parts=parts,
            inside=self._inside(node, base), notes=notes,
        )  # fmt: skip

    def _leaf(self, node: Any) -> Leaf:
        ir_node = node.node
        loops: tuple[str, ...] = ()
        reduced: tuple[str, ...] = ()
        with suppress(Exception):
            outer, inner = node.group[1]
            loops = _sizes(outer)
            reduced = tuple(size for size in _sizes(inner) if size != "1")
        extern = ir_node is not None and _is_extern(ir_node)
        if extern:
            reads, writes = self._call_reads(node), self._call_writes(node)
        else:
            turns = self._turns(node)
            writes = tuple(self._accesses(node.read_writes.writes, turns))
            reads = self._updates(tuple(self._accesses(node.read_writes.reads, turns)), writes)
        origin, origins = None, ()
        with suppress(Exception):
            origin = ir_node.get_origin_node()
        with suppress(Exception):
            origins = tuple(ir_node.origins)
        return Leaf(
            name=node.get_name(),
            reads=reads,
            writes=writes,
            origin=origin,
            origins=origins,
            loops=loops,
            reduced=reduced,
        )

    def _turns(self, node: Any) -> int | None:
        """How often the innermost body of a loop nest runs."""
        with suppress(Exception):
            count = 1
            for size in (s for ranges in node.get_ranges() for s in ranges):
                count *= self._known(self.hint(size))
            return count
        return None

    def _accesses(self, deps: Iterable[Any], turns: int | None) -> Iterable[Access]:
        seen: set[tuple[str, str]] = set()
        for dep in deps:
            kind = type(dep).__name__
            if kind == "WeakDep":  # orders two nodes; nothing passes between them
                continue
            if kind != "MemoryDep":
                yield Access(dep.name)
                continue
            key = (dep.name, str(dep.index))
            if key in seen:
                continue
            seen.add(key)
            elements = self._elements(dep, turns)
            yield Access(dep.name, elements, known=elements is not None)

    def _updates(self, reads: tuple[Access, ...], writes: tuple[Access, ...]) -> tuple[Access, ...]:
        """An update in place is entered as reading the whole buffer, to keep the order; it reads what it writes."""
        touched = {self.real_names.get(w.buffer, w.buffer): w for w in writes if w.buffer in self.real_names}

        def one(read: Access) -> Access:
            write = touched.get(self.real_names.get(read.buffer, read.buffer))
            if write is None or read.elements is not None or not read.known:
                return read
            return Access(read.buffer, write.elements, write.known)

        return tuple(one(read) for read in reads)

    def _elements(self, dep: Any, turns: int | None) -> int | None:
        """Distinct elements that a loop touches: the loops that its index uses; one a turn where the index is data."""
        used = {getattr(s, "name", str(s)) for s in dep.index.free_symbols}
        if any(name.startswith(("indirect", "tmp")) for name in used):
            return turns
        count = 1
        for var, size in zip(dep.var_names, dep.size, strict=False):
            if getattr(var, "name", str(var)) in used:
                hint = self.hint(size)
                if hint is None:
                    return None
                count *= hint
        return count

    def _call_reads(self, node: Any) -> tuple[Access, ...]:
        """A call reads its arguments; of an argument that is a part of a buffer, that part."""
        sizes: dict[str, int | None] = {}
        for value in _flat(getattr(node.node, "inputs", ())):
            with suppress(Exception):
                name = value.get_name()
                part = 1
                for size in value.get_size():
                    part *= self._known(self.hint(size))
                sizes[name] = part + (sizes.get(name) or 0)
        deps = (dep for dep in node.read_writes.reads if type(dep).__name__ != "WeakDep")
        found = [Access(dep.name, sizes.get(dep.name)) for dep in deps]
        return tuple({a.buffer: a for a in found}.values())

    def _call_writes(self, node: Any) -> tuple[Access, ...]:
        found = [Access(out.get_name()) for out in node.get_outputs()]
        with suppress(Exception):
            found += [Access(name) for name in node.node.get_mutation_names()]
        return tuple({a.buffer: a for a in found}.values())

    @staticmethod
    def _known(value: int | None) -> int:
        if value is None:
            raise ValueError("not known")
        return value

    def _inside(self, node: Any, base: list[Any]) -> frozenset[str]:
        """Buffers that only this node's own leaves use: they need not go through memory."""
        own = set(base) | {node}
        names = {n.get_name() for n in base} | {node.get_name()}
        found = set()
        for out in node.get_outputs():
            with suppress(Exception):
                users = [use.node for use in out.users if not getattr(use, "is_weak", False)]
                if users and all(u in own or getattr(u, "get_name", str)() in names for u in users):
                    found.add(out.get_name())
        return frozenset(found)

    # ------------------------------------------------------------------ memory

    def buffers(self) -> dict[str, Buffer]:
        names = [*self._graph.graph_inputs, *self._graph.name_to_buffer, *getattr(self._graph, "constants", {})]
        return {name: held for name in names if (held := self._buffer(name)) is not None}

    def _buffer(self, name: str) -> Buffer | None:
        with suppress(Exception):
            held = self._graph.graph_inputs.get(name)
            if held is None:
                held = self._graph.name_to_buffer.get(name)
            if held is None:
                value = self._graph.constants[name]
                return _buffer(name, value.dtype, value.size(), value.stride(), self.hint)
            layout = held.get_layout()
            return _buffer(name, layout.dtype, layout.size, layout.stride, self.hint)
        return None

    def fx_buffers(self) -> dict[Any, str]:
        found = {}
        for name, buffer in self._graph.name_to_buffer.items():
            with suppress(Exception):
                origin = buffer.get_origin_node()
                if origin is not None:
                    found[origin] = name
        return found

    def hint(self, size: Any) -> int | None:
        """A size as a number, for a symbolic one what it was when traced; None where only running tells."""
        if isinstance(size, int):
            return size
        if size not in self._hints:
            self._hints[size] = self._hint(size)
        return self._hints[size]

    def _hint(self, size: Any) -> int | None:
        with suppress(Exception):
            return int(size)
        with suppress(Exception):
            from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

            if free_unbacked_symbols(size):
                return None
            sizes = self._graph.sizevars
            return int(sizes.optimization_hint(size) if hasattr(sizes, "optimization_hint") else sizes.size_hint(size))
        return None


def _buffer(name: str, dtype: Any, size: Iterable[Any], stride: Iterable[Any], hint: Any) -> Buffer:
    sizes, strides = list(size), list(stride)
    return Buffer(
        name=name, dtype=str(dtype).removeprefix("torch."), item_bytes=int(dtype.itemsize),
        shape=_sizes(sizes), stride=_sizes(strides),
        sizes=tuple(hint(s) for s in sizes), strides=tuple(hint(s) for s in strides),
    )  # fmt: skip


def _kind(node: Any) -> UnitKind:
    if type(node).__name__ == "NopKernelSchedulerNode":
        return "none"
    if node.is_template():
        return "generated"
    if node.is_extern():
        return "host" if _class(node.node) in _HOST else "call"
    return "generated"


def _is_extern(ir_node: Any) -> bool:
    from torch._inductor import ir

    return isinstance(ir_node, ir.ExternKernel)


def _call(ir_node: Any) -> tuple[str, CallKind, tuple[str, ...]]:
    """Name and kind of a call, and what there is to say about it."""
    from torch._inductor import ir

    name = _class(ir_node)
    if name in _SUBGRAPH:
        return (
            _SUBGRAPH[name],
            "other",
            ("It runs graphs of its own, whose kernels are listed beside it; its bytes are theirs.",),
        )
    if name == "UserDefinedTritonKernel":
        return _user_kernel(ir_node), "triton", ("Written by hand, not generated.",)
    called: str = next(
        (v for a in ("python_kernel_name", "cpp_kernel_name") if isinstance(v := getattr(ir_node, a, None), str) and v),
        "",
    )
    overload: Any = getattr(ir_node, "op_overload", None)
    if name == "RandomSeeds":
        return called or "random seeds", "fallback", ("It draws the seeds of the graph's random numbers.",)
    if name in ("DeviceCopy", "InplaceCopyFallback"):
        return called or "copy", "library", ()
    if isinstance(ir_node, ir.FallbackKernel) or name.endswith("Fallback"):
        shown = called or str(overload or name)
        base = shown.removeprefix("torch.ops.").partition(".")[2].partition(".")[0] or shown
        namespace = shown.removeprefix("torch.ops.").partition(".")[0]
        if namespace in ("mkldnn", "onednn", "mkl", "_c10d_functional") or (
            namespace == "aten" and base.startswith(_LIBRARY)
        ):
            return shown, "library", ()
        return shown, "fallback", ("Inductor generates no code for this operator; its own kernel runs.",)
    return called or (str(overload) if overload is not None else name), "library", ()


def _user_kernel(ir_node: Any) -> str:
    with suppress(Exception):
        from torch._higher_order_ops.triton_kernel_wrap import kernel_side_table

        kernel: Any = kernel_side_table.get_kernel(ir_node.kernel_idx)
        kernel = getattr(kernel, "fn", kernel) if not hasattr(kernel, "__name__") else kernel
        return str(kernel.__name__)
    return "triton kernel"


def _written(name: str, backend: str, nodes: list[Any]) -> Written:
    leaves = frozenset(leaf.get_name() for node in nodes if hasattr(node, "get_nodes") for leaf in node.get_nodes())
    language = "cpp" if backend.startswith("Cpp") else "triton" if "Triton" in backend else "other"
    return Written(name=name, language=language, leaves=leaves, backend=backend)  # type: ignore[arg-type]


def _outputs(graph: Any) -> list[str]:
    found = []
    for value in graph.graph_outputs or []:
        try:
            found.append(str(value.get_name()))
        except Exception:
            found.append("")
    return found


def _is_dynamic(graph: Any) -> bool:
    for value in graph.graph_inputs.values():
        if getattr(value, "free_symbols", None):
            return True
        with suppress(Exception):
            if any(getattr(size, "free_symbols", None) for size in value.get_size()):
                return True
    return False


def _flat(values: Any) -> Iterable[Any]:
    for value in values or ():
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def _sizes(values: Any) -> tuple[str, ...]:
    if isinstance(values, (list, tuple)):
        return tuple(str(v) for v in values)
    return (str(values),)


def _class(value: Any) -> str:
    return type(value).__name__
