"""Recompilations: the guard that failed, what it compared before and after, where; and the limit at which torch gives up."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fixtures.listening import listening
from stc.capture.guards import Guard, choose, parse

RAGGED = """\
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
rows = TensorDataset(torch.randn(70, 16), torch.randint(0, 4, (70,)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 32), nn.Linear(32, 4)
    def forward(self, x):
        return self.b(torch.relu(self.a(x)))
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""

COUNTER = """\
import torch, torch.nn as nn
class Warmup(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.seen = nn.Linear(8, 8), 0
    def forward(self, x):
        self.seen += 1
        return self.lin(x) * min(1.0, self.seen / 100)
model = Warmup()
"""


def test_a_ragged_last_batch_is_one_recompilation() -> None:
    # given 70 rows in batches of 32
    with listening(RAGGED) as run:
        run.compile()
        # when two epochs are trained
        run.cell(
            "for epoch in range(2):\n    for x, y in DataLoader(rows, batch_size=32):\n"
            "        opt.zero_grad(); nn.functional.cross_entropy(model(x), y).backward(); opt.step()\n        run.step += 1\n"
        )
    # then the third batch is compiled again, and nothing after it
    (found,) = run.found.recompilations
    assert (found.kind, found.source, found.dimension, found.before, found.after) == ("shape", "x", 0, "32", "6")
    assert (found.guard, found.function, found.call, found.step) == ("x.size()[0] == 32", "Net.forward", 3, 2)
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("In[1]", 8)
    assert not found.benign
    # and its graphs have a size that may change
    dynamic = {g.id: g.dynamic for g in run.found.graphs}
    assert dynamic == {"0/0:forward": False, "0/0:backward": False, "0/1:forward": True, "0/1:backward": True}
    assert [g.step for g in run.found.graphs] == [0, 0, 2, 2]
    assert not run.found.breaks
    assert not run.found.limits


def test_a_counter_in_the_model_runs_into_the_limit_at_call_nine() -> None:
    # given a model that counts its calls
    with listening(COUNTER) as run:
        run.compile()
        # when it is called fifteen times
        run.cell("for _ in range(15):\n    model(torch.randn(4, 8)).sum().backward()\n    run.step += 1\n")
    # then torch gave up at the ninth, because of the counter, on its line
    (limit,) = run.found.limits
    assert (limit.function, limit.limit, limit.call, limit.step) == ("Warmup.forward", 8, 9, 8)
    assert limit.guard == "self.seen == 7"
    assert limit.location is not None
    assert (limit.location.file, limit.location.line) == ("In[1]", 7)
    # and there were seven recompilations before it, each with the counter's values
    assert [(r.before, r.after) for r in run.found.recompilations] == [(str(k), str(k + 1)) for k in range(7)]
    assert {(r.kind, r.source, r.location.line if r.location else None) for r in run.found.recompilations} == {
        ("value", "self.seen", 7)
    }
    # and giving up is no failure
    assert not run.failures


def test_a_growing_list_is_a_length() -> None:
    cell = COUNTER.replace("self.lin, self.seen = nn.Linear(8, 8), 0", "self.lin, self.seen = nn.Linear(8, 8), []")
    cell = cell.replace("self.seen += 1", "self.seen.append(x.detach())").replace(
        "self.seen / 100", "len(self.seen) / 100"
    )
    with listening(cell) as run:
        run.compile()
        run.cell("for _ in range(3):\n    model(torch.randn(4, 8)).sum().backward()\n")
    assert [(r.kind, r.source, r.before, r.after) for r in run.found.recompilations] == [
        ("length", "self.seen", "0", "1"), ("length", "self.seen", "1", "2")
    ]  # fmt: skip


def test_validation_in_between_is_benign_and_does_not_hide_a_changed_size() -> None:
    # given a model that is trained, then evaluated, then trained with another batch size
    cell = RAGGED.replace(
        "def forward(self, x):", "def forward(self, x):\n        x = nn.functional.dropout(x, 0.5, self.training)"
    )
    with listening(cell) as run:
        run.compile()
        # when it runs
        run.cell(
            "model(torch.randn(8, 16)).sum().backward()\n"
            "model.eval()\nwith torch.no_grad(): model(torch.randn(8, 16))\n"
            "model.train()\nmodel(torch.randn(5, 16)).sum().backward()\nmodel(torch.randn(8, 16)).sum().backward()\n"
        )
    # then going to evaluation is benign, and the size is seen although the latest version was for evaluation
    flip, size = run.found.recompilations
    assert flip.kind in ("grad-mode", "training-mode")
    assert flip.benign
    assert (flip.before, flip.after) == ("True", "False")
    assert (size.kind, size.dimension, size.before, size.after, size.benign) == ("shape", 0, "8", "5", False)


def test_a_call_that_fails_by_itself_is_no_recompilation() -> None:
    # given a model and a batch that it cannot take
    with listening(RAGGED) as run:
        run.compile()
        run.cell("model(torch.randn(4, 16)).sum().backward()")
        # when it is called with it
        with pytest.raises(RuntimeError):
            run.cell("model(torch.randn(4, 17))")
    # then that is told as a failure in the user's words, and not as one more version of the model
    assert not run.found.recompilations
    (failure,) = run.failures
    assert failure.type == "RuntimeError"
    assert "must have same reduction dim" in failure.message or "cannot be multiplied" in failure.message
    assert failure.location is not None
    assert failure.location.file == "In[1]"


class Net:
    def __init__(self) -> None:
        self.seen, self.training, self.layers, self.table = 3, False, [1, 2], {"k": 2.5}


LOCAL: dict[str, Any] = {
    "self": Net(),
    "x": torch.zeros(6, 3),
    "scale": 0.25,
    "mode": "sum",
    "flag": True,
    "items": [1, 2, 3],
}


@pytest.mark.parametrize(
    ("reason", "kind", "guard", "source", "dimension", "before", "after"),
    [
        ("0/0: tensor 'x' size mismatch at index 0. expected 32, actual 6", "shape", "x.size()[0] == 32", "x", 0, "32", "6"),
        ("tensor 'L['x']' size mismatch at index 1. expected 32, actual 6", "shape", "x.size()[1] == 32", "x", 1, "32", "6"),
        ("tensor 'x' stride mismatch at index 0. expected 4, actual 8", "shape", "x.stride()[0] == 4", "x", 0, "4", "8"),
        ("tensor 'x' rank mismatch. expected 2, actual 3", "shape", "x.dim() == 2", "x", None, "2", "3"),
        ("tensor 'x' dtype mismatch. expected Float, actual Double", "dtype", "x.dtype == Float", "x", None, "Float", "Double"),
        (
            "tensor 'x' requires_grad mismatch. expected requires_grad=0",
            "other", "x.requires_grad == False", "x", None, "False", "True",
        ),
        (
            "tensor 'x' Tensor device index mismatch. Expected device index to be 0, actual 1",
            "other", "x.device == 0", "x", None, "0", "1",
        ),
        ("L['x'].size()[0] == 32", "shape", "x.size()[0] == 32", "x", 0, "32", "6"),
        ("2 <= L['x'].size()[0]", "shape", "2 <= x.size()[0]", "x", 0, None, None),
        ("L['x'].size()[0] == L['y'].size()[1]", "shape", "x.size()[0] == y.size()[1]", "x", 0, None, None),
        ("L['self'].seen == 2  # self.seen += 1  # a.py:7 in forward", "value", "self.seen == 2", "self.seen", None, "2", "3"),
        ("self.seen == 2            (HINT: torch.compile considers", "value", "self.seen == 2", "self.seen", None, "2", "3"),
        ("L['scale'] == 0.5", "value", "scale == 0.5", "scale", None, "0.5", "0.25"),
        ("L['mode'] == 'mean'", "value", "mode == 'mean'", "mode", None, "'mean'", "'sum'"),
        ("L['mode'] is None", "value", "mode == None", "mode", None, "None", "'sum'"),
        ("L['self'].table['k'] == 1.5", "value", "self.table['k'] == 1.5", "self.table['k']", None, "1.5", "2.5"),
        ("G['counter'] == 4", "value", "counter == 4", "counter", None, "4", "5"),
        ("len(L['items']) == 2", "length", "len(items) == 2", "items", None, "2", "3"),
        ("not L['items']", "length", "len(items) == 0", "items", None, "0", "3"),
        ("not L['flag']", "value", "not flag", "flag", None, "False", "True"),
        (
            "___check_type_id(L['scale'], 7), type=<class 'int'>  # code",
            "type", "type(scale) is int", "scale", None, "int", "float",
        ),
        ("___check_type_id(L['scale'], 7)", "type", "type of scale", "scale", None, None, "float"),
        ("___check_obj_id(L['self'].layers, 7)", "identity", "identity of self.layers", "self.layers", None, None, "list"),
        ("___check_obj_id(L['self'].training, 7)", "training-mode", "self.training", "self.training", None, "True", "False"),
        ("L['self'].training == True", "training-mode", "self.training == True", "self.training", None, "True", "False"),
        ("___dict_contains('k', L['self'].table)", "value", "'k' in self.table", "self.table", None, "present", "absent"),
        ("GLOBAL_STATE changed: grad_mode ", "grad-mode", "torch.is_grad_enabled()", None, None, "False", "True"),
        ("GLOBAL_STATE changed: num_threads ", "global", "num_threads", None, None, None, None),
        ("a guard of tomorrow", "other", "a guard of tomorrow", None, None, None, None),
    ],
)  # fmt: skip
def test_guards_are_taken_apart(
    reason: str, kind: str, guard: str, source: str | None, dimension: int | None, before: str | None, after: str | None
) -> None:
    found = parse(reason, LOCAL, {"counter": 5}, grad=True)
    assert (found.kind, found.text, found.source, found.dimension, found.before, found.after) == (
        kind, guard, source, dimension, before, after
    )  # fmt: skip


def test_reading_a_value_runs_none_of_the_users_code() -> None:
    # given an object whose attributes and subscripts compute something
    class Trap:
        def __getattr__(self, name: str) -> object:
            raise AssertionError("ran")

        def __getitem__(self, key: object) -> object:
            raise AssertionError("ran")

    class Filling(dict[str, int]):
        def __missing__(self, key: str) -> int:
            raise AssertionError("ran")

    # when guards on them are read
    for reason in (
        "L['t'].width == 3",
        "L['t'][0] == 3",
        "L['d']['k'] == 3",
        "f(L['t']) == 3",
        "L['t'].size()[0] == 3",
    ):
        found = parse(reason, {"t": Trap(), "d": Filling()}, {})
        # then the value after is unknown
        assert found.after is None


def test_the_mode_explains_a_recompilation_only_where_it_is_new() -> None:
    mode, size = Guard("self.training", "", "training-mode"), Guard("x.size()[0] == 8", "", "shape")
    assert choose([mode, size], mode_known=False) is mode
    assert choose([size, mode], mode_known=False) is mode
    assert choose([mode, size], mode_known=True) is size
    assert choose([mode], mode_known=True) is mode
