"""What the kernels of one graph move through memory: bytes, neighbours, and how and why each buffer is there.

Within a fused node nothing passes through memory. Between the loop nests of one C++ kernel it does, if likely from cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from stc.record.types import Layout

from .snapshot import Access, Buffer, Snapshot, Unit

Role = Literal["read", "write"]


class Memory:
    """The buffers of one graph.

    Args:
        units: the scheduler nodes that are kernels or parts of one.
        labels: what each graph input is: "graph input lin.weight".
    """

    def __init__(self, snapshot: Snapshot, units: Sequence[Unit], labels: dict[str, str]) -> None:
        self._snapshot = snapshot
        self._units = units
        self._labels = labels
        self._inputs = set(snapshot.inputs)
        self._writers: dict[str, Unit] = {}
        for unit in units:
            for name in _names(unit, "write"):
                self._writers.setdefault(name, unit)
        self._readers: dict[str, dict[str, Unit]] = {}
        for unit in snapshot.units:
            for name in _names(unit, "read"):
                for part in self._parts(name):
                    self._readers.setdefault(part, {})[unit.name] = unit
        named = {one for results in snapshot.results.values() for one in results}
        self._part_of = {p: whole for whole, parts in snapshot.made_of.items() if whole not in named for p in parts}
        self._returned = self._why_returned()

    # ------------------------------------------------------------------ traffic

    def traffic(self, units: Iterable[Unit]) -> tuple[dict[str, int | None], dict[str, int | None]]:
        """Bytes read from and written to each buffer by one execution of these nodes, under the buffers' real names."""
        reads: dict[str, int | None] = {}
        writes: dict[str, int | None] = {}
        for unit in units:
            own = _names(unit, "write")
            gone = self._snapshot.removed | unit.inside
            for role, into in (("read", reads), ("write", writes)):
                for name, accesses in _accesses(unit, "read" if role == "read" else "write").items():
                    if name in gone or (role == "read" and name in own):
                        continue
                    for buffer, size in self._sized(name, accesses):
                        before = into.get(buffer, 0)
                        into[buffer] = None if size is None or before is None else before + size
        return reads, writes

    def _sized(self, name: str, accesses: list[Access]) -> Iterable[tuple[str, int | None]]:
        """Buffers behind a name and the bytes touched of each; nothing for what is no tensor."""
        buffer = self._snapshot.buffers.get(self.real(name))
        if buffer is None:
            for result in self._snapshot.results.get(name, ()):
                held = self._snapshot.buffers.get(result)
                if held is not None:
                    yield held.name, _bytes(held, [])
            return
        yield buffer.name, _bytes(buffer, accesses)

    def real(self, name: str) -> str:
        """The buffer behind a name: an update in place gives its result a new name and no new memory."""
        return self._snapshot.real_names.get(name, name)

    def _parts(self, name: str) -> list[str]:
        """A name and those it stands for: the parts of a concatenation, the call that a result belongs to."""
        found = [name]
        for one in found:
            found.extend(p for p in self._snapshot.made_of.get(one, ()) if p not in found)
        return found

    # ------------------------------------------------------------------ neighbours

    def edges(self) -> list[tuple[Unit, Unit, list[str]]]:
        """Writer, reader and the buffers that pass from one to the other, in order."""
        found: dict[tuple[str, str], tuple[Unit, Unit, list[str]]] = {}
        for reader in self._units:
            for name in sorted(_names(reader, "read"), key=_natural):
                for part in self._parts(name):
                    writer = self._writers.get(part)
                    if writer is None or writer is reader:
                        continue
                    buffers = found.setdefault((writer.name, reader.name), (writer, reader, []))[2]
                    if self.real(name) not in buffers:
                        buffers.append(self.real(name))
        return list(found.values())

    # ------------------------------------------------------------------ layouts

    def layouts(self, reads: Iterable[str], writes: Iterable[str]) -> list[Layout]:
        sides: tuple[tuple[Iterable[str], Role], ...] = ((reads, "read"), (writes, "write"))
        found = [self._layout(name, role) for names, role in sides for name in sorted(names, key=_natural)]
        return [layout for layout in found if layout is not None]

    def _layout(self, name: str, role: Role) -> Layout | None:
        buffer = self._snapshot.buffers.get(name)
        if buffer is None:
            return None
        return Layout(
            buffer=name, role=role, dtype=buffer.dtype, shape=list(buffer.shape), stride=list(buffer.stride),
            format=memory_format(buffer.sizes, buffer.strides), reason=self._reason(name, role),
        )  # fmt: skip

    def _reason(self, name: str, role: Role) -> str | None:
        if name in self._inputs:
            what = self._labels.get(name, "graph input")
            return f"{what}, updated in place" if role == "write" else what
        reasons = list(self._returned.get(name, ()))
        writer = self._writers.get(name)
        readers = [unit for unit in self._readers.get(name, {}).values() if unit is not writer]
        if name in self._part_of:
            reasons.append(f"part of {self._part_of[name]}, which is put together in place")
        if role == "write" and readers:
            calls = [u.call or "a call" for u in readers if u.kind == "call"]
            if any(u.kind == "host" for u in readers):
                reasons.append("read by the host")
            elif len(readers) > 1:
                reasons.append(f"read by {len(readers)} kernels or loop nests")
            else:
                reasons.append(f"read by {calls[0]}" if calls else "read by another kernel or loop nest")
        if role == "read" and not reasons and writer is not None:
            reasons.append(
                f"result of {writer.call}" if writer.kind == "call" else "result of another kernel or loop nest"
            )
        return ", ".join(reasons) or None

    def _why_returned(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        snapshot = self._snapshot
        for position, output in enumerate(snapshot.outputs):
            if snapshot.backward:
                reason = "gradient"
            elif not snapshot.inference and snapshot.returns is not None and position >= snapshot.returns:
                reason = "saved for backward"
            else:
                reason = "returned"
            for name in self._parts(output) if output else ():
                reasons = found.setdefault(self.real(name), [])
                if reason not in reasons:
                    reasons.append(reason)
        return found


def memory_format(sizes: Sequence[int | None], strides: Sequence[int | None]) -> str | None:
    """Name of a memory format; dimensions of size 1 do not count. None where a size is not known."""
    if any(v is None for v in (*sizes, *strides)) or len(sizes) != len(strides):
        return None
    rank = list(range(len(sizes)))

    def dense(order: Iterable[int]) -> bool:
        expected = 1
        for dim in reversed(list(order)):
            size, stride = sizes[dim] or 0, strides[dim] or 0
            if size == 1:
                continue
            if stride != expected:
                return False
            expected *= size
        return True

    if dense(rank):
        return "contiguous"
    if len(rank) == 4 and dense([0, 2, 3, 1]):
        return "channels_last"
    if len(rank) == 5 and dense([0, 2, 3, 4, 1]):
        return "channels_last_3d"
    if len(rank) >= 2 and dense([*rank[:-2], rank[-1], rank[-2]]):
        return "transposed"
    if any(stride == 0 and size != 1 for size, stride in zip(sizes, strides, strict=True)):
        return "expanded"
    if dense(sorted(rank, key=lambda d: -(strides[d] or 0))):
        return "permuted"
    return "strided"


def _bytes(buffer: Buffer, accesses: list[Access]) -> int | None:
    whole = buffer.elements
    if any(not a.known for a in accesses):
        return None if whole is None else whole * buffer.item_bytes
    if not accesses or any(a.elements is None for a in accesses):
        return None if whole is None else whole * buffer.item_bytes
    touched = sum(a.elements or 0 for a in accesses)
    return (touched if whole is None else min(touched, whole)) * buffer.item_bytes


def _accesses(unit: Unit, role: Role) -> dict[str, list[Access]]:
    found: dict[str, list[Access]] = {}
    for leaf in unit.leaves:
        for access in leaf.reads if role == "read" else leaf.writes:
            same = found.setdefault(access.buffer, [])
            if access not in same:
                same.append(access)
    return found


def _names(unit: Unit, role: Role) -> set[str]:
    return {a.buffer for leaf in unit.leaves for a in (leaf.reads if role == "read" else leaf.writes)}


def _natural(name: str) -> tuple[str, int]:
    head = name.rstrip("0123456789")
    tail = name[len(head) :]
    return head, int(tail) if tail else -1
