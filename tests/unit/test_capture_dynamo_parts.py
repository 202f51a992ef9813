"""The small parts of the listener by themselves: the phase clock, the trace's handler, the registry, failures, places."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from stc.capture.bus import TraceBus, TraceEvent, as_json
from stc.capture.failures import described
from stc.capture.graphs import GraphRegistry
from stc.capture.phases import LABELS, PhaseClock, phase_of
from stc.capture.stacks import frames, innermost
from stc.record.events import Event, GraphSeen


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_each_moment_belongs_to_the_innermost_phase() -> None:
    # given a compile of ten seconds: brackets within brackets, one of them unknown
    time, clock = Clock(), PhaseClock
    phases = clock(time)
    for kind, name, seconds in (
        ("B", "dynamo", 1.0), ("B", "entire_frame_compile", 1.0), ("B", "inductor_compile", 2.0), ("B", "pass.fancy", 1.0),
        ("B", "compile_file", 3.0), ("E", "compile_file", 0.5), ("E", "pass.fancy", 0.5), ("E", "inductor_compile", 1.0),
        ("E", "entire_frame_compile", 0.0), ("E", "dynamo", 5.0),
    ):  # fmt: skip
        (phases.begin if kind == "B" else phases.end)(name)
        time.now += seconds
    # then what is unknown counts with what is around it, nothing counts twice, and what follows does not count
    assert {p.name: p.self_s for p in phases.phases()} == {"dynamo": 3.0, "inductor": 4.0, "compile": 3.0}
    assert phases.total_s() == 10.0
    assert phases.compiles == 1
    assert phases.current is None
    assert [p.label for p in phases.phases()] == [LABELS[n] for n in ("inductor", "dynamo", "compile")]


def test_an_end_that_never_came_does_not_upset_the_clock() -> None:
    # given a bracket that an exception left open
    time = Clock()
    phases = PhaseClock(time)
    phases.begin("dynamo")
    phases.begin("inductor_compile")
    time.now += 2.0
    # when the one around it ends, and one ends that was never begun
    assert phases.end("dynamo") is True
    assert phases.end("compile_file") is False
    # then nothing is open, and the next compile counts by itself
    assert phases.current is None
    phases.begin("dynamo")
    time.now += 1.0
    assert phases.end("dynamo") is True
    assert phases.total_s() == 3.0
    assert phases.compiles == 2


def test_what_other_threads_compile_delays_nobody() -> None:
    time = Clock()
    phases = PhaseClock(time)
    phases.begin("dynamo")
    other = threading.Thread(target=lambda: (phases.begin("compile_file"), phases.end("dynamo")))
    other.start()
    other.join()
    assert phases.current == "dynamo"
    time.now += 1.0
    phases.end("dynamo")
    assert [p.name for p in phases.phases()] == ["dynamo"]


def test_a_backward_is_known_by_its_outermost_bracket() -> None:
    phases = PhaseClock(Clock())
    assert not phases.backward
    phases.begin("entire_backward_compile")
    phases.begin("compile_file")
    assert phases.backward


def test_every_phase_has_a_label() -> None:
    assert {phase_of(n) for n in ("dynamo", "inductor_compile", "compile_file", "build_guards", "code_gen")} <= set(
        LABELS
    )
    assert phase_of("a bracket of tomorrow") is None


def record(metadata: object, payload: object = None) -> logging.LogRecord:
    made = logging.LogRecord("torch.__trace", logging.DEBUG, "file.py", 1, "", (), None)
    made.metadata, made.payload = metadata, payload
    return made


def test_the_trace_is_read_as_objects_and_never_raises() -> None:
    # given receivers, one of which fails
    heard: list[TraceEvent] = []
    faults: list[tuple[str, str]] = []

    def fail(event: TraceEvent) -> None:
        raise KeyError("new words")

    bus = TraceBus(
        {"cache_hit": heard.append, "dynamo_start": fail}, lambda part, error: faults.append((part, str(error)))
    )
    # when events of all kinds come, damaged ones among them
    bus.emit(
        record({"artifact": {"name": "cache_hit"}, "frame_id": 3, "frame_compile_id": 1}, json.dumps({"key": "k"}))
    )
    bus.emit(record({"artifact": {"name": "cache_hit"}, "compiled_autograd_id": 2}))
    bus.emit(
        record({"artifact": {"name": "cache_hit"}, "compiled_autograd_id": 2, "frame_id": 0, "frame_compile_id": 0})
    )
    bus.emit(record({"dynamo_start": {}, "frame_id": 0, "frame_compile_id": 0}))
    bus.emit(record({"unheard_of": {}}))
    bus.emit(record(None))
    bus.emit(record({"artifact": None}))
    bus.emit(record("not a dictionary"))
    # then the good ones arrive, and what went wrong is told
    assert [e.compile_id for e in heard] == ["3/1", "!2", "!2/0/0"]
    assert as_json(heard[0].payload) == {"key": "k"}
    assert "dynamo_start" in [part for part, _ in faults]
    assert as_json("{half") is None


def test_a_graph_is_told_of_once_its_compile_has_succeeded() -> None:
    # given two compiles, one of which fails
    sent: list[Event] = []
    registry = GraphRegistry(sent.append, lambda: 4, lambda: 1.0)
    registry.update("0/0", "forward", dynamic=True)
    registry.update("0/0", "forward", code="0.0-forward.py")
    registry.update("1/0", "forward", code="1.0-forward.py")
    assert not sent
    # when their ends are told
    registry.release("0/0")
    registry.drop("1/0")
    registry.release()
    # then only the first is sent, whole, and again with what is learnt later
    registry.update("0/0", "forward", compile_s=2.0)
    graphs = [e.graph for e in sent if isinstance(e, GraphSeen)]
    assert [(g.id, g.dynamic, g.code, g.compile_s, g.step) for g in graphs] == [
        ("0/0:forward", True, "0.0-forward.py", None, 4), ("0/0:forward", True, "0.0-forward.py", 2.0, 4)
    ]  # fmt: skip
    assert registry.get("1/0", "forward") is None


def test_a_graph_without_gradients_in_an_optimizer_is_the_optimizers() -> None:
    registry = GraphRegistry(lambda event: None, lambda: None, lambda: 1.0)
    registry.set_frame("2/0", "Adam.step", None, optimizer=True)
    assert registry.update("2/0", "inference").id == "2/0:optimizer"
    assert registry.get("2/0", "inference") is registry.get("2/0", "optimizer") is not None


@pytest.mark.parametrize(
    ("kind", "reason", "expected"),
    [
        (
            "BackendCompilerFailed",
            "backend='inductor' raised:\nInvalidCxxCompiler: No working C++ compiler found in config.cpp.cxx: ('g++',)\n\nSet …",
            ("InvalidCxxCompiler", "No working C++ compiler found in config.cpp.cxx: ('g++',)"),
        ),
        (
            "InductorError",
            "CppCompileError: C++ compile error\n\nCommand:\ng++ …",
            ("CppCompileError", "C++ compile error"),
        ),
        (
            "TorchRuntimeError",
            "RuntimeError when making fake tensor call\n  Explanation: … got RuntimeError('a and b must have same reduction dim')",
            ("RuntimeError", "a and b must have same reduction dim"),
        ),
        ("InternalTorchDynamoError", "", ("InternalTorchDynamoError", "InternalTorchDynamoError")),
    ],
)
def test_a_failure_is_the_cause_and_not_its_wrapping(kind: str, reason: str, expected: tuple[str, str]) -> None:
    failure = described(kind, reason, None)
    assert (failure.type, failure.message) == expected


def test_places_prefer_the_users_code_then_a_librarys() -> None:
    # given a trace through the user's file, a library and torch
    user = '  File "/home/me/train.py", line 3, in forward\n    return layer(x)\n           ^^^^^^^^\n'
    library = '  File "/v/site-packages/somelib/layer.py", line 8, in forward\n    return F.relu(x)\n'
    torch = '  File "/v/site-packages/torch/nn/functional.py", line 9, in relu\n'
    # then its place is the user's; without the user's the library's; torch alone has none
    place = innermost(user + library + torch)
    assert place is not None
    assert (place.path, place.line, place.function) == ("/home/me/train.py", 3, "forward")
    place = innermost(library + torch)
    assert place is not None
    assert (place.line, place.function) == (8, "forward")
    assert innermost(torch) is None
    assert innermost(None) is None


def test_columns_are_counted_in_the_source_as_it_is(tmp_path: pytest.TempPathFactory) -> None:
    # given an indented line, which traces show without its indentation
    file = f"{tmp_path}/model.py"
    with open(file, "w") as out:
        out.write("class A:\n    def f(self, x):\n        y = x.relu() + 1\n")
    trace = f'  File "{file}", line 3, in f\n    y = x.relu() + 1\n        ^^^^^^^^\n'
    # then the column is that of the file
    (frame,) = frames(trace)
    assert (frame.column, frame.end_column) == (12, 20)
    # and there is none where there are no carets
    (bare,) = frames(f'  File "{file}", line 3, in f\n    y = x.relu() + 1\n')
    assert (bare.column, bare.end_column) == (None, None)
