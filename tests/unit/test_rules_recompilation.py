"""Recompilations and the recompile limit: one finding a cause, severity by what it costs, a next step that fits."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fixtures.made import GRAPH, at, cell, report
from stc.analyse.rules import recompile_limit
from stc.analyse.rules.recompilation import rule
from stc.record.types import Break, Finding, Limit, Location, Recompilation, Report

LOADER = "%%stc_compile\nfor x, y in DataLoader(rows, batch_size=32):\n    model(x)\n"
WARM_UP = """\
class Warmup(nn.Module):
    def forward(self, x):
        self.seen += 1
        return self.lin(x) * min(1.0, self.seen / 100)
"""


def shape(**fields: Any) -> Recompilation:
    made = Recompilation(
        id="r0", function="Net.forward", guard="x.size()[0] == 32", reason="", kind="shape", source="x", dimension=0,
        before="32", after="6", compile_id="0/1", step=2, call=3,
    )  # fmt: skip
    return replace(made, **fields)


def counter(k: int) -> Recompilation:
    return Recompilation(
        id=f"r{k}", function="Warmup.forward", guard=f"self.seen == {k}", reason="", kind="value", source="self.seen",
        before=str(k), after=str(k + 1), location=at(1, 3, "        self.seen += 1"), compile_id=f"0/{k + 1}", step=k,
    )  # fmt: skip


def only(made: Report) -> Finding:
    found = list(rule(made))
    assert len(found) == 1
    return found[0]


def compiled_in(seconds: float, dynamic: bool = True) -> list[Any]:
    return [GRAPH, replace(GRAPH, id="0/1:forward", compile_id="0/1", compile_s=seconds, dynamic=dynamic)]


def test_a_short_last_batch_is_to_be_dropped_padded_or_marked() -> None:
    finding = only(report(recompilations=[shape()], graphs=compiled_in(10.0), sources=[cell(2, LOADER)]))
    assert "dimension 0 of `x` changed from 32 to 6" in finding.message
    assert "since then one graph with a dynamic size serves every call" in finding.message
    assert finding.next_step is not None
    assert finding.next_step.code == "DataLoader(rows, batch_size=32, drop_last=True)"
    for way in ("leaves out 6 of the 70 rows of an epoch", "pad the batch to 32", "torch._dynamo.mark_dynamic(x, 0)"):
        assert way in finding.next_step.text


def test_rows_of_an_epoch_are_counted_only_where_every_call_was_compiled() -> None:
    finding = only(report(recompilations=[shape()], run={"options": {"plan": None}}))
    assert finding.next_step is not None and "leaves out the last 6 rows of an epoch" in finding.next_step.text


def test_a_growing_dimension_is_to_be_marked_dynamic() -> None:
    finding = only(report(recompilations=[shape(dimension=1, before="32", after="48")]))
    assert finding.next_step is not None and finding.next_step.code == "torch._dynamo.mark_dynamic(x, 1)"


@pytest.mark.parametrize(("compile_s", "severity"), [(4.9, "info"), (5.1, "warning")])
def test_a_single_one_is_a_warning_from_five_per_cent_of_the_run(compile_s: float, severity: str) -> None:
    made = report(recompilations=[shape()], graphs=compiled_in(compile_s), run={"wall_s": 100.0})
    assert only(made).severity == severity


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("autocast(cpu)_enabled", "whether the model runs under autocast"),
        ("allow_tf32", "torch's own setting `allow_tf32`"),
    ],
)
def test_a_setting_of_torchs_own_that_changed_once_is_only_told(setting: str, words: str) -> None:
    # given a model compiled again since a setting changed, as a graph with dynamic sizes, which took most of the run
    changed = shape(kind="global", guard=setting, source=None, dimension=None, before=None, after=None)
    finding = only(report(recompilations=[changed], graphs=compiled_in(90.0), run={"wall_s": 100.0}))
    # then the sentence names the setting and nothing of sizes or values
    assert finding.message == f"`Net.forward` was compiled again: {words} changed."
    assert finding.severity == "info"
    assert finding.next_step is not None and finding.next_step.code is None


def test_a_cost_that_is_not_known_is_not_taken_for_small() -> None:
    assert only(report(recompilations=[shape(compile_id=None)])).severity == "warning"


def test_the_second_one_is_a_warning_whatever_it_cost() -> None:
    made = report(recompilations=[counter(0), counter(1)], graphs=compiled_in(0.1))
    assert only(made).severity == "warning"


def test_the_same_size_in_two_functions_is_one_cause() -> None:
    rest = shape(id="r1", function="torch_dynamo_resume_in_forward_at_9", source="h")
    assert only(report(recompilations=[shape(), rest])).evidence[1].value == 1


def test_a_growing_list_is_to_be_kept_outside() -> None:
    place = at(1, 4, "        history.append(loss.item())")
    grown = [
        Recompilation(id=f"r{k}", function="f", guard=f"len(history) == {k}", reason="", kind="length", source="history", before=str(k),
                      after=str(k + 1), location=place)
        for k in range(5)
    ]  # fmt: skip
    finding = only(report(recompilations=grown))
    assert "the length of `history`" in finding.message
    assert finding.next_step is not None
    assert finding.next_step.code == "history.append(loss.detach())  # in the training loop, after the call"


def test_a_list_of_the_model_is_appended_to_outside_without_names_that_only_the_model_has() -> None:
    place = at(1, 4, "        self.history.append(h.mean().item())")
    grown = shape(kind="length", source="self.history", dimension=None, before="2", after="3", location=place)
    finding = only(report(recompilations=[grown]))
    assert finding.next_step is not None
    assert finding.next_step.code == "history.append(value.detach())  # in the training loop, after the call"


def test_evaluating_between_epochs_is_only_told() -> None:
    mode = Recompilation(id="r", function="f", guard="grad mode", reason="", kind="grad-mode")
    assert only(report(recompilations=[mode])).severity == "info"


def test_a_value_that_a_graph_break_hands_over_is_told_with_the_break() -> None:
    handed = Recompilation(id="r", function="Net.forward (from line 5)", guard="___stack0 == 1.5", reason="", kind="value", source="___stack0")  # fmt: skip
    stop = Break(id="b", reason="builtin `time.time`", location=at(1, 5, "t = time.time()"))
    assert list(rule(report(recompilations=[handed], breaks=[stop]))) == []
    assert len(list(rule(report(recompilations=[handed])))) == 1


def test_torchs_own_are_no_findings() -> None:
    assert list(rule(report(recompilations=[shape(benign=True)]))) == []


class TestLimit:
    made = report(
        recompilations=[counter(k) for k in range(8)],
        limits=[Limit(function="Warmup.forward", limit=8, guard="self.seen == 8", location=at(1, 3, "self.seen += 1"), step=8, call=9)],
        sources=[cell(1, WARM_UP)],
    )  # fmt: skip

    def test_it_is_an_error_that_says_from_which_call_on(self) -> None:
        (finding,) = recompile_limit.rule(self.made)
        assert finding.severity == "error"
        assert (
            finding.message
            == "`Warmup.forward` is not compiled any more from call 9 on: `self.seen == 8` changed each time."
        )

    def test_a_counter_becomes_a_buffer_and_its_min_a_clamp(self) -> None:
        (finding,) = recompile_limit.rule(self.made)
        assert finding.next_step is not None and finding.next_step.code is not None
        buffer, clamp = finding.next_step.code.splitlines()
        assert buffer.startswith('self.register_buffer("seen", torch.zeros((), dtype=torch.long))')
        assert clamp.startswith("torch.clamp(self.seen / 100, max=1.0)")

    def test_the_recompilations_that_led_there_are_not_told_again(self) -> None:
        assert list(rule(self.made)) == []

    def test_without_recorded_recompilations_the_guard_alone_is_read(self) -> None:
        made = report(limits=[Limit(function="f", limit=8, guard="len(history) == 8")])
        (finding,) = recompile_limit.rule(made)
        assert finding.next_step is not None and "list out of the model" in finding.next_step.text

    def test_an_optimizers_limit_is_a_warning(self) -> None:
        place = Location(file="sgd.py", line=1, path="/site-packages/torch/optim/sgd.py")
        (finding,) = recompile_limit.rule(
            report(limits=[Limit(function="step", limit=8, guard="lr == 0.1", location=place)])
        )
        assert finding.severity == "warning"
        assert finding.next_step is not None and "learning rate" in finding.next_step.text

    def test_the_same_cause_in_two_functions_is_told_once(self) -> None:
        limits = [
            Limit(function=f, limit=8, guard="self.seen == 8")
            for f in ("forward", "torch_dynamo_resume_in_forward_at_3")
        ]
        assert len(list(recompile_limit.rule(report(limits=limits)))) == 1
