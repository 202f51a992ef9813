"""A report is whole on a warm start, in a new process, with the lines that the code has today."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")

from stc.capture import warm
from stc.record.types import Bytes, Graph, Kernel, Location, Operation

SCRIPT = """
import json, sys, torch
from fixtures.seen import capturing
torch.manual_seed(0)
{space}
{step}
with capturing() as seen:
    weight = torch.ones(16, 16, requires_grad=True)
    torch.compile(step)(weight, torch.ones(4, 16)).backward()

def plain(graph):
    return dict(
        cache=None if graph.cache is None else graph.cache.outcome,
        kernels=[[k.id, k.kind, k.bytes_read, k.bytes_written, [[o.name, o.location and o.location.line] for o in k.ops],
                  k.code is not None and seen.artefacts[k.code.artefact].splitlines()[k.code.first_line - 1]]
                 for k in graph.kernels],
        edges=[[n.first, n.second, n.reason] for n in graph.not_fused],
        bytes=[graph.bytes.eager, graph.bytes.decomposed, graph.bytes.fused],
        folded=[p.line for p in graph.folded],
        ops=[[o.name, o.location and o.location.line] for o in graph.ops],
    )

parts = ("fusion", "bytes", "fusion reports", "reports from the cache", "lines of graphs from the cache")
print(json.dumps(dict(graphs={{k: plain(g) for k, g in seen.graphs.items()}}, gaps=seen.gaps_of(*parts))))
"""

STEP = """
def step(weight, x):
    h = torch.nn.functional.gelu(x @ weight)
    return (h - h.mean(-1, keepdim=True)).view(-1).sum()
"""
# The same operations under other names and on other lines; `h` is another one of them.
SAME = """
def step(weight, x):
    product = x @ weight
    h_gelu = torch.nn.functional.gelu(product)
    h = h_gelu.mean(-1, keepdim=True)
    centred = h_gelu - h
    flat = centred.view(-1)
    return flat.sum()
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inductor")


def start(cache: Path, *, step: str = STEP, space: int = 0, **environment: str) -> Any:
    """One process that compiles the step, with ``space`` empty lines above it."""
    script = cache / "train.py"
    script.write_text(SCRIPT.format(space="\n" * space, step=step))
    tests = str(Path(__file__).parents[1])
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache / "cache"), "PYTHONPATH": tests, **environment}
    env.pop("TORCHINDUCTOR_FORCE_DISABLE_CACHES", None)
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="module")
def first(cache: Path) -> Any:
    return start(cache)


def moved(value: Any, by: int) -> Any:
    """The same report with every line moved down."""
    found = json.loads(json.dumps(value))
    for graph in found["graphs"].values():
        graph["folded"] = [line + by for line in graph["folded"]]
        for op in (*graph["ops"], *(o for k in graph["kernels"] for o in k[4])):
            op[1] += by
    return found


def without_cache(value: Any) -> Any:
    return {name: {k: v for k, v in graph.items() if k != "cache"} for name, graph in value["graphs"].items()}


def test_a_cold_start_reports_forward_and_backward(first: Any) -> None:
    assert {name: graph["cache"] for name, graph in first["graphs"].items()} == {
        "0/0:forward": "miss", "0/0:backward": "miss",
    }  # fmt: skip
    assert first["gaps"] == []
    for graph in first["graphs"].values():
        assert graph["kernels"] and None not in graph["bytes"]


def test_a_warm_start_reports_the_same(cache: Path, first: Any) -> None:
    again = start(cache)
    assert {graph["cache"] for graph in again["graphs"].values()} == {"hit"}
    assert again["gaps"] == []
    assert without_cache(again) == without_cache(first)


def test_code_that_has_moved_has_todays_lines(cache: Path, first: Any) -> None:
    again = start(cache, space=3)
    assert {graph["cache"] for graph in again["graphs"].values()} == {"hit"}
    assert without_cache(again) == without_cache(moved(first, 3))


def test_a_start_from_the_graph_cache_alone_reports_the_same(cache: Path, first: Any) -> None:
    again = start(cache, space=1, TORCHINDUCTOR_AUTOGRAD_CACHE="0")
    assert {graph["cache"] for graph in again["graphs"].values()} == {"hit"}
    assert without_cache(again) == without_cache(moved(first, 1))


@pytest.mark.slow
def test_an_entry_that_another_program_left_has_this_programs_lines(cache: Path, first: Any, tmp_path: Path) -> None:
    # given what a cold start of a second program reports
    (tmp_path / "own").mkdir()
    cold = start(tmp_path / "own", step=SAME)
    # when it starts where a first one with the same operations has left its entries
    shared = start(cache, step=SAME)
    # and again, when AOTAutograd's cache knows it, too
    again = start(cache, step=SAME)
    # then nothing was compiled anew, and no line is the first program's
    for found in (shared, again):
        assert {graph["cache"] for graph in found["graphs"].values()} == {"hit"}
        assert found["gaps"] == []
        assert without_cache(found) == without_cache(cold)


# --------------------------------------------------------------------------- what cannot be read


def graph(**more: Any) -> Graph:
    place = Location(file="In[3]", line=5)
    op = Operation(name="aten.mul.Tensor", location=place, node="y")
    kernel = Kernel(id="0/0:forward:0", name="cpp_fused_mul_0", kind="cpp", ops=[op])
    return Graph(id="0/0:forward", phase="forward", ops=[op], kernels=[kernel], bytes=Bytes(fused=8), **more)


def test_a_report_survives_the_cache() -> None:
    compiled = SimpleNamespace()
    held = warm.Embedded(format=warm.FORMAT, graph=graph(), eager=(3, None), sequences={4: "y"})
    warm.embed(compiled, held)
    assert warm.read(compiled) == held


def test_an_entry_without_a_report_has_none() -> None:
    assert warm.read(SimpleNamespace()) is None


@pytest.mark.parametrize("damage", [b"", b"not compressed", 7, None.__class__])
def test_a_damaged_report_says_so(damage: Any) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        warm.read(SimpleNamespace(**{warm.ATTRIBUTE: damage}))


@pytest.mark.parametrize("text", [b"[]", b'{"format": 3}', b'{"format": 3, "graph": {"id": 7}}', b'{"no": 1}'])
def test_a_report_of_another_shape_says_so(text: bytes) -> None:
    import zlib

    with pytest.raises(ValueError, match="cannot be read"):
        warm.read(SimpleNamespace(**{warm.ATTRIBUTE: zlib.compress(text)}))


def test_a_report_of_another_format_says_which() -> None:
    compiled = SimpleNamespace()
    warm.embed(compiled, warm.Embedded(format=warm.FORMAT + 1, graph=graph()))
    with pytest.raises(ValueError, match=f"format {warm.FORMAT + 1}, not {warm.FORMAT}"):
        warm.read(compiled)


def test_ids_and_places_are_todays() -> None:
    today = Location(file="In[9]", line=2)
    fields = warm.remapped(graph(), "7/1:forward", {"y": "z"}, {"z": today, "y": Location(file="In[9]", line=7)})
    assert fields["kernels"][0].id == "7/1:forward:0"
    assert (fields["kernels"][0].ops[0].node, fields["kernels"][0].ops[0].location) == ("z", today)


def test_a_place_that_is_no_more_is_not_shown() -> None:
    fields = warm.remapped(graph(), "7/1:forward", {"y": "y"}, {})
    assert fields["ops"][0].location is None


def test_nodes_of_another_program_are_not_taken_for_ours_by_their_name() -> None:
    held = [("h", "aten.relu"), ("y", "aten.tanh")]
    assert warm.same_calls(held, [("y", "aten.relu"), ("h", "aten.tanh")]) == {"h": "y", "y": "h"}
    assert warm.same_calls(held, [("a", "aten.relu"), ("y", "detach"), ("b", "aten.tanh")]) == {"h": "a", "y": "b"}
    # an operation that is not there today has no counterpart, whatever else has its name
    assert warm.same_calls(held, [("y", "aten.relu"), ("h", "aten.exp")]) == {"h": "y"}


def test_an_operation_without_a_counterpart_has_no_line() -> None:
    # given two operations of one line then, of which only one is there today
    place, today = Location(file="In[3]", line=5), Location(file="In[9]", line=2)
    ops = [Operation(name=f"aten.{n}", location=place, node=n) for n in ("relu", "square")]
    held = Graph(id="0/0:forward", phase="forward", ops=ops)
    # when the graph comes from the cache
    fields = warm.remapped(held, "7/1:forward", {"relu": "r"}, {"r": today})
    # then the other one's line is not guessed from its neighbour's
    assert [op.location for op in fields["ops"]] == [today, None]


def test_a_damaged_report_in_the_cache_is_a_gap_and_the_graph_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from fixtures.seen import capturing

    def run() -> torch.Tensor:
        torch._dynamo.reset()
        return torch.compile(lambda x: x.sin() * 3 + 0.25)(torch.zeros(7))

    with monkeypatch.context() as patch:
        patch.setattr(warm, "embed", lambda compiled, held: setattr(compiled, warm.ATTRIBUTE, b"damaged"))
        with capturing():
            run()
    with capturing() as seen:
        assert torch.equal(run(), torch.full((7,), 0.25))
    assert any("cannot be read" in reason for reason in seen.gaps_of("fusion"))
