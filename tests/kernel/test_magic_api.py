"""Without a magic: `with stc.compiling(...)` and `stc.compile(model)`, in a notebook and in a script."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.kernels import Kernel, a_kernel
from stc.record.store import Store

MAKE = """
import json, stc, torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
    def forward(self, x):
        return self.lin(x).tanh()
def made():
    torch.manual_seed(0)
    model = Net()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)
def train(model, opt, steps=4):
    told = []
    for step in range(steps):
        opt.zero_grad()
        loss = model(torch.ones(4, 8) * step).square().mean()
        loss.backward()
        opt.step()
        told.append(loss.item())
    return told
"""


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("api")) as kernel:
        kernel(MAKE + "expected = train(*made())")
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


def numbers(kernel: Kernel, name: str) -> list[float]:
    told: list[float] = json.loads(kernel(f"print(json.dumps({name}))").stdout)
    return told


class TestABlock:
    def test_is_a_run_that_can_be_asked_afterwards(self, kernel: Kernel) -> None:
        output = kernel(
            "with stc.compiling(plan='inductor', name='a block') as run:\n    inside = run.run_id, run.report\n"
            "    losses = train(*made())\nrun.run_id, run.report.run.name, run.report.steps.total"
        )
        assert output.value == f"({output.run_id!r}, 'a block', 4)"
        assert kernel("inside").value == f"({output.run_id!r}, None)"
        assert numbers(kernel, "losses") == pytest.approx(numbers(kernel, "expected"), rel=1e-5)
        origin = output.report.run.origin
        assert (origin.kind, origin.cell) == ("context", output.number)
        assert {u.state for u in output.report.compile.units} == {"restored"}

    def test_eager_gives_the_same_to_the_bit(self, kernel: Kernel) -> None:
        kernel("with stc.compiling(plan='eager', quiet=True):\n    losses = train(*made())")
        assert numbers(kernel, "losses") == numbers(kernel, "expected")

    def test_an_error_in_it_is_the_users_alone(self, kernel: Kernel) -> None:
        output = kernel.run("with stc.compiling(plan='eager') as run:\n    x = 1\n    raise KeyError('mine')")
        assert output.error == "KeyError"
        assert f"In[{output.number}], line 3" in output.traceback
        assert "stc/" not in output.traceback
        assert output.report.run.status == "failed"
        (place,) = [f.location for f in output.report.findings if f.code == "run-partial"]
        assert place is not None and (place.file, place.line) == (f"In[{output.number}]", 3)

    def test_an_error_that_is_caught_outside_lets_the_cell_go_on(self, kernel: Kernel) -> None:
        output = kernel(
            "try:\n    with stc.compiling(plan='eager'):\n        1 / 0\nexcept ZeroDivisionError:\n    went_on = True\nwent_on"
        )
        assert output.value == "True"
        assert output.report.run.status == "failed"

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("plan='magic'", "--plan cannot be 'magic'. Choose one of: inductor, eager."),
            ("plaan='eager'", "There is no option 'plaan'. Options are: plan, target,"),
            ("report='no/where.json'", "The report cannot be written to 'no/where.json'"),
        ],
    )
    def test_a_mistake_is_one_sentence_and_nothing_has_run(self, kernel: Kernel, given: str, said: str) -> None:
        output = kernel.run(f"with stc.compiling({given}):\n    print('ran')")
        assert output.traceback.startswith(said)
        assert output.traceback.count("\n") == 0
        assert output.stdout == ""

    def test_within_another_belongs_to_that_one(self, kernel: Kernel) -> None:
        output = kernel(
            "with stc.compiling(plan='eager') as outer:\n    with stc.compiling(plan='inductor') as inner:\n"
            "        losses = train(*made())\nouter.run_id == inner.run_id, inner.report is outer.report"
        )
        assert output.value == "(True, True)"
        assert output.stderr.count("STC: a run is open already") == 1
        assert output.report.run.plan == "eager"

    def test_around_an_await_is_a_run_too(self, kernel: Kernel) -> None:
        output = kernel(
            "import asyncio\nwith stc.compiling(plan='eager'):\n    await asyncio.sleep(0.01)\n    losses = train(*made())"
        )
        assert output.report.steps.total == 4

    def test_each_turn_of_a_sweep_is_a_run_of_its_own(self, kernel: Kernel) -> None:
        output = kernel(
            "ids = []\nfor rate in (0.1, 0.2):\n    with stc.compiling(plan='eager', quiet=True, name=f'rate {rate}') as run:\n"
            "        losses = train(*made())\n    ids.append(run.run_id)\nlen(set(ids))"
        )
        assert output.value == "2"
        assert [r.status for r in Store.open().named("rate 0.1")] == ["completed"]


class TestAModel:
    def test_is_compiled_until_finish_in_this_cell_and_the_next(self, kernel: Kernel) -> None:
        kernel("model, opt = made()\nstc.compile(model, plan='inductor') is model")
        kernel("losses = train(model, opt, 2)")
        output = kernel("losses += train(model, opt, 2)\nstc.finish()")
        report = output.report
        assert (report.run.origin.kind, report.run.status, report.steps.total) == ("function", "completed", 4)
        assert {u.state for u in report.compile.units} == {"restored"}
        assert kernel("vars(model).get('_compiled_call_impl')").value is None

    def test_a_run_started_meanwhile_is_told_what_ends_this_one(self, kernel: Kernel) -> None:
        kernel("model, opt = made()\n_ = stc.compile(model, plan='eager')")
        output = kernel("with stc.compiling():\n    losses = train(model, opt)")
        assert "this code belongs to it" in output.stderr
        assert "`stc.finish()` ends it." in output.stderr
        assert kernel("stc.finish()").report.steps.total == 4

    def test_finishing_twice_or_without_one_does_nothing(self, kernel: Kernel) -> None:
        output = kernel("stc.finish()\nstc.finish()")
        assert (output.displays, output.stderr) == ([], "")

    def test_an_error_meanwhile_leaves_the_run_open(self, kernel: Kernel) -> None:
        kernel("model, opt = made()\n_ = stc.compile(model, plan='eager')")
        assert kernel.run("1 / 0").error == "ZeroDivisionError"
        assert kernel("losses = train(model, opt)\nstc.finish()").report.steps.total == 4

    def test_what_is_not_a_model_is_refused_in_one_sentence(self, kernel: Kernel) -> None:
        output = kernel.run("stc.compile('text')")
        assert output.traceback == "A str is not a model. Give a torch.nn.Module."


SCRIPT = (
    MAKE
    + """
import sys
if sys.argv[1] == "block":
    with stc.compiling(plan="eager", report="told.json"):
        losses = train(*made())
elif sys.argv[1] == "model":
    model, opt = made()
    stc.compile(model, plan="eager", report="told.json")
    losses = train(model, opt)
else:
    losses = train(*made())
print(json.dumps(losses))
"""
)


@pytest.mark.parametrize("how", ["block", "model"])
def test_in_a_script_the_output_is_the_programs_and_the_summary_goes_to_the_error_stream(
    stc_home: Path, tmp_path: Path, how: str
) -> None:
    # Given a script with a block, or with a model that is compiled until the program ends
    (tmp_path / "train.py").write_text(SCRIPT)

    def run(word: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "train.py", word]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path)

    # When it runs, then it prints what it prints without us
    done = run(how)
    assert done.stdout == run("plain").stdout
    assert "Left eager, as asked" in done.stderr
    # And the report says where it comes from
    document = json.loads((tmp_path / "told.json").read_text())
    origin = document["run"]["origin"]
    assert origin["kind"] == {"block": "context", "model": "function"}[how]
    assert origin["script"] == str(tmp_path / "train.py")
    assert (document["run"]["status"], document["steps"]["total"]) == ("completed", 4)


def test_in_a_terminal_the_summary_is_text(stc_home: Path, tmp_path: Path) -> None:
    # Given an IPython without a front end
    cell = (
        "get_ipython().run_cell('%load_ext stc'); get_ipython().run_cell('%%stc_compile --plan eager\\nx = 6\\nx * 7')"
    )
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", cell],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout
    assert "STC: Nothing was compiled: no model was called." in done.stdout
    assert "\x1b" not in done.stdout
