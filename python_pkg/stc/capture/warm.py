"""A graph's report inside the cached artefact, so that a warm start can show it, with today's line numbers.

Cache keys ignore line numbers, so a hit may carry old ones: every operation keeps the name of its Dynamo node, and Dynamo's
graph is made anew on each start.
"""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
from msgspec.structs import replace

from stc.record.types import Graph, Kernel, Location, Operation, Record

ATTRIBUTE = "_stc_report"
FORMAT = 2


class Embedded(Record, frozen=True):
    """What is kept with a compiled graph."""

    format: int
    graph: Graph
    eager: tuple[int, int | None] | str | None = (
        None  # bytes of forward and backward in eager, or why they are not known
    )
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


def remapped(
    graph: Graph, identity: str, lines: dict[str, Location], otherwise: Location | None = None
) -> dict[str, Any]:
    """The fields of a cached graph for this run: today's places, this run's ids.

    Args:
        identity: the graph's id in this run.
        lines: Dynamo node name to today's place.
        otherwise: the place of operations that are on no line of the user's.
    """
    old = graph.id
    # Old and new place of every node that both know: by it move what has a place but no node of its own.
    moved = {
        (op.location.file, op.location.line): lines[op.node]
        for held in (graph.ops, *(k.ops for k in graph.kernels))
        for op in held
        if op.location is not None and op.node is not None and op.node in lines
    }

    def place(operation: Operation) -> Operation:
        today = lines.get(operation.node) if operation.node is not None else None
        if today is None and operation.location is not None:
            today = moved.get((operation.location.file, operation.location.line))
        return replace(operation, location=otherwise if today is None else today)

    def rename(kernel_id: str) -> str:
        return identity + kernel_id.removeprefix(old)

    def kernel(held: Kernel) -> Kernel:
        return replace(held, id=rename(held.id), ops=[place(op) for op in held.ops], code=None)

    return {
        "ops": [place(op) for op in graph.ops],
        "kernels": [kernel(k) for k in graph.kernels],
        "bytes": graph.bytes,
        "dynamic": graph.dynamic,
        "not_fused": [replace(n, first=rename(n.first), second=rename(n.second)) for n in graph.not_fused],
    }
