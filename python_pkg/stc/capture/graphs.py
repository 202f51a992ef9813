"""The graphs of a run as they become known: Dynamo, AOTAutograd, Inductor and the caches each know a part of one.

Keyed by torch's compile id and the phase. A graph is sent once its compile has succeeded, and again with all that is learnt later;
one whose compile fails is never told of, since nothing runs it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from stc.record.events import Event, GraphSeen
from stc.record.types import Graph, GraphPhase, Location


class Frame:
    """What Dynamo said of one compile, for all of its graphs."""

    def __init__(self, name: str | None, location: Location | None, optimizer: bool) -> None:
        self.name = name
        self.location = location
        self.optimizer = optimizer
        self.lines: dict[str, Location] = {}  # Dynamo node name: place
        self.dynamic: bool | None = None


class GraphRegistry:
    """Collects graphs and emits them.

    Args:
        emit: receives `GraphSeen` events.
        step: number of the step that is going on, or None.
        now: seconds since the epoch.
    """

    def __init__(self, emit: Callable[[Event], None], step: Callable[[], int | None], now: Callable[[], float]) -> None:
        self._emit = emit
        self._step = step
        self._now = now
        self._lock = threading.Lock()
        self._graphs: dict[str, Graph] = {}
        self._held: set[str] = set()  # ids of graphs that are being compiled: not sent yet
        self._frames: dict[str, Frame] = {}
        self.code: dict[str, tuple[str, str]] = {}  # graph id: generated code and the name it is kept under
        # Told of each Dynamo graph before it is lowered: compile id, GraphModule, example inputs.
        self.on_dynamo_graph: list[Callable[[str, Any, Any], None]] = []

    def frame(self, compile_id: str) -> Frame:
        """What Dynamo said of this compile; empty where it said nothing."""
        return self._frames.setdefault(compile_id, Frame(None, None, optimizer=False))

    def set_frame(self, compile_id: str, name: str | None, location: Location | None, *, optimizer: bool) -> None:
        known = self.frame(compile_id)
        known.name, known.location, known.optimizer = name, location, optimizer

    def lines(self, compile_id: str) -> dict[str, Location]:
        """Dynamo node name to place, with today's line numbers."""
        return self.frame(compile_id).lines

    def update(self, compile_id: str, phase: GraphPhase, **fields: Any) -> Graph:
        """Add fields of `Graph` to a graph, which is made at its first mention, and send it unless it is being compiled."""
        frame = self.frame(compile_id)
        if phase == "inference" and frame.optimizer:
            phase = "optimizer"
        identity = f"{compile_id}:{phase}"
        with self._lock:
            graph = self._graphs.get(identity)
            if graph is None:
                graph = Graph(
                    id=identity, phase=phase, compile_id=compile_id, name=frame.name, location=frame.location,
                    dynamic=frame.dynamic, step=self._step(), at=self._now(),
                )  # fmt: skip
                self._held.add(identity)
            graph = self._graphs[identity] = replace(graph, **fields)
            held = identity in self._held
        if not held:
            self._emit(GraphSeen(graph=graph))
        return graph

    def release(self, compile_id: str | None = None) -> None:
        """Send what was held back: of a compile that has succeeded, or of all while nothing is being compiled."""
        with self._lock:
            ready = [g for g in self._graphs.values() if g.id in self._held and compile_id in (None, g.compile_id)]
            self._held.difference_update(g.id for g in ready)
        for graph in ready:
            self._emit(GraphSeen(graph=graph))

    def drop(self, compile_id: str, *, backward: bool = False) -> None:
        """Forget graphs of a compile that has failed; with ``backward`` only that one."""
        with self._lock:
            for graph in self.of_compile(compile_id):
                if graph.id in self._held and (graph.phase == "backward" or not backward):
                    self._held.discard(graph.id)
                    del self._graphs[graph.id]

    def get(self, compile_id: str, phase: GraphPhase) -> Graph | None:
        if phase == "inference" and self.frame(compile_id).optimizer:
            phase = "optimizer"
        return self._graphs.get(f"{compile_id}:{phase}")

    def of_compile(self, compile_id: str) -> list[Graph]:
        return [g for g in self._graphs.values() if g.compile_id == compile_id]

    def count(self) -> int:
        return len(self._graphs)
