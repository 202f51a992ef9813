"""What is written on the magic's line: help, completion, every option with its effect, and every mistake with its sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.kernels import Kernel, a_kernel
from stc.options import ARGUMENTS
from stc.record.store import Store

MODEL = """
import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 1)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def train(steps=4, rows=6):
    losses = []
    for step in range(steps):
        opt.zero_grad()
        loss = (model(torch.ones(rows, 8)) - 1).square().mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return losses
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("options")


@pytest.fixture(scope="module")
def the_kernel(folder: Path) -> Iterator[Kernel]:
    with a_kernel(folder) as kernel:
        kernel(MODEL)
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


class TestHelp:
    @pytest.mark.parametrize("asked", ["%%stc_compile?", "?%%stc_compile"])
    def test_a_question_mark_shows_every_option_with_its_values(self, kernel: Kernel, asked: str) -> None:
        request = kernel.send(asked)
        output = kernel.receive(request)
        told = output.stdout + "".join(d.get("text/plain", "") for d in output.displays)
        if not told:  # a front end's pager
            reply = kernel.client.inspect("%%stc_compile", 5, reply=True, timeout=30)
            told = reply["content"]["data"]["text/plain"]
        for argument in ARGUMENTS:
            assert argument.option in told
            for choice in argument.choices:
                assert choice in told

    def test_the_line_magics_have_theirs(self, kernel: Kernel) -> None:
        reply = kernel.client.inspect("%stc_show", 5, reply=True, timeout=30)
        assert "without it the newest run is shown" in reply["content"]["data"]["text/plain"]


class TestCompletion:
    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("%%stc_compile --pl", ["--plan"]),
            ("%%stc_compile --plan ", ["inductor", "eager"]),
            ("%%stc_compile --plan=e", ["eager"]),
            ("%%stc_compile --quiet --pre", ["--precision"]),
            ("%%stc_compile --precision b", ["bf16"]),
        ],
    )
    def test_of_options_and_their_values(self, kernel: Kernel, line: str, offered: list[str]) -> None:
        assert sorted(kernel.complete(line)) == sorted(offered)

    def test_of_all_options_that_are_not_there_yet(self, kernel: Kernel) -> None:
        offered = kernel.complete("%%stc_compile --keep ")
        assert sorted(offered) == sorted(a.option for a in ARGUMENTS if a.name != "keep")

    def test_of_the_magic_itself(self, kernel: Kernel) -> None:
        assert "%%stc_compile" in kernel.complete("%%stc_c")

    def test_not_in_the_cell_below_it(self, kernel: Kernel) -> None:
        assert "--plan" not in kernel.complete("%%stc_compile\n--pl")


class TestMistakes:
    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("--plan magic", "--plan cannot be 'magic'. Choose one of: inductor, eager."),
            ("--plan", "--plan needs a value. Choose one of: inductor, eager."),
            ("--plaan eager", "There is no option '--plaan'. Did you mean --plan?"),
            ("--quiet=yes", "--quiet takes no value. Write just --quiet."),
            ("surplus", "There is no option 'surplus'."),
            ("--name 'open", "The line has a quotation mark that is not closed."),
            ("--report nowhere/r.json", "The report cannot be written to 'nowhere/r.json'"),
            ("--report .", "it is a folder."),
            ("--dynamic maybe", "--dynamic cannot be 'maybe'. Choose one of: auto, on, off."),
            ("--target tpu", "--target cannot be 'tpu'. Choose one of: auto, cpu, cuda."),
        ],
    )
    def test_are_one_sentence_each_and_nothing_has_run(self, kernel: Kernel, line: str, said: str) -> None:
        before = len(Store.open().runs())
        output = kernel.run(f"%%stc_compile {line}\nran = True\nprint('ran')")
        # Then it is an error, so that "run all" stops, but no traceback of ours
        assert output.status == "error"
        assert said in output.message + output.stderr + output.traceback
        assert "magics" not in output.traceback
        assert "argparse" not in output.traceback
        assert output.stdout == ""
        assert kernel.run("ran").error == "NameError"
        assert len(Store.open().runs()) == before

    def test_a_target_that_is_not_there(self, kernel: Kernel) -> None:
        if kernel("torch.cuda.is_available()").value == "True":
            pytest.skip("this machine has a CUDA device")
        output = kernel.run("%%stc_compile --target cuda\nprint('ran')")
        assert output.error == "TargetUnavailable"
        assert "There is no target cuda here" in output.message
        assert "stc doctor" in output.message
        assert output.stdout == ""

    def test_the_magic_on_a_line_says_where_it_belongs(self, kernel: Kernel) -> None:
        output = kernel.run("%stc_compile --plan eager")
        assert output.status == "error" or "%%stc_compile" in output.stderr

    def test_an_empty_cell_is_a_run_without_a_model(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile\n")
        assert output.codes == ["nothing-compiled"]


class TestEffects:
    def test_quiet_shows_nothing_and_records_all_the_same(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --quiet --plan inductor --name hushed\ntrain()\nprint('mine')")
        assert (output.stdout, output.stderr, output.displays) == ("mine\n", "", [])
        run = Store.open().find("hushed")
        assert run.status == "completed"
        assert Store.open().folded(run.id).compile.graphs

    def test_report_writes_the_whole_report_as_one_document(self, kernel: Kernel, folder: Path) -> None:
        output = kernel("%%stc_compile --plan inductor --report told.json\n_ = train()")
        document = json.loads((folder / "told.json").read_text())
        assert document["run"]["id"] == output.run_id
        assert document["schema_version"] == 1
        assert document["steps"]["total"] == 4
        assert {g["phase"] for g in document["compile"]["graphs"]} >= {"forward", "backward"}
        assert document["findings"] is not None

    def test_keep_leaves_the_model_compiled_and_its_results_the_same(self, kernel: Kernel) -> None:
        kernel("kept = nn.Linear(8, 3); expected = kept(torch.ones(2, 8))")
        kernel("%%stc_compile --plan inductor --keep\n_ = kept(torch.ones(2, 8))")
        assert kernel("kept._compiled_call_impl is not None").value == "True"
        assert kernel("torch.allclose(kept(torch.ones(2, 8)), expected)").value == "True"
        kernel("del kept._compiled_call_impl")

    def test_without_it_models_and_optimizers_are_as_before(self, kernel: Kernel) -> None:
        kernel("before = (set(vars(model)), set(vars(opt)) | {'_opt_called'})")
        kernel("%%stc_compile --plan inductor\n_ = train()")
        assert kernel("(set(vars(model)), set(vars(opt)) | {'_opt_called'}) == before").value == "True"

    def test_two_runs_of_one_name_are_two_runs(self, kernel: Kernel) -> None:
        ids = [kernel("%%stc_compile --plan eager --name twins\n_ = train()").run_id for _ in range(2)]
        assert [r.id for r in Store.open().named("twins")] == ids[::-1]
        assert Store.open().find("twins").id == ids[1]  # the newest is meant

    def test_without_a_name_it_is_called_after_its_cell(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan eager\n_ = train()")
        assert output.report.run.name == f"In[{output.number}]"

    def test_precision_runs_the_model_in_that_type_and_gives_float32_back(self, kernel: Kernel) -> None:
        kernel(
            "class Spy(nn.Module):\n"
            "    def __init__(self):\n"
            "        super().__init__()\n"
            "        self.lin = nn.Linear(8, 8)\n"
            "    def forward(self, x):\n"
            "        return self.lin(x)\n"
            "spy = Spy(); wide = spy(torch.ones(2, 8))"
        )
        output = kernel("%%stc_compile --plan inductor --precision bf16\nnarrow = spy(torch.ones(2, 8))")
        assert kernel("narrow.dtype, spy.lin.weight.dtype").value == "(torch.float32, torch.float32)"
        assert kernel("torch.allclose(narrow, wide, atol=0.05), torch.equal(narrow, wide)").value == "(True, False)"
        assert "option-without-effect" not in output.codes
        (graph,) = output.report.compile.graphs
        assert any("bfloat16" in layout.dtype for kernel_ in graph.kernels for layout in kernel_.layout)

    def test_precision_without_effect_is_said(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan eager --precision bf16\n_ = train()")
        (finding,) = [f for f in output.report.findings if f.code == "option-without-effect"]
        assert finding.message == "`--precision bf16` had no effect: the plan is eager: nothing is compiled."

    @pytest.mark.parametrize(("dynamic", "graphs", "recompiled"), [("on", 1, 0), ("off", 3, 2), ("auto", 2, 1)])
    def test_dynamic_says_what_a_changing_size_costs(
        self, kernel: Kernel, dynamic: str, graphs: int, recompiled: int
    ) -> None:
        kernel("torch._dynamo.reset(); sized = nn.Sequential(nn.Linear(8, 4), nn.Tanh())")
        output = kernel(
            f"%%stc_compile --plan inductor --dynamic {dynamic}\n"
            "with torch.no_grad():\n    for rows in (5, 6, 7):\n        _ = sized(torch.ones(rows, 8))"
        )
        compiled = output.report.compile
        assert len(compiled.graphs) == graphs
        assert len(compiled.recompilations) == recompiled
        assert compiled.graphs[-1].dynamic is (dynamic != "off")
