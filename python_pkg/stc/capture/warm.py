"""A graph's report inside the cached artefact, so that a warm start can show it, with today's line numbers.

Cache keys ignore line numbers, so a hit may carry old ones: every operation keeps the name of its Dynamo node, and Dynamo's
graph is made anew on each start.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from stc.record.types import Graph, Kernel, Location, Operation, Record

ATTRIBUTE = "_stc_report"
FORMAT = 1


class Embedded(Record, frozen=True, kw_only=True):
    """What is kept with a compiled graph."""

    format: int
    graph: Graph


def embed(compiled: Any, graph: Graph) -> None:
    """Put the report on the compiled graph; it is pickled with it. Without places' text, which is read anew."""
    setattr(compiled, ATTRIBUTE, msgspec.json.encode(Embedded(format=FORMAT, graph=graph)))


def read(compiled: Any) -> Graph | None:
    """The report of a cached graph; None where there is none.

    Raises:
        ValueError: it is damaged or of another format.
    """
    data = getattr(compiled, ATTRIBUTE, None)
    if data is None:
        return None
    try:
        held = msgspec.json.decode(data, type=Embedded)
    except (msgspec.MsgspecError, TypeError) as error:
        raise ValueError(f"the report kept with a cached graph cannot be read: {error}") from error
    if held.format != FORMAT:
        raise ValueError(f"the report kept with a cached graph has format {held.format}, not {FORMAT}")
    return held.graph


def remapped(
    graph: Graph, compile_id: str, lines: dict[str, Location], otherwise: Location | None = None
) -> dict[str, Any]:
    """The fields of a cached graph for this run: today's places, this run's ids.

    Args:
        otherwise: the place of operations that are on no line of the user's.
    """
    old, new = graph.id, f"{compile_id}:{graph.phase}"
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
        return new + kernel_id.removeprefix(old)

    def kernel(held: Kernel) -> Kernel:
        return replace(held, id=rename(held.id), ops=[place(op) for op in held.ops], code=None)

    return {
        "ops": [place(op) for op in graph.ops],
        "kernels": [kernel(k) for k in graph.kernels],
        "bytes": graph.bytes,
        "dynamic": graph.dynamic,
        "not_fused": [replace(n, first=rename(n.first), second=rename(n.second)) for n in graph.not_fused],
        "folded": [moved[key] for p in graph.folded if (key := (p.file, p.line)) in moved],
    }
