"""A training cell that is run again in the same kernel: what is in memory by then is not compiled again, but told again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures.kernels import Kernel, Output, a_kernel
from stc.record.store import Store

TRAIN = """%%stc_compile --plan inductor
for _ in range(4):
    opt.zero_grad()
    model(torch.ones(6, 8)).square().mean().backward()
    opt.step()
"""


def net(line: str) -> str:
    """A cell that makes a model with a line of its own in its forward."""
    return f"""
import torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.calls = nn.Linear(8, 4), 0
    def forward(self, x):
        x = self.lin(x).tanh()
        {line}
        return x
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("again")) as kernel:
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    the_kernel("import torch; torch._dynamo.reset()")
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


def built(output: Output) -> list[tuple[str, list[str]]]:
    return [(graph.id, [kernel.name for kernel in graph.kernels]) for graph in output.report.compile.graphs]


def test_its_graphs_are_told_again_as_they_were(kernel: Kernel) -> None:
    # Given a cell that has been run
    kernel(net("x = x * 2"))
    first = kernel(TRAIN)
    assert [graph.phase for graph in first.report.compile.graphs] == ["forward", "backward", "optimizer"]
    # When it is run again
    again = kernel(TRAIN)
    # Then its report has the same graphs, out of memory, with their code, and nothing was compiled
    assert built(again) == built(first)
    report = again.report
    assert {g.cache.cache for g in report.compile.graphs if g.cache is not None} == {"memory"}
    assert report.steps.excluded.compiling == 0
    assert not report.compile.total_s
    assert again.codes == first.codes
    for graph in report.compile.graphs:
        assert graph.code is not None and Store.open().artefact(again.run_id, graph.code)
    # And lines point to the cell that made the model
    places = {op.location.file for g in report.compile.graphs for op in g.ops if op.location is not None}
    assert places <= {source.file for source in report.sources}


def test_also_where_the_model_has_been_made_anew(kernel: Kernel) -> None:
    kernel(net("x = x * 3"))
    first = kernel(TRAIN)
    kernel("model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1)")
    again = kernel(TRAIN)
    phases = {graph.phase for graph in again.report.compile.graphs}
    assert phases == {graph.phase for graph in first.report.compile.graphs}


def test_what_belongs_to_another_model_is_not_told(kernel: Kernel) -> None:
    # Given two models of one stock class, which share their code, each run by itself
    kernel(
        "import torch.nn as nn; one, two = nn.Sequential(nn.Linear(8, 4)), nn.Sequential(nn.Linear(8, 2), nn.Tanh())"
    )
    cell = "%%stc_compile --plan inductor\n_ = {}(torch.ones(2, 8))"
    graphs = [[names for _, names in built(kernel(cell.format(name)))] for name in ("one", "two", "one", "two")]
    assert [len(found) for found in graphs] == [1, 1, 1, 1]
    assert graphs[0] == graphs[2]
    assert graphs[1] == graphs[3]
    assert graphs[0] != graphs[1]


def test_after_torch_has_forgotten_everything_it_is_compiled_again(kernel: Kernel) -> None:
    kernel(net("x = x * 4"))
    first = kernel(TRAIN)
    kernel("torch._dynamo.reset()")
    again = kernel(TRAIN)
    assert built(again) == built(first)
    assert again.report.steps.excluded.compiling > 0


def test_its_graph_break_is_told_again_since_it_costs_every_step(kernel: Kernel) -> None:
    kernel(net("print(end='')"))
    reports = [kernel(TRAIN).report for _ in range(2)]
    for report in reports:
        (found,) = [f for f in report.findings if f.code == "graph-break"]
        assert found.location is not None and (found.location.text or "").strip() == "print(end='')"
    assert len({tuple(sorted(graph.id for graph in report.compile.graphs)) for report in reports}) == 1


def test_a_function_that_was_given_up_is_tried_again_and_told_again(kernel: Kernel) -> None:
    # Given a model that recompiles on every call, until torch gives it up
    kernel(net("self.calls += 1; x = x * self.calls"))
    cell = TRAIN.replace("range(4)", "range(12)")
    for _ in range(2):
        output = kernel(cell)
        assert output.codes[0] == "recompile-limit"
        assert output.report.steps.excluded.mixed > 0
