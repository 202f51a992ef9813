"""From the nodes of Inductor's FX graph back to the operations that the user's line asked for.

Decomposition turns one gelu into five nodes; they keep the original operator and its sequence number, by which they are put
together again. What a kernel computes is the backward slice from its outputs, cut at the buffers it reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stc.record.types import Location, Operation

from .stacks import innermost
from .traffic import base_name, is_free


class Operations:
    """Operations of one FX graph.

    Args:
        graph: the FX graph.
        lines: Dynamo node name to place, with today's line numbers.
        forward: sequence number to Dynamo node name, of the forward graph of the same compile. A forward graph fills it.
        backward: the graph is a backward one: its nodes know the forward's only by their sequence numbers.
        otherwise: the place of operations that are on no line of the user's.
    """

    def __init__(
        self,
        graph: Any,
        lines: dict[str, Location],
        forward: dict[int, str],
        *,
        backward: bool = False,
        otherwise: Location | None = None,
    ) -> None:
        self._lines = lines
        self._forward = forward if backward else {}
        self._otherwise = otherwise
        self._cache: dict[Any, tuple[Any, Operation]] = {}
        self._places: dict[str, Location | None] = {}
        self._positions = {node: position for position, node in enumerate(graph.nodes)}
        if not backward:
            for node in self._positions:
                origin, sequence = dynamo_node(node), node.meta.get("seq_nr")
                if origin is not None and sequence is not None:
                    forward.setdefault(sequence, origin)

    def every(self) -> list[Operation]:
        """All operations of the graph, in its order."""
        return list(self.keyed(self._positions).values())

    def keyed(self, nodes: Iterable[Any]) -> dict[Any, Operation]:
        """The operations that these FX nodes make up, in the graph's order, without views; the same one has the same key."""
        found: dict[Any, Operation] = {}
        for node in sorted(nodes, key=lambda n: self._positions.get(n, len(self._positions))):
            if is_computed(node):
                key, operation = self._one(node)
                found.setdefault(key, operation)
        return found

    def _one(self, node: Any) -> tuple[Any, Operation]:
        known = self._cache.get(node)
        if known is None:
            name = operator_name(node)
            source = self._source(node)
            origin = self._origin(source)
            # Two additions of one line are two operations; the five nodes of one gelu are one.
            own = node.name if str(node.target) == name or source is not node else None
            key = (name, origin or node.meta.get("seq_nr"), own)
            known = self._cache[node] = (key, Operation(name=name, location=self._place(source, origin), node=origin))
        return known

    def _origin(self, node: Any) -> str | None:
        """The Dynamo node that asked for a node; a backward one knows it by its sequence number."""
        sequence = node.meta.get("seq_nr")
        return dynamo_node(node) or (self._forward.get(sequence) if sequence is not None else None)

    def _source(self, node: Any) -> Any:
        """The node whose provenance counts: its own, or where Inductor made it, that of the nearest one it feeds."""
        if _is_known(node):
            return node
        seen, waiting = {node}, [node]
        while waiting and len(seen) < 100:
            for user in waiting.pop(0).users:
                if _is_known(user):
                    return user
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
        return next((before for before in node.all_input_nodes if _is_known(before)), node)

    def _place(self, node: Any, origin: str | None) -> Location | None:
        if origin is not None and origin in self._lines:
            return self._lines[origin]
        trace = node.meta.get("stack_trace")
        if trace is None:
            return self._otherwise
        if trace not in self._places:
            self._places[trace] = innermost(trace) or self._otherwise
        return self._places[trace]


def operator_name(node: Any) -> str:
    """The operator before decomposition: "aten.gelu.default"."""
    target = node.meta.get("original_aten") or node.target
    if isinstance(target, str) or hasattr(target, "_overloadpacket"):
        return str(target)
    return str(getattr(target, "__name__", target))


def _is_known(node: Any) -> bool:
    return node.op == "call_function" and ("stack_trace" in node.meta or bool(node.meta.get("from_node")))


def is_computed(node: Any) -> bool:
    """Does this node do work, as opposed to looking at memory another way or counting sizes?"""
    return node.op == "call_function" and not is_free(node.target, base_name(node.target))


def slice_back(outputs: Iterable[Any], stop: set[Any]) -> set[Any]:
    """FX nodes that ``outputs`` are computed from, not going past nodes in ``stop``."""
    seen: set[Any] = set()
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node in seen or node.op != "call_function":
            continue
        seen.add(node)
        waiting.extend(before for before in node.all_input_nodes if before not in stop)
    return seen


def ends(nodes: Iterable[Any]) -> set[Any]:
    """Those of ``nodes`` that do work and that no other such one of them uses, be it through a view."""
    held = set(nodes)
    working = {node for node in held if is_computed(node)}
    used: set[Any] = set()
    waiting = [before for node in working for before in node.all_input_nodes]
    while waiting:
        node = waiting.pop()
        if node in held and node not in used:
            used.add(node)
            waiting.extend(node.all_input_nodes)
    return working - used


def dynamo_node(node: Any) -> str | None:
    """Name of the Dynamo node that a node comes from, at the far end of its provenance."""
    sources = node.meta.get("from_node")
    while sources:
        last = sources[-1]
        if not getattr(last, "from_node", None):
            return str(last.name)
        sources = last.from_node
    return None
