"""A graph's report inside the cached artefact, so that a warm start can show it, with today's line numbers.

Cache keys ignore line numbers, so a hit may carry old ones. Dynamo's graph is made anew on each start, and where Inductor looked for
the graph in its cache, so is the one that it looked for. Another program may have left the entry, and have called its variables,
and so the nodes, otherwise: nodes are matched by their place among the operations, never by name alone.
"""

from __future__ import annotations

import zlib
from difflib import SequenceMatcher
from typing import Any

import msgspec
from msgspec.structs import replace

from stc.record.types import Graph, Kernel, Location, Operation, Record

ATTRIBUTE = "_stc_report"
FORMAT = 3


class Embedded(Record, frozen=True):
    """What is kept with a compiled graph."""

    format: int
    graph: Graph
    eager: tuple[int, int | None] | str | None = (
        None  # bytes of forward and backward in eager, or why they are not known
    )
    calls: list[tuple[str, str]] = []  # Dynamo's nodes that ask for an operation, in order, and which
    sequences: dict[int, str] = {}  # sequence number to Dynamo node, for a backward that is compiled another day


class _Head(Record, frozen=True):
    format: int


def embed(compiled: Any, held: Embedded) -> None:
    """Put the report on the compiled graph; it is pickled with it."""
    setattr(compiled, ATTRIBUTE, zlib.compress(msgspec.json.encode(held), 1))


def read(compiled: Any) -> Embedded | None:
    """The report of a cached graph; None where there is none.

    Raises:
        ValueError: it is damaged, or of another format.
    """
    data = getattr(compiled, ATTRIBUTE, None)
    if data is None:
        return None
    try:
        text = zlib.decompress(data)
        found = msgspec.json.decode(text, type=_Head).format
        if found != FORMAT:
            raise ValueError(f"the report kept with a cached graph has format {found}, not {FORMAT}")
        return msgspec.json.decode(text, type=Embedded)
    except (msgspec.MsgspecError, zlib.error, TypeError) as error:
        raise ValueError(f"the report kept with a cached graph cannot be read: {error}") from error


def same_calls(held: list[tuple[str, str]], today: list[tuple[str, str]]) -> dict[str, str]:
    """Dynamo's nodes of then and now, by name.

    Both became the same graph, so what they compute stands in the same order; one may have calls between that cost nothing, such as
    a detach, or write one operation in another way: that one is then left out.
    """
    then, now = [operation for _, operation in held], [operation for _, operation in today]
    if then == now:
        return {old: new for (old, _), (new, _) in zip(held, today, strict=True)}
    blocks = SequenceMatcher(a=then, b=now, autojunk=False).get_matching_blocks()
    return {held[b.a + i][0]: today[b.b + i][0] for b in blocks for i in range(b.size)}


def same_operations(held: list[Operation], today: list[Operation]) -> dict[str, str]:
    """The same for operations of Inductor's graph, which a cache entry has in common whatever Dynamo's graph looked like."""
    if [operation.name for operation in held] != [operation.name for operation in today]:
        return {}
    pairs = zip(held, today, strict=True)
    return {old.node: new.node for old, new in pairs if old.node is not None and new.node is not None}


def remapped(
    graph: Graph,
    identity: str,
    names: dict[str, str],
    lines: dict[str, Location],
    otherwise: Location | None = None,
) -> dict[str, Any]:
    """The fields of a cached graph for this run: today's places, this run's ids.

    Args:
        identity: the graph's id in this run.
        names: what Dynamo's nodes of then are called now.
        lines: Dynamo node name to today's place.
        otherwise: the place of operations that are on no line of the user's.
    """
    old = graph.id
    lines = {then: lines[now] for then, now in names.items() if now in lines}
    # Old and new place of every node that both know: by it move what has a place but no node of its own. Where a node is known to have
    # no counterpart, that would be a guess.
    known = {op.node for op in graph.ops if op.node is not None}
    lost = known - set(names)
    moved = {
        (op.location.file, op.location.line): lines[op.node]
        for held in (graph.ops, *(k.ops for k in graph.kernels))
        for op in held
        if op.location is not None and op.node is not None and op.node in lines
    }

    def placed(operation: Operation) -> Operation:
        place = lines.get(operation.node) if operation.node is not None else None
        if place is None and operation.location is not None and operation.node not in lost:
            place = moved.get((operation.location.file, operation.location.line))
        node = names.get(operation.node) if operation.node is not None else None
        return replace(operation, node=node, location=otherwise if place is None else place)

    def rename(kernel_id: str) -> str:
        return identity + kernel_id.removeprefix(old)

    def kernel(held: Kernel) -> Kernel:
        return replace(held, id=rename(held.id), ops=[placed(op) for op in held.ops], code=None)

    return {
        "ops": [placed(op) for op in graph.ops],
        "kernels": [kernel(k) for k in graph.kernels],
        "bytes": graph.bytes,
        "dynamic": graph.dynamic,
        "not_fused": [replace(n, first=rename(n.first), second=rename(n.second)) for n in graph.not_fused],
    }
