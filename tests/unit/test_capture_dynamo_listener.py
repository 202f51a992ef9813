"""The listener as a whole: hooks in and out, progress, phases, caches, failures, sources; and torches that lack something."""

from __future__ import annotations

import copy
import io
import logging
from typing import Any

import pytest
import torch
from torch._inductor import config as inductor

from fixtures.listening import listening
from stc.capture import listener
from stc.capture.torch_compat import dynamo
from stc.record.events import Event, GapSeen, PhasesMeasured, RunProgress

SMALL = """\
import torch, torch.nn as nn
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 3)
    def forward(self, x):
        return self.lin(x).tanh()
model = Small()
"""
TRAIN = "for _ in range(2):\n    model(torch.randn(4, 6)).sum().backward()\n    run.step += 1\n"


def hooked() -> dict[str, Any]:
    """Everything that listening may change."""
    from torch._inductor import codecache, compile_fx, scheduler

    trace = logging.getLogger(dynamo.TRACE_LOGGER)
    return {
        "level": trace.level,
        "propagate": trace.propagate,
        "handlers": list(trace.handlers),
        "filters": list(trace.filters),
        "limit filters": list(logging.getLogger("torch._dynamo.convert_frame").filters),
        "wrapper": vars(torch._TorchCompileInductorWrapper)["__call__"],
        "compile_fx": {n: v for n, v in vars(compile_fx).items() if callable(v)},
        "cache": dict(vars(codecache.FxGraphCache)),
        "why": dict(vars(scheduler.WhyNoFuse)),
        "scheduler": {n: v for n, v in vars(scheduler).items() if callable(v)},
        "inductor": copy.copy(inductor.get_config_copy()),
        "dynamo": torch._dynamo.config.get_config_copy(),
    }


def test_every_hook_is_taken_out_again() -> None:
    # given torch as it is
    import torch._inductor.compile_fx

    before = hooked()
    # when a run listens while something is compiled
    with listening(SMALL) as run:
        assert run.capture.attached
        assert hooked() != before
        run.compile()
        run.cell(TRAIN)
        assert not run.capture.pending
    # then torch is as it was, its own trace handler included, which takes itself out when it has nothing to write
    assert not run.capture.attached
    after = hooked()
    assert [name for name in before if before[name] != after[name]] == []
    # and what compiles afterwards is not heard
    heard = len(run.events)
    torch.compile(lambda x: x * 2.5 + 1)(torch.ones(3))
    assert len(run.events) == heard


def test_two_runs_listen_and_the_hooks_stay_until_the_last_leaves() -> None:
    ear, first, second = listener(), [], []
    before = hooked()
    first_sink, second_sink = first.append, second.append
    ear.attach(first_sink, step=lambda: 1, artefact=lambda name, text: None)
    ear.attach(second_sink, step=lambda: 2, artefact=lambda name, text: None)
    ear.detach(first_sink)
    assert ear.attached
    ear.emit(RunProgress(progress=None))
    assert (len(first), len(second)) == (0, 1)
    ear.detach(second_sink)
    ear.detach(second_sink)
    assert not ear.attached
    assert hooked().keys() == before.keys()


def test_a_users_own_logging_sees_nothing_of_the_trace() -> None:
    # given a user who logs everything to the screen
    screen = io.StringIO()
    handler = logging.StreamHandler(screen)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        # when something is compiled under a run
        with listening(SMALL) as run:
            run.compile()
            run.cell(TRAIN)
    finally:
        root.removeHandler(handler)
    # then no line of torch's trace is printed
    assert run.found.graphs
    assert "" not in screen.getvalue().splitlines()


def test_graphs_phases_progress_and_sources_of_a_training() -> None:
    # given a small model
    with listening(SMALL) as run:
        run.compile()
        seconds, compiles = run.capture.compiling()
        # when it is trained
        run.cell(TRAIN)
        after_s, after = run.capture.compiling()
        phases, total_s = run.capture.phases()
    # then its two graphs are there, with their function, place, step, time, code and operations
    forward, backward = run.found.graphs
    assert (forward.id, forward.phase, forward.name) == ("0/0:forward", "forward", "Small.forward")
    assert (backward.id, backward.phase) == ("0/0:backward", "backward")
    for graph in (forward, backward):
        assert graph.location is not None
        assert (graph.location.file, graph.location.line, graph.location.function) == ("In[1]", 6, "forward")
        assert (graph.step, graph.dynamic) == (0, False)
        assert graph.code is not None
        assert "def call(" in run.artefacts[graph.code]
        assert {op.location.line for op in graph.ops if op.location is not None} == {7}
    assert forward.compile_s is not None
    assert 0 < forward.compile_s <= total_s
    # and each is told of once everything about it is known, not piece by piece
    assert [type(e).__name__ for e in run.events].count("GraphSeen") <= 4
    # and time is accounted for: the parts make up the whole, and compiles are counted
    assert sum(p.self_s for p in phases) == pytest.approx(total_s, rel=0.01)
    assert after > compiles
    assert after_s > seconds
    assert "dynamo" in {p.name for p in phases}
    (measured, *_) = [e for e in run.events if isinstance(e, PhasesMeasured)]
    assert measured.total_s > 0
    # and the user could see what went on
    assert run.progress[0] == "Compiling graph 1 (forward): Tracing Python (Dynamo)"
    assert run.events[-1] == RunProgress(progress=None) or any(e == RunProgress(progress=None) for e in run.events)
    # and the cell's text was sent, once
    assert [s.file for s in run.report.sources].count("In[1]") == 1


def test_a_cold_backward_has_its_own_number_and_time() -> None:
    # given a graph that no cache knows
    with inductor.patch(force_disable_caches=True), listening(SMALL) as run:
        run.compile()
        # when forward and backward are compiled
        run.cell("y = model(torch.randn(4, 6)).sum()")
        waiting = run.capture.pending
        run.cell("y.backward()")
    # then between them a backward was still to be compiled, and is no more
    assert waiting
    assert not run.capture.pending
    # and it is told of by its own number, with its own time
    assert any(message.startswith("Compiling graph 2 (backward): ") for message in run.progress)
    assert all(g.compile_s for g in run.found.graphs)
    # and the report says that nothing is cached, and why
    assert {g.cache.outcome for g in run.found.graphs if g.cache is not None} == {"off"}
    assert "force_disable_caches" in str(run.found.graphs[0].cache)


def test_caches_say_hit_and_miss(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    outcomes = []
    for _ in range(2):
        with listening(SMALL) as run:
            run.compile()
            run.cell(TRAIN)
        outcomes.append({g.phase: g.cache.outcome for g in run.found.graphs if g.cache is not None})
        assert all(g.cache is not None and g.cache.key for g in run.found.graphs)
    assert outcomes == [{"forward": "miss", "backward": "miss"}, {"forward": "hit", "backward": "hit"}]


def test_a_cache_that_is_bypassed_says_why() -> None:
    with inductor.patch(post_grad_custom_post_pass=lambda graph: None), listening(SMALL) as run:
        run.compile()
        run.cell("model(torch.randn(4, 6)).sum().backward()")
    assert {(g.cache.outcome, g.cache.reason) for g in run.found.graphs if g.cache is not None} == {
        ("bypass", "Unsupported post grad custom pass")
    }


def test_a_missing_compiler_is_a_failure_and_leaves_no_graph() -> None:
    # given a machine without a C++ compiler, and a graph that no cache knows
    cell = SMALL.replace(".tanh()", ".tanh() * 0.625")
    with inductor.patch({"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True}), listening(cell) as run:
        run.compile()
        # when the model is called
        with pytest.raises(Exception, match="C\\+\\+ compiler"):
            run.cell("model(torch.randn(4, 6))")
    # then the failure is told by its cause, at the model's function, and nothing counts as compiled
    (failure,) = run.failures
    assert failure.type == "InvalidCxxCompiler"
    assert failure.location is not None
    assert failure.location.file == "In[1]"
    assert not run.found.graphs
    assert not run.capture.pending


@pytest.mark.parametrize("keep", [False, True], ids=["at once", "after a first compile"])
def test_a_users_own_torch_compile_is_seen(keep: bool) -> None:
    # given a function that the user compiles, before the run or in it
    with listening("import torch\n@torch.compile\ndef scaled(x):\n    return (x * 4.5).sum()\n") as run:
        run.cell("scaled(torch.ones(3, requires_grad=True)).backward()")
        if keep:
            run.cell("scaled(torch.ones(3, 2, requires_grad=True)).backward()")
    # then its graphs are there
    assert {g.name for g in run.found.graphs} == {"scaled"}
    assert len(run.found.graphs) == 2 * (1 + keep)
    assert len(run.found.recompilations) == keep


def test_a_model_inside_a_users_compiled_function_is_one_graph() -> None:
    # given a model that is compiled in place, called from a function that the user has compiled
    with listening(SMALL) as run:
        run.compile()
        run.cell("@torch.compile\ndef loss(x):\n    return model(x).square().mean()\n")
        # when it is called several times
        run.cell("for _ in range(3):\n    loss(torch.randn(4, 6)).backward()\n")
    # then our counting of calls is no part of it: one forward, one backward
    assert [g.phase for g in run.found.graphs] == ["forward", "backward"]
    assert not run.found.breaks
    assert not run.found.recompilations


def test_a_stock_sequential_yields_graphs_at_the_line_that_calls_it() -> None:
    # given a model whose forward is torch's own, which Dynamo would skip
    with listening(
        "import torch, torch.nn as nn\nmodel = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))\n"
    ) as run:
        run.compile()
        run.cell("model(torch.ones(2, 4)).sum().backward()\n")
    # then it is compiled, under its own name
    assert [(g.phase, g.name) for g in run.found.graphs] == [
        ("forward", "Sequential.forward"),
        ("backward", "Sequential.forward"),
    ]
    # and every operation has the user's line
    assert {(op.location.file, op.location.line) for op in run.found.graphs[0].ops if op.location is not None} == {
        ("In[2]", 1)
    }


@pytest.mark.slow
def test_a_stock_transformer_layer_yields_graphs() -> None:
    cell = "import torch, torch.nn as nn\nmodel = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)\n"
    with listening(cell) as run:
        run.compile()
        run.cell("model(torch.randn(2, 3, 8)).sum().backward()\n")
    assert [g.name for g in run.found.graphs] == ["TransformerEncoderLayer.forward"] * 2


def test_an_optimizers_step_is_an_optimizer_graph() -> None:
    cell = SMALL + "opt = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1), momentum=0.9)\n"
    with listening(cell) as run:
        from stc.capture.torch_compat import optimizers as inside

        opt = run.names["opt"]
        run.names["update"] = run.capture.wrap_optimizer_step(inside.inner_step(opt))
        run.cell("model(torch.randn(4, 6)).sum().backward()\nwith torch.no_grad(): update()\n")
    (graph,) = run.found.graphs
    assert (graph.phase, graph.name) == ("optimizer", "SGD.step")
    assert any(message.startswith("Compiling graph 1 (optimizer): ") for message in run.progress)


def test_a_run_that_cannot_take_events_stops_nobody() -> None:
    # given a run whose store has gone, and another one
    def broken(event: Event) -> None:
        raise OSError("disk full")

    def artefact(name: str, text: str) -> None:
        raise OSError("disk full")

    ear = listener()
    ear.attach(broken, step=lambda: None, artefact=artefact)
    try:
        with listening(SMALL) as run:
            run.compile()
            # when something is compiled
            run.cell(TRAIN)
    finally:
        ear.detach(broken)
    # then the training goes on, and the other one hears everything
    assert len(run.found.graphs) == 2
    assert [g.part for g in run.found.gaps] == ["artefacts"]


@pytest.mark.parametrize(
    ("part", "break_it"),
    [
        ("trace", lambda m: m.setattr("torch._logging._internal.trace_log", logging.getLogger("elsewhere"))),
        ("trace", lambda m: m.setattr("torch._logging.trace_structured", lambda *a, **k: None)),
        ("Dynamo graphs", lambda m: m.delattr("torch._TorchCompileInductorWrapper")),
        ("backward failures", lambda m: m.setattr("torch._inductor.compile_fx.compile_fx", lambda model, inputs: None)),
    ],
    ids=["no trace logger", "a trace that goes elsewhere", "no wrapper class", "no inner compiler"],
)
def test_a_torch_that_lacks_something_is_a_gap_by_name(
    part: str, break_it: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a torch of another day

    break_it(monkeypatch)
    before = list(logging.getLogger(dynamo.TRACE_LOGGER).handlers)
    ear = listener()
    heard: list[Event] = []
    sink = heard.append
    # when a run begins to listen
    ear.attach(sink, step=lambda: None, artefact=lambda name, text: None)
    try:
        # then it is told what is missing, and the rest is in
        gaps = [e.gap for e in heard if isinstance(e, GapSeen)]
        assert [g.part for g in gaps] == [part]
        assert gaps[0].reason
        assert ear.gaps() == gaps
    finally:
        ear.detach(sink)
    assert logging.getLogger(dynamo.TRACE_LOGGER).handlers == before


def test_an_event_in_new_words_is_a_gap_and_the_training_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # given a torch whose compile starts are told in another way
    def unreadable(number: object) -> str:
        raise ValueError("new words")

    monkeypatch.setattr(dynamo, "file_of", unreadable)
    with listening(SMALL) as run:
        run.compile()
        # when something is compiled
        run.cell(TRAIN)
    # then the graphs are there all the same, without what could not be read, and the report says so
    assert len(run.found.graphs) == 2
    assert ("dynamo_start", "ValueError: new words") in [(g.part, g.reason) for g in run.found.gaps]
