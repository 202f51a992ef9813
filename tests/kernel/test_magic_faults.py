"""What ends a cell early, and what a compiler cannot do: the training is the user's own throughout, and the report says what it covers."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from fixtures.kernels import Kernel, Output, a_kernel
from stc.record.types import Finding

SETUP = """
import json, time, torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
    def forward(self, x):
        return self.lin(x).tanh()
"""
MAKE = "torch.manual_seed(0); model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1); losses = []\n"
LOOP = """for step in range(6):
    opt.zero_grad()
    loss = model({batch}).square().mean()
    {between}
    loss.backward()
    opt.step()
    losses.append(loss.item())
"""


def loop(*, batch: str = "torch.ones(4, 8) * step", between: str = "pass") -> str:
    return LOOP.format(batch=batch, between=between)


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("faults")) as kernel:
        kernel(SETUP)
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    """After each test torch is as it was, and a plain cell trains as if nothing had ever been loaded."""
    the_kernel("torch._dynamo.reset()")
    yield the_kernel
    assert the_kernel.left_behind() == "[]"
    the_kernel(SETUP + MAKE + "before = set(vars(model)), set(vars(opt))\n" + loop())
    assert the_kernel("set(vars(model)) == before[0], set(vars(opt)) - before[1]").value in (
        "(True, set())",
        "(True, {'_opt_called'})",
    )


def losses(kernel: Kernel) -> list[float]:
    told: list[float] = json.loads(kernel("print(json.dumps(losses))").stdout)
    return told


def finding(output: Output, code: str) -> Finding:
    (found,) = [f for f in output.report.findings if f.code == code]
    return found


class TestAnError:
    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    @pytest.mark.parametrize(
        ("cell", "steps", "kind"),
        [
            (loop(batch="torch.ones(4, 9)"), 0, "RuntimeError"),
            (loop(batch="torch.ones(4, 8 if step < 3 else 9)"), 3, "RuntimeError"),
            (loop(between="assert step < 2, 'so far'"), 2, "AssertionError"),
            (loop(batch="[torch.ones(4, 8)][step]"), 1, "IndexError"),
            (loop(between="loss = loss.detach() if step == 3 else loss"), 3, "RuntimeError"),
        ],
        ids=["in the first step", "in the fourth", "of the loop's", "of the data's", "in the backward pass"],
    )
    def test_is_the_users_as_it_is_eager(self, kernel: Kernel, plan: str, cell: str, steps: int, kind: str) -> None:
        # Given how a plain cell ends
        kernel(MAKE)
        expected = kernel.run(cell)
        # When the same cell ends under the magic
        kernel(MAKE)
        output = kernel.run(f"%%stc_compile --plan {plan}\n{cell}")
        # Then with the same error at the user's line, so that "run all" stops
        assert (output.status, output.error, output.message) == ("error", kind, expected.message)
        assert f"In[{output.number}], line" in output.traceback
        for ours in ("stc/", "_dynamo/", "_inductor/"):
            assert ours not in output.traceback
        # And the loop's variables are what they were when it ended
        assert kernel("step, len(losses)").value == f"({steps}, {steps})"
        # And the report is marked as what it is
        run = output.report.run
        assert (run.status, run.partial) == ("failed", True)
        assert output.report.steps.total == steps
        partial = finding(output, "run-partial")
        assert partial.location is not None
        inside_the_model = "9" in cell
        assert (partial.location.function == "forward") is inside_the_model
        assert inside_the_model or partial.location.file == f"In[{output.number}]"
        assert kind in partial.message

    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_in_the_models_own_code_points_there(self, kernel: Kernel, plan: str) -> None:
        made = kernel(
            "class Odd(Net):\n    def forward(self, x):\n        if x.shape[0] == 3:\n            raise ValueError('three')\n"
            "        return super().forward(x)\n"
            "model = Odd(); opt = torch.optim.SGD(model.parameters(), lr=0.1); losses = []"
        )
        output = kernel.run(f"%%stc_compile --plan {plan}\n" + loop(batch="torch.ones(5 - step, 8)"))
        assert (output.error, output.message) == ("ValueError", "three")
        assert f"In[{made.number}], line 4" in output.traceback
        assert f"In[{output.number}], line 4" in output.traceback
        assert "_dynamo/" not in output.traceback
        place = finding(output, "run-partial").location
        assert place is not None and (place.file, place.line) == (f"In[{made.number}]", 4)


class TestAnInterrupt:
    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_in_a_step_keeps_what_was_done(self, kernel: Kernel, plan: str) -> None:
        kernel(MAKE)
        cell = loop(between="print(step); time.sleep(0.05)").replace("range(6)", "range(2000)")
        output = kernel.interrupt_when(f"%%stc_compile --plan {plan}\n{cell}", lambda so_far: "3\n" in so_far.stdout)
        assert (output.status, output.error) == ("error", "KeyboardInterrupt")
        assert "stc/" not in output.traceback
        report = output.report
        assert (report.run.status, report.run.partial) == ("interrupted", True)
        done = int(kernel("len(losses)").value or 0)
        assert 3 <= done < 100
        assert report.steps.total == done
        assert finding(output, "run-partial").severity == "info"

    def test_while_something_is_compiled_leaves_nothing_half_done(
        self, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        # Given a kernel with an empty cache, where compiling takes seconds
        folder = tmp_path_factory.mktemp("interrupted")
        with a_kernel(folder, TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor")) as kernel:
            kernel(SETUP + MAKE)
            cell = loop(between="print('.'); time.sleep(0.05)").replace("range(6)", "range(400)")
            # When it is interrupted as soon as the progress tells of it
            output = kernel.interrupt_when(
                f"%%stc_compile --plan inductor\n{cell}",
                lambda so_far: any("Compiling graph" in d.get("text/plain", "") for d in so_far.displays),
            )
            # Then that is what the cell ends with, and the progress is gone
            assert (output.status, output.error) == ("error", "KeyboardInterrupt")
            assert not any("Compiling graph" in d.get("text/plain", "") for d in output.displays)
            for ours in ("stc/", "_dynamo/", "_inductor/", "convert_frame"):
                assert ours not in output.traceback
            assert output.report.run.status == "interrupted"
            assert kernel.left_behind() == "[]"
            assert kernel("vars(model).get('_compiled_call_impl')").value is None
            # And a plain cell trains
            kernel(MAKE + loop())
            assert len(losses(kernel)) == 6


CUSTOM = """
@torch.library.custom_op("stctest::{name}", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    return x * 2
odd.register_autograd(lambda ctx, grad: grad * 2)
@odd.register_fake
def _(x):
    {fake}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
    def forward(self, x):
        return odd(self.lin(x))
"""


class TestACompilerThatFails:
    def test_on_a_model_leaves_it_eager_with_the_same_result(self, kernel: Kernel) -> None:
        # Given a model whose shapes nobody can tell beforehand
        kernel(CUSTOM.format(name="unknown", fake="raise RuntimeError('no shapes')") + MAKE + loop())
        expected = losses(kernel)
        kernel(MAKE)
        # When it is to be compiled
        output = kernel("%%stc_compile --plan inductor\n" + loop())
        # Then it trains eager, to the bit in the model, and the report leads with that
        assert losses(kernel) == pytest.approx(expected, rel=1e-6)
        assert output.codes[0] == "compile-failed"
        failed = finding(output, "compile-failed")
        assert "training went on eager" in failed.message
        assert failed.location is not None
        assert output.stderr == ""
        (model,) = [u for u in output.report.compile.units if u.kind == "model"]
        assert model.state == "failed"
        # And no step is told to have been compiled, nor any speed-up claimed
        assert output.report.steps.speedup is None

    def test_is_tried_again_once_the_cause_is_mended(self, kernel: Kernel) -> None:
        kernel("broken = True")
        kernel(
            CUSTOM.format(
                name="mended", fake="if broken: raise RuntimeError('no shapes')\n    return x.new_empty(x.shape)"
            )
            + MAKE
        )
        assert kernel("%%stc_compile --plan inductor\n" + loop()).codes[0] == "compile-failed"
        kernel("broken = False")
        output = kernel("%%stc_compile --plan inductor\n" + loop())
        assert "compile-failed" not in output.codes
        assert {u.state for u in output.report.compile.units} == {"restored"}

    def test_on_a_model_that_forbids_it_says_that_nothing_was_compiled(self, kernel: Kernel) -> None:
        kernel("Net.forward = torch.compiler.disable(Net.forward)")
        kernel(MAKE + loop())
        expected = losses(kernel)
        kernel(MAKE)
        output = kernel("%%stc_compile --plan inductor\n" + loop())
        assert losses(kernel) == pytest.approx(expected, rel=1e-6)
        model_graphs = [g for g in output.report.compile.graphs if g.phase != "optimizer"]
        assert model_graphs == []
        assert {"nothing-compiled", "graph-break"} & set(output.codes)
        assert output.report.steps.speedup is None

    def test_on_torchscript_trains_it_as_it_is(self, kernel: Kernel) -> None:
        make = "import warnings; warnings.simplefilter('ignore')\n" + MAKE.replace("Net()", "torch.jit.script(Net())")
        kernel(make + loop())
        expected = losses(kernel)
        kernel(make)
        output = kernel("%%stc_compile --plan inductor\n" + loop())
        assert losses(kernel) == pytest.approx(expected, rel=1e-5)
        assert output.report.run.status == "completed"
