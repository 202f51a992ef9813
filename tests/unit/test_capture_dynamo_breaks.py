"""Graph breaks and skipped frames: one for each place and cause, at the user's line, with a count that is right."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fixtures.listening import NEWEST, listening
from stc.capture.breaks import parse

SCALAR_READ = """\
import torch, torch.nn as nn
history = []
class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    def forward(self, x, y):
        loss = (self.body(x) - y).pow(2).mean()
        history.append(loss.item())
        return loss
model = Regressor()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
"""

BRANCH_IN_HELPER = """\
import torch, torch.nn as nn
def gate(h):
    if h.mean() > 0:
        return h * 2
    return h / 2
class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def forward(self, x):
        return gate(self.lin(x)).sum()
model = Gated()
"""


def test_a_scalar_read_breaks_each_of_six_calls_at_one_line() -> None:
    # given a model that reads its loss on the host and appends it to a list
    with listening(SCALAR_READ) as run:
        run.compile()
        # when it is called six times, and compiled each time because the list has grown
        run.cell(
            "for _ in range(6):\n"
            "    opt.zero_grad()\n"
            "    model(torch.randn(8, 16), torch.randn(8, 1)).backward()\n"
            "    opt.step()\n"
            "    run.step += 1\n"
        )
    # then there is one break, at the cell's line, that occurred in all six steps
    (found,) = run.found.breaks
    assert (found.count, found.steps, found.kind, found.benign) == (6, [0, 1, 2, 3, 4, 5], "graph-break", False)
    assert found.location is not None
    assert (found.location.file, found.location.line, found.location.cell, found.location.cell_id) == (
        "In[1]",
        9,
        1,
        "cell-1",
    )
    assert found.location.function == "forward"
    assert (found.location.text or "").strip() == "history.append(loss.item())"
    if NEWEST and sys.version_info >= (3, 11):
        assert (found.location.column, found.location.end_column) == (23, 35)
    # and torch's own words and hints, each once
    assert "item()" in found.reason
    assert found.hints
    assert len(found.hints) == len(set(found.hints))
    # and both cells' sources, since the stack passes through both
    assert {"In[1]", "In[2]"} <= {s.file for s in run.report.sources}
    assert not run.failures
    assert not run.found.gaps


def test_a_branch_in_a_helper_is_one_break_however_often_torch_meets_it() -> None:
    # given a helper that branches on a tensor, called from a model
    with listening(BRANCH_IN_HELPER) as run:
        run.compile()
        # when both branches are taken
        run.cell("for shift in (0.0, 9.0):\n    model(torch.randn(2, 4) + shift).backward()\n    run.step += 1\n")
    # then it is one break in the helper, although caller and helper were both compiled around it
    (found,) = run.found.breaks
    assert found.count == 1
    assert found.location is not None
    assert (found.location.file, found.location.line, found.location.function) == ("In[1]", 3, "gate")
    assert len(found.compile_ids) == 2
    # and the rest of the functions has a name that can be read
    assert {"Gated.forward", "gate", "gate (from line 3)", "forward (from line 11)"} == {
        g.name for g in run.found.graphs
    }


def test_a_redefined_helper_shows_its_new_source() -> None:
    with listening(BRANCH_IN_HELPER) as run:
        run.cell("def gate(h):\n    print('looking')\n    return h * 3\n")
        run.compile()
        run.cell("model(torch.randn(2, 4)).backward()")
    (found,) = run.found.breaks
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("In[2]", 2)
    assert (found.location.text or "").strip() == "print('looking')"
    assert "print('looking')" in next(s.text for s in run.report.sources if s.file == "In[2]")


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("for _ in range(3):\n            if h.sum() > 0:\n                h = h * 2", 9),
        ("with lock:\n            h = h * 2", 8),
    ],
    ids=["a branch in a loop", "a lock"],
)
def test_a_frame_that_is_skipped_whole_is_told_with_its_line(statement: str, line: int) -> None:
    # given a forward that Dynamo cannot resume after its break
    cell = f"""\
import threading, torch, torch.nn as nn
lock = threading.Lock()
class Skipped(nn.Module):
    def __init__(self):
        super().__init__(); self.lin = nn.Linear(4, 4)
    def forward(self, x):
        h = self.lin(x)
        {statement}
        return h.sum()
model = Skipped()
"""
    with listening(cell) as run:
        run.compile()
        # when it is called
        run.cell("for _ in range(2):\n    model(torch.randn(2, 4)).backward()\n    run.step += 1\n")
    # then nothing was compiled, and the report says where and that the whole function runs eager
    (found,) = run.found.breaks
    assert found.kind == "frame-skipped"
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("In[1]", line)
    assert not run.found.graphs
    assert not run.failures


def test_what_an_optimizer_does_inside_is_benign() -> None:
    # given a user's own compiled function that updates with torch's optimizer
    with listening(
        "import torch, torch.nn as nn\nmodel = nn.Linear(4, 4)\nopt = torch.optim.AdamW(model.parameters())\n"
    ) as run:
        # when it runs
        run.cell("model(torch.ones(2, 4)).sum().backward()\n@torch.compile\ndef update():\n    opt.step()\nupdate()\n")
    # then torch's own breaks are not held against the user
    assert run.found.breaks
    assert all(b.benign for b in run.found.breaks)
    # and the graph is the optimizer's, at the user's line
    (graph,) = run.found.graphs
    assert (graph.phase, graph.name) == ("optimizer", "AdamW.step")
    assert graph.location is not None
    assert (graph.location.file, graph.location.line) == ("In[2]", 4)


def test_a_break_inside_a_library_counts_and_shows_where_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a model from an installed package, which prints
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "somelib.py").write_text(
        "from torch import nn\nclass Noisy(nn.Linear):\n    def forward(self, x):\n        h = super().forward(x)\n"
        "        print('noise')\n        return h * 3.25\n"
    )
    monkeypatch.syspath_prepend(str(package))
    with listening("import torch, somelib\nmodel = somelib.Noisy(5, 7)\n") as run:
        run.compile()
        run.cell("model(torch.ones(3, 5)).sum().backward()\n")
    sys.modules.pop("somelib")
    # then the user's line is the one that calls it, and the library's is named
    (found,) = run.found.breaks
    assert not found.benign
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("In[2]", 1)
    assert "somelib.py" in (found.detail or "")
    # and operations have the library's own lines
    places = [op.location for g in run.found.graphs for op in g.ops if op.location is not None]
    assert {p.line for p in places} == {4, 6}
    assert all((p.path or "").endswith("somelib.py") for p in places)


def test_torchs_preamble_is_not_the_reason() -> None:
    # given a break in torch 2.13's words
    text = """\
Graph break in user code at /nowhere/train.py:3
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print` with argument types ['str'] (has_kwargs False)
  Hint: Avoid calling builtin `print`.
  Hint: Please report an issue to PyTorch.

  Developer debug context: builtin print

User code traceback:
  File "/nowhere/train.py", line 3, in forward
    print("hidden")

Traceback (most recent call last):
  File "/lib/site-packages/torch/_dynamo/symbolic_convert.py", line 1, in run
torch._dynamo.exc.Unsupported: Failed to trace builtin operator
  Hint: Avoid calling builtin `print`.
"""
    # when it is read
    found = parse(text, optimizer=False)
    # then its parts are where they belong, and nothing is told twice
    assert found.reason == "Failed to trace builtin operator"
    assert found.hints == ["Avoid calling builtin `print`.", "Please report an issue to PyTorch."]
    assert (found.detail or "").startswith("Dynamo does not know how to trace builtin operator `print`")
    assert found.location is not None
    assert [(s.line, s.function) for s in found.stack] == [(3, "forward")]


def test_words_that_torch_may_use_tomorrow_still_give_a_break() -> None:
    found = parse("something new", optimizer=False)
    assert (found.reason, found.location, found.benign) == ("something new", None, False)
