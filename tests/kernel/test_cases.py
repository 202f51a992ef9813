"""What users of compilers complain about, in a real kernel: each case with the values that are right for it, and its kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures import cases
from fixtures.cases import Case
from fixtures.kernels import STATE, Kernel, Output, a_kernel
from stc.record.store import Store
from stc.record.types import Finding, Location, Report

Start = Callable[[Case], Kernel]


@pytest.fixture(scope="class")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """A function that starts a kernel whose first cell is the case's: it is In[1], and the one with the magic In[2]."""
    opened = []

    def started(case: Case) -> Kernel:
        made = a_kernel(tmp_path_factory.mktemp("case"), load=False)
        kernel = made.__enter__()
        opened.append(made)
        kernel(STATE, silent=True)
        kernel("%load_ext stc", silent=True)
        kernel(case.before)
        return kernel

    yield started
    for made in opened:
        made.__exit__(None, None, None)


def finding(report: Report, code: str) -> Finding:
    (found,) = (f for f in report.findings if f.code == code)
    return found


def place(location: Location | None) -> tuple[str, int]:
    assert location is not None
    return location.file, location.line


def evidence(found: Finding) -> dict[str, object]:
    return {e.label: e.value for e in found.evidence}


class TestAScalarReadInsideTheModel:
    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, start: Start) -> Report:
        return start(cases.SCALAR_READ)(cases.SCALAR_READ.cell).report

    def test_it_is_one_break_with_its_count_and_line(self, report: Report) -> None:
        found = finding(report, "graph-break")
        assert place(found.location) == ("In[1]", cases.SCALAR_READ.line("history.append"))
        assert evidence(found)["times"] == 6
        (broken,) = (b for b in report.compile.breaks if not b.benign)
        assert broken.count == 6

    def test_its_next_step_is_to_return_the_loss_and_append_outside(self, report: Report) -> None:
        step = finding(report, "graph-break").next_step
        assert step is not None and step.code is not None
        assert "return `loss`" in step.text
        assert step.code.startswith("history.append(loss.detach())")

    def test_the_guard_on_the_length_of_the_list_is_a_second_fault(self, report: Report) -> None:
        found = finding(report, "recompilation")
        assert place(found.location) == ("In[1]", cases.SCALAR_READ.line("history.append"))
        assert "length of `history`" in found.message
        values = [(r.guard, r.before, r.after) for r in report.compile.recompilations if not r.benign]
        assert values == [(f"len(history) == {n}", str(n), str(n + 1)) for n in range(5)]

    def test_a_graph_a_call_is_counted_and_no_speed_up_claimed(self, report: Report) -> None:
        assert sum(g.phase == "forward" for g in report.compile.graphs) == 6
        assert report.steps.speedup is None
        assert report.steps.excluded.compiling == 6

    def test_detached_in_its_place_there_is_no_break_and_still_a_graph_a_call(self, start: Start) -> None:
        detached = Case(cases.SCALAR_READ.before.replace(".item()", ".detach()"), cases.SCALAR_READ.cell)
        report = start(detached)(detached.cell).report
        assert [f.code for f in report.findings] == ["recompilation"]
        assert sum(g.phase == "forward" for g in report.compile.graphs) == 6

    @pytest.mark.parametrize("read", ["float(loss)", "loss.tolist()", "bool(loss > 1)"])
    def test_other_ways_to_read_a_number_break_as_well(self, start: Start, read: str) -> None:
        # given a model that reads without keeping: nothing is guarded
        other = Case(cases.SCALAR_READ.before.replace("history.append(loss.item())", read), cases.SCALAR_READ.cell)
        report = start(other)(other.cell).report
        assert place(finding(report, "graph-break").location) == ("In[1]", other.line(read))
        assert [f.code for f in report.findings] == ["graph-break"]


class TestABranchInAHelperOfAnEarlierCell:
    @pytest.fixture(scope="class")
    @classmethod
    def kernel(cls, start: Start) -> Kernel:
        return start(cases.BRANCH_IN_A_HELPER)

    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, kernel: Kernel) -> Report:
        return kernel(cases.BRANCH_IN_A_HELPER.cell).report

    def test_it_is_one_break_at_the_helpers_line(self, report: Report) -> None:
        found = finding(report, "graph-break")
        assert place(found.location) == ("In[1]", cases.BRANCH_IN_A_HELPER.line("if h.mean() > 0:"))
        assert found.location is not None and found.location.text is not None
        assert found.location.text.strip() == "if h.mean() > 0:"

    def test_its_next_step_is_torch_where(self, report: Report) -> None:
        step = finding(report, "graph-break").next_step
        assert step is not None
        assert step.code == "return torch.where(h.mean() > 0, h * 2, h / 2)"

    def test_no_temporary_file_is_shown_anywhere(self, report: Report) -> None:
        assert all(source.file.startswith("In[") for source in report.sources)
        places = [op.location for g in report.compile.graphs for k in g.kernels for op in k.ops if op.location]
        assert places
        assert {p.file for p in places} == {"In[1]"}

    def test_redefined_in_a_later_cell_the_new_source_is_shown(self, kernel: Kernel, report: Report) -> None:
        # given another helper of the same name, whose branch is two lines further down
        third = kernel("def gate(h):\n    h = h + 1\n\n    if h.sum() > 0:\n        return h\n    return -h").number
        # when the same cell runs again
        again = kernel(cases.BRANCH_IN_A_HELPER.cell).report
        # then it is the new one's line
        found = finding(again, "graph-break")
        assert place(found.location) == (f"In[{third}]", 4)
        assert found.location is not None and found.location.text is not None
        assert found.location.text.strip() == "if h.sum() > 0:"


class TestARaggedLastBatch:
    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, start: Start) -> Report:
        return start(cases.RAGGED_LAST_BATCH)(cases.RAGGED_LAST_BATCH.cell).report

    def test_it_is_exactly_one_recompilation_at_the_third_batch(self, report: Report) -> None:
        (found,) = (r for r in report.compile.recompilations if not r.benign)
        assert (found.dimension, found.before, found.after) == (0, "32", "6")
        assert found.step == 2  # counted from 0
        assert [f.code for f in report.findings] == ["recompilation"]

    def test_afterwards_dynamic_code_serves_every_batch(self, report: Report) -> None:
        forward = [g.dynamic for g in report.compile.graphs if g.phase == "forward"]
        assert forward == [False, True]

    def test_the_next_step_counts_the_rows_that_would_be_lost(self, report: Report) -> None:
        step = finding(report, "recompilation").next_step
        assert step is not None
        assert "drop_last=True leaves out 6 of the 70 rows" in step.text
        assert "pad" in step.text and "mark_dynamic" in step.text

    def test_statistics_leave_out_steps_that_compiled_and_say_so(self, report: Report) -> None:
        steps = report.steps
        assert steps.compiled is not None
        assert (steps.total, steps.excluded.compiling, steps.compiled.n) == (6, 2, 4)

    def test_without_the_ragged_batch_there_is_nothing_to_report(self, start: Start) -> None:
        cell = cases.RAGGED_LAST_BATCH.cell.replace("batch_size=32", "batch_size=32, drop_last=True")
        report = start(cases.RAGGED_LAST_BATCH)(cell).report
        assert report.findings == []


class TestTheRecompileLimit:
    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, start: Start) -> Report:
        return start(cases.COUNTER_IN_FORWARD)(cases.COUNTER_IN_FORWARD.cell).report

    def test_it_leads_the_report(self, report: Report) -> None:
        assert report.findings[0].code == "recompile-limit"
        assert report.findings[0].severity == "error"
        assert report.headline.startswith("Not compiled since step 9: `self.seen == 7` changes from call to call")

    def test_it_says_from_which_call_on_by_which_guard_at_which_line(self, report: Report) -> None:
        found = report.findings[0]
        assert "from call 9 on" in found.message
        assert evidence(found)["guard"] == "self.seen == 7"
        assert place(found.location) == ("In[1]", cases.COUNTER_IN_FORWARD.line("self.seen += 1"))

    def test_its_next_step_is_a_buffer_or_to_count_outside(self, report: Report) -> None:
        step = report.findings[0].next_step
        assert step is not None and step.code is not None
        assert "buffer" in step.text and "outside forward" in step.text
        assert 'self.register_buffer("seen"' in step.code

    def test_no_speed_up_is_claimed_over_compiling_and_eager_calls(self, report: Report) -> None:
        steps = report.steps
        assert steps.speedup is None
        assert "recompile limit" in (steps.speedup_reason or "")
        assert (steps.total, steps.excluded.compiling + steps.excluded.mixed) == (15, 15)


class TestCompilingDoesNotPay:
    @pytest.fixture(scope="class")
    @classmethod
    def kernel(cls, start: Start) -> Kernel:
        return start(cases.DOES_NOT_PAY)

    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, kernel: Kernel) -> Report:
        return kernel(cases.DOES_NOT_PAY.cell).report

    def test_the_model_is_left_eager(self, report: Report, kernel: Kernel) -> None:
        assert report.compile.graphs == []
        assert report.headline.startswith("Left eager: ")
        assert kernel("model._compiled_call_impl is None").value == "True"

    def test_it_gives_step_time_compile_time_and_break_even(self, report: Report) -> None:
        found = finding(report, "not-worth-compiling")
        values = {label.partition(" (")[0]: value for label, value in evidence(found).items()}
        assert {"eager step", "compile time", "steps to go", "pays after step"} == set(values)
        eager, compile_s, to_go = (values[k] for k in ("eager step", "compile time", "steps to go"))
        assert isinstance(eager, float) and 0 < eager < 0.1
        assert isinstance(compile_s, float) and compile_s > 1
        assert isinstance(to_go, int) and 0 < to_go < 300
        # at twice the speed half an eager step is won each time
        assert values["pays after step"] == "never" or isinstance(values["pays after step"], int)
        if isinstance(values["pays after step"], int):
            assert values["pays after step"] >= compile_s / eager

    def test_a_plan_that_is_ordered_is_followed_all_the_same(self, kernel: Kernel, report: Report) -> None:
        ordered = kernel(cases.DOES_NOT_PAY.cell.replace("%%stc_compile", "%%stc_compile --plan inductor")).report
        assert {g.phase for g in ordered.compile.graphs} == {"forward", "backward"}


class TestWhichOperationsWentWhere:
    @pytest.fixture(scope="class")
    @classmethod
    def report(cls, start: Start) -> Report:
        return start(cases.WHAT_WENT_WHERE)(cases.WHAT_WENT_WHERE.cell).report

    def test_one_library_call_and_one_generated_kernel(self, report: Report) -> None:
        (graph,) = report.compile.graphs
        assert [k.kind for k in graph.kernels] == ["library", "cpp"]

    def test_each_operation_is_in_its_kernel_with_its_line(self, report: Report) -> None:
        case = cases.WHAT_WENT_WHERE
        library, generated = report.compile.graphs[0].kernels
        assert [(o.name, place(o.location)[1]) for o in library.ops] == [("aten.addmm.default", case.line("gelu"))]
        centred, result = case.line("centred ="), case.line("rsqrt")
        assert sorted((o.name.split(".")[1], place(o.location)[1]) for o in generated.ops) == sorted(
            [("gelu", case.line("gelu")), ("mean", centred), ("sub", centred), ("var", result), ("add", result),
             ("rsqrt", result), ("mul", result), ("mul", result)]
        )  # fmt: skip

    def test_what_is_returned_is_written_to_memory(self, report: Report) -> None:
        generated = report.compile.graphs[0].kernels[1]
        written = [b for b in generated.layout if b.role == "write"]
        assert [tuple(b.shape) for b in written].count(("64", "128")) == 2  # the result, and h
        assert sum("graph output" in (b.reason or "") or "returned" in (b.reason or "") for b in written) == 2

    def test_it_says_why_the_bias_is_not_in_the_generated_kernel(self, report: Report) -> None:
        (graph,) = report.compile.graphs
        library, generated = graph.kernels
        (edge,) = (e for e in graph.not_fused if (e.first, e.second) == (library.id, generated.id))
        assert "bias" in edge.reason

    def test_bytes_are_those_of_the_tensors(self, report: Report) -> None:
        library, generated = report.compile.graphs[0].kernels
        matrix, weight, bias = 64 * 128 * 4, 128 * 128 * 4, 128 * 4
        assert (library.bytes_read, library.bytes_written) == (matrix + weight + bias, matrix)
        # the first loop nest reads the product and writes h, the second reads h again
        assert len(generated.groups) == 2
        assert generated.bytes_read == 2 * matrix
        # out and h, and for the backward a mean and a standard deviation a row
        assert generated.bytes_written == 2 * matrix + 2 * 64 * 4


class TestCloserToTheTruthThanEager:
    def test_compiled_is_no_further_from_float32_than_eager_and_nothing_is_reported(self, start: Start) -> None:
        case = cases.CLOSER_THAN_EAGER
        kernel = start(case)
        kernel("torch.manual_seed(5);")
        report = kernel(case.cell).report
        found = kernel(
            "torch.manual_seed(5)\nx = torch.randn(64, 128, dtype=torch.bfloat16)\n"
            "with torch.no_grad():\n    eager = model(x)\n    exact = Gate().float()\n"
            "    exact.load_state_dict(model.state_dict())\n    truth = exact(x.float())\n"
            "import json; print(json.dumps([(a.float() - b.float()).abs().max().item() "
            "for a, b in ((eager, truth), (y, truth), (y, eager))]))"
        )
        eager, compiled, between = json.loads(found.stdout)
        assert report.compile.graphs
        assert report.findings == []
        assert 0 < eager < 0.1
        assert compiled <= eager * 1.05
        assert between <= eager + compiled


class TestACellThatDiesHalfWay:
    @pytest.fixture(scope="class")
    @classmethod
    def kernel(cls, start: Start) -> Kernel:
        return start(cases.DIES_HALF_WAY)

    @pytest.fixture(scope="class")
    @classmethod
    def output(cls, kernel: Kernel) -> Output:
        # given "run all": the next cell is asked for before the first has ended
        request = kernel.send(cases.DIES_HALF_WAY.cell)
        following = kernel.send("print('must not run')")
        output = kernel.receive(request)
        stopped = kernel.receive(following)
        assert (stopped.status, stopped.stdout) == ("aborted", "")
        return output

    def test_it_is_the_users_own_error_at_the_users_line(self, kernel: Kernel, output: Output) -> None:
        assert output.error == "RuntimeError"
        assert output.message == "mat1 and mat2 shapes cannot be multiplied (4x9 and 8x2)"
        assert "opt.zero_grad(); model(batch).sum().backward(); opt.step()" in output.traceback
        assert "stc/" not in output.traceback and "_dynamo" not in output.traceback
        # and eager raises the same
        again = kernel.run("model(batch)")
        assert (again.error, again.message) == (output.error, output.message)

    def test_everything_is_still_in_the_namespace(self, kernel: Kernel, output: Output) -> None:
        assert kernel("step, type(model).__name__, type(opt).__name__").value == "(3, 'Lin', 'SGD')"

    def test_the_report_is_partial_and_says_so(self, output: Output) -> None:
        report = output.report
        assert (report.run.status, report.run.partial, report.steps.total) == ("failed", True, 3)
        assert report.run.failure is not None and report.run.failure.type == "RuntimeError"
        assert "run-partial" in output.codes
        assert report.compile.graphs

    def test_every_hook_is_back(self, kernel: Kernel, output: Output) -> None:
        assert kernel.left_behind() == "[]"
        assert kernel("model._compiled_call_impl is None, 'step' in vars(opt)").value == "(True, False)"

    def test_a_plain_cell_behaves_as_if_nothing_had_been_loaded(self, kernel: Kernel, output: Output) -> None:
        runs = len(Store.open().runs())
        plain = kernel("loss = model(torch.ones(4, 8)).sum(); loss.backward(); opt.step(); loss.item()")
        assert plain.displays == []
        assert plain.value is not None
        assert len(Store.open().runs()) == runs

    def test_the_interrupt_button_does_the_same(self, kernel: Kernel, output: Output) -> None:
        # given a loop that goes on for ever
        cell = (
            "%%stc_compile --plan inductor\nimport itertools, time\nfor step in itertools.count():\n"
            "    opt.zero_grad(); model(torch.ones(4, 8)).sum().backward(); opt.step()\n"
            "    time.sleep(0.01)\n    if step == 5: print('on its way', flush=True)\n"
        )
        # when it is interrupted
        stopped = kernel.interrupt_when(cell, lambda seen: "on its way" in seen.stdout)
        # then it is a KeyboardInterrupt as ever, with a partial report and everything back
        assert stopped.error == "KeyboardInterrupt"
        report = stopped.report
        assert (report.run.status, report.run.partial) == ("interrupted", True)
        assert report.steps.total >= 5
        assert kernel("step >= 5").value == "True"
        assert kernel.left_behind() == "[]"


TRAINED = """
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
def trained():
    torch.manual_seed(3)
    rows = TensorDataset(torch.randn(48, 1, 8, 8), torch.randint(0, 10, (48,)))
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for epoch in range(3):
        for x, y in DataLoader(rows, batch_size=16, shuffle=True):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
    return losses
plain = trained()
"""


class TestTheSameTraining:
    @pytest.fixture(scope="class")
    @classmethod
    def kernel(cls, start: Start) -> Kernel:
        return start(Case(TRAINED, ""))

    def test_with_the_eager_plan_losses_are_the_same_to_the_bit(self, kernel: Kernel) -> None:
        kernel("%%stc_compile --plan eager\nfound = trained()")
        assert kernel("found == plain, len(found)").value == "(True, 9)"

    def test_compiled_they_agree_within_float32(self, kernel: Kernel) -> None:
        report = kernel("%%stc_compile --plan inductor\nfound = trained()").report
        assert {g.phase for g in report.compile.graphs} == {"forward", "backward", "optimizer"}
        assert kernel("torch.testing.assert_close(found, plain, rtol=1e-4, atol=1e-5); len(found)").value == "9"


def test_the_kernels_folder_holds_nothing_of_ours(start: Start, tmp_path: Path) -> None:
    # given a run in a folder of the user's
    with a_kernel(tmp_path) as kernel:
        kernel(cases.DOES_NOT_PAY.before)
        kernel(cases.DOES_NOT_PAY.cell)
    # then nothing has been written into it
    assert list(tmp_path.iterdir()) == []
