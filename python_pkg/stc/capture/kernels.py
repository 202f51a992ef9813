"""The kernels of one Inductor graph as records: operations, loop nests, memory traffic, layouts, and edges between them.

A call is one kernel. A generated kernel holds one or more scheduler nodes: on the CPU one C++ function can hold several loop
nests, which are its groups and are not fused with each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from stc.record.types import Group, Kernel, KernelKind, NotFused, Operation

from .layouts import Memory
from .operations import Operations, ends, slice_back
from .reasons import Refusals, explain
from .snapshot import Leaf, Snapshot, Unit, Written
from .traffic import base_name

APPROXIMATE = "Operations are approximate: Inductor did not say exactly what each loop computes."


@dataclass
class _Placed:
    """A kernel being put together."""

    units: list[Unit]
    written: Written | None = None
    variants: list[str] = field(default_factory=list)


class GraphKernels:
    """Kernels and edges of one graph.

    Args:
        identity: prefix of the kernels' ids.
        snapshot: what Inductor decided.
        operations: of the same FX graph.
        labels: what each graph input is: "graph input lin.weight".
        first: number of the first kernel.
    """

    def __init__(
        self,
        identity: str,
        snapshot: Snapshot,
        operations: Operations,
        labels: dict[str, str] | None = None,
        first: int = 0,
    ) -> None:
        self._snapshot = snapshot
        self._operations = operations
        self._units = [u for u in snapshot.units if u.kind in ("generated", "call")]
        self._memory = Memory(snapshot, self._units, labels or {})
        self._fx_of: dict[str, object] = {buffer: node for node, buffer in snapshot.fx_buffers.items()}
        self._called = {
            node
            for unit in self._units if unit.kind == "call"
            for leaf in unit.leaves
            for node in ([leaf.origin] if leaf.origin is not None else ends(leaf.origins))
        }  # fmt: skip
        self._place: dict[str, tuple[str, int]] = {}  # unit name: kernel id, group
        self._bias: dict[str, bool] = {}
        self.kernels: list[Kernel] = []
        for number, placed in enumerate(self._placed(), start=first):
            self.kernels.append(self._kernel(f"{identity}:{number}", placed))

    # ------------------------------------------------------------------ kernels

    def _placed(self) -> list[_Placed]:
        """Which units are launched together, in the order of their first."""
        kernel_of: dict[str, int] = {}
        variants: dict[int, list[str]] = {}
        for number, written in enumerate(self._snapshot.written):
            known = {kernel_of[leaf] for leaf in written.leaves if leaf in kernel_of}
            for number_before in known:
                variants.setdefault(number_before, []).append(written.name)
            for leaf in written.leaves:
                kernel_of.setdefault(leaf, number)
        found: list[_Placed] = []
        gathered: dict[int, _Placed] = {}
        for unit in self._units:
            position = next((kernel_of[leaf.name] for leaf in unit.leaves if leaf.name in kernel_of), None)
            if position is None:
                found.append(_Placed([unit]))
            elif position in gathered:
                gathered[position].units.append(unit)
            else:
                placed = _Placed([unit], self._snapshot.written[position], variants.get(position, []))
                gathered[position] = placed
                found.append(placed)
        return found

    def _kernel(self, kernel_id: str, placed: _Placed) -> Kernel:
        operations: list[Operation] = []
        places: dict[Any, int] = {}  # of each operation in the list
        groups: list[Group] = []
        notes: list[str] = []
        for unit in placed.units:
            self._place[unit.name] = (kernel_id, len(groups))
            for leaves in _bodies(unit):
                mine, exact = self._computed_by(unit, leaves)
                for key, operation in mine.items():
                    if key not in places:  # one operation can be spread over several loop nests
                        places[key] = len(operations)
                        operations.append(operation)
                groups.append(Group(ops=[places[key] for key in mine], nodes=[leaf.name for leaf in leaves]))
                if not exact and APPROXIMATE not in notes:
                    notes.append(APPROXIMATE)
            self._bias[unit.name] = unit.kind == "call" and any("addmm" in op.name for op in operations)
            notes.extend(note for note in unit.notes if note not in notes)
        if not operations and placed.written is not None:
            notes.append("No operation of the graph: it brings a buffer into the layout that its reader takes.")
        if placed.variants:
            notes.append(f"One of {len(placed.variants) + 1} variants, chosen when it first runs.")
        reads, writes = self._memory.traffic(placed.units)
        if placed.units[0].call_kind == "other":
            reads, writes = dict.fromkeys(reads, 0), dict.fromkeys(writes, 0)
        if None in reads.values() or None in writes.values():
            notes.append("Bytes are not known: a size depends on the data.")
        first = placed.units[0]
        kind = _kind(first, placed.written)
        if kind == "other" and placed.written is not None:
            notes.append(f"Written by Inductor's {placed.written.backend}.")
        name = placed.written.name if placed.written is not None else first.call or first.name
        return Kernel(
            id=kernel_id, name=name, kind=kind, ops=operations, groups=groups, notes=notes, bytes_read=total(reads.values()),
            bytes_written=total(writes.values()), layout=self._memory.layouts(reads, writes),
        )  # fmt: skip

    def _computed_by(self, unit: Unit, leaves: Iterable[Leaf]) -> tuple[dict[Any, Operation], bool]:
        """Operations of some leaves of a unit, and whether that is certain."""
        leaves = list(leaves)
        own = {access.buffer for leaf in unit.leaves for access in leaf.writes}
        read = {a.buffer for leaf in leaves for a in leaf.reads} - own
        for name in list(read):
            read.update(self._snapshot.made_of.get(name, ()))
        stop = {self._fx_of[name] for name in read if name in self._fx_of}
        nodes: set[Any] = set()
        called: set[Any] = set()
        exact = True
        for leaf in leaves:
            # Inductor credits a loop that makes an argument ready for a call with the call as well.
            credited = set(leaf.origins) - (set() if unit.kind == "call" else self._called)
            starts = {leaf.origin} if leaf.origin is not None else ends(credited)
            exact = exact and len(starts) <= 1
            if unit.kind == "call":  # one operator
                called |= (starts - stop) or starts
                continue
            # A slice can run past what is in memory under another name; origins bound it from the other side.
            sliced = slice_back(starts, stop)
            foreach = {
                node for node in sliced if base_name(node.target).startswith("_foreach_")
            }  # not credited by torch 2.8
            nodes |= sliced & (credited | starts | foreach) if leaf.origins else sliced
        return self._operations.keyed(called | (nodes - stop)), exact

    # ------------------------------------------------------------------ edges and the whole

    def not_fused(self) -> list[NotFused]:
        """One entry for each pair of neighbours between which a result passes through memory."""
        refusals = Refusals(self._snapshot.attempts, self._units)
        found = []
        for writer, reader, buffers in self._memory.edges():
            first, first_group = self._place[writer.name]
            second, second_group = self._place[reader.name]
            reason, detail = explain(
                writer, reader, refusals.of(writer.name, reader.name),
                bias=self._bias[writer.name] or self._bias[reader.name], max_bodies=self._snapshot.max_bodies,
            )  # fmt: skip
            found.append(
                NotFused(
                    first=first, second=second, first_group=first_group, second_group=second_group, reason=reason,
                    detail=detail, buffers=buffers,
                )
            )  # fmt: skip
        return found

    def fused_bytes(self) -> int | None:
        """Bytes of all kernels together; None where one of them is not known."""
        return total(size for k in self.kernels for size in (k.bytes_read, k.bytes_written))


def _bodies(unit: Unit) -> list[list[Leaf]]:
    """Leaves that are fused with each other: all of a unit, except where bodies only share its launch."""
    if not unit.parts:
        return [list(unit.leaves)]
    by_name = {leaf.name: leaf for leaf in unit.leaves}
    return [[by_name[name] for name in part if name in by_name] for part in unit.parts]


def _kind(unit: Unit, written: Written | None) -> KernelKind:
    if unit.kind == "call":
        return unit.call_kind or "other"
    if written is not None:
        return written.language
    return "cpp" if unit.device == "cpu" else "triton" if unit.device in ("cuda", "xpu") else "other"


def total(sizes: Iterable[int | None]) -> int | None:
    """Their sum; None where one is not known."""
    found = 0
    for size in sizes:
        if size is None:
            return None
        found += size
    return found
