"""From the nodes of Inductor's FX graph back to the operations that the user's line asked for.

Decomposition turns one gelu into five nodes; they keep the original operator and its sequence number, by which they are put
together again. What a kernel computes is the backward slice from its outputs, cut at the buffers it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stc.record.types import Location, Operation

from .stacks import innermost

_VIEWS = {
    "view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "unsqueeze", "squeeze", "slice", "select",
    "alias", "detach", "as_strided", "split", "split_with_sizes", "chunk", "unbind", "diagonal", "unfold", "lift_fresh",
    "view_as", "expand_as", "getitem", "sym_size", "sym_stride", "sym_numel", "narrow", "flatten", "swapaxes", "_conj", "real",
}  # fmt: skip


class Operations:
    """Operations of one FX graph.

    Args:
        lines: Dynamo node name to place, with today's line numbers.
        forward: sequence number to Dynamo node name, of the forward graph of the same compile; filled by forward graphs.
        otherwise: the place of operations that are on no line of the user's.
    """

    def __init__(
        self, graph: Any, lines: dict[str, Location], forward: dict[int, str], otherwise: Location | None = None
    ) -> None:
        self._otherwise = otherwise
        self._lines = lines
        self._forward = forward
        self._cache: dict[Any, tuple[Any, Operation]] = {}
        for node in graph.nodes:
            origin, sequence = _dynamo_node(node), node.meta.get("seq_nr")
            if origin is not None and sequence is not None:
                forward.setdefault(sequence, origin)

    def of(self, nodes: Iterable[Any]) -> list[Operation]:
        """The operations that these FX nodes make up, in their order, without views."""
        found: dict[Any, Operation] = {}
        for node in nodes:
            if is_computed(node):
                key, operation = self._one(node)
                found.setdefault(key, operation)
        return list(found.values())

    def places(self, nodes: Iterable[Any]) -> list[Location]:
        return [op.location for op in self.of(nodes) if op.location is not None]

    def _one(self, node: Any) -> tuple[Any, Operation]:
        known = self._cache.get(node)
        if known is None:
            name = operator_name(node)
            sequence = node.meta.get("seq_nr")
            origin = _dynamo_node(node) or (self._forward.get(sequence) if sequence is not None else None)
            place = self._lines.get(origin) if origin is not None else None
            if place is None:
                place = innermost(node.meta.get("stack_trace")) or self._otherwise
            # Two additions of one line are two operations; the five nodes of one gelu are one.
            key = (name, sequence, origin, node.name if str(node.target) == name else None)
            known = self._cache[node] = (key, Operation(name=name, location=place, node=origin))
        return known


def operator_name(node: Any) -> str:
    """The operator before decomposition: "aten.gelu.default"."""
    original = node.meta.get("original_aten")
    target = node.target if original is None else original
    return (
        str(target)
        if not callable(target) or hasattr(target, "_overloadpacket")
        else getattr(target, "__name__", str(target))
    )


def is_computed(node: Any) -> bool:
    """Does this node do work, as opposed to looking at memory another way?"""
    return node.op == "call_function" and _base(node.target) not in _VIEWS


def slice_back(outputs: Iterable[Any], stop: Callable[[Any], bool]) -> list[Any]:
    """FX nodes that ``outputs`` are computed from, in graph order, not going past nodes for which ``stop`` holds."""
    seen: dict[Any, None] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node in seen or node.op != "call_function":
            continue
        seen[node] = None
        waiting.extend(before for before in node.all_input_nodes if not stop(before))
    order = {node: position for position, node in enumerate(next(iter(seen)).graph.nodes)} if seen else {}
    return sorted(seen, key=lambda node: order.get(node, 0))


def _base(target: Any) -> str:
    packet = getattr(target, "_overloadpacket", None)
    return str(getattr(packet, "__name__", None) or getattr(target, "__name__", target))


def _dynamo_node(node: Any) -> str | None:
    """Name of the Dynamo node that a node comes from, at the far end of its provenance."""
    sources = node.meta.get("from_node")
    while sources:
        last = sources[-1]
        if not getattr(last, "from_node", None):
            return str(last.name)
        sources = last.from_node
    return None
