"""Graph breaks: one finding a cause, at the user's line, with a next step that fits the pattern."""

from __future__ import annotations

import pytest

from fixtures.made import at, cell, report
from stc.analyse.rules.graph_break import rule
from stc.record.types import Break, Finding, Recompilation, Report

ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"
JUMP = "generic_jump TensorVariable()"


def only(made: Report) -> Finding:
    found = list(rule(made))
    assert len(found) == 1
    return found[0]


def test_a_scalar_read_that_is_appended_is_to_be_returned_and_appended_outside() -> None:
    # given a forward that appends loss.item(), broken in six compilations
    text = "class R(nn.Module):\n    def forward(self, x, y):\n        loss = (x - y).mean()\n        history.append(loss.item())\n        return loss\n"
    place = at(1, 4, "        history.append(loss.item())", "forward")
    breaks = [Break(id=f"b{i}", reason=ITEM, location=place, steps=[i], compile_ids=[f"0/{i}"]) for i in range(6)]
    # when
    finding = only(report(breaks=breaks, sources=[cell(1, text)]))
    # then
    assert finding.location == place
    assert finding.evidence[0].value == 6
    assert "`history.append(loss.item())`" in finding.message
    assert finding.next_step is not None and "Let the model return `loss`" in finding.next_step.text
    assert finding.next_step.code == "history.append(loss.detach())  # in the training loop"


@pytest.mark.parametrize(
    ("source", "line", "rewritten"),
    [
        (
            "def gate(h):\n    if h.mean() > 0:\n        return h * 2\n    return h / 2\n", 2,
            "return torch.where(h.mean() > 0, h * 2, h / 2)",
        ),
        (
            "def f(h):\n    if h.sum() > 1:\n        y = h\n    else:\n        y = -h\n    return y\n", 2,
            "y = torch.where(h.sum() > 1, h, -h)",
        ),
        ("def f(h):\n    if h.sum() > 1:\n        h *= 2\n    return h\n", 2, "h = torch.where(h.sum() > 1, h * 2, h)"),
        ("def f(h):\n    return h if h.sum() > 0 else -h\n", 2, "return torch.where(h.sum() > 0, h, -h)"),
    ],
)  # fmt: skip
def test_a_simple_branch_on_a_tensor_is_rewritten_with_where(source: str, line: int, rewritten: str) -> None:
    place = at(1, line, source.splitlines()[line - 1])
    finding = only(report(breaks=[Break(id="b", reason=JUMP, location=place)], sources=[cell(1, source)]))
    assert finding.next_step is not None and finding.next_step.code == rewritten


@pytest.mark.parametrize(
    "source",
    [
        "def f(h):\n    if h.sum() > 0:\n        h = h + 1\n        self.log(h)\n    return h\n",  # does two things
        "def f(h):\n    if h.sum() > 0:\n        return h, 1\n    return h, 2\n",  # returns two values
        "def f(h):\n    if h.sum() > 0:\n        return None\n    return h\n",  # nothing to choose
        "def f(h):\n    if h.sum() > 0:\n        a = h\n    else:\n        b = h\n    return h\n",  # two names
        "this is no Python",
    ],
)
def test_a_branch_that_is_not_simple_is_left_to_words(source: str) -> None:
    place = at(1, 2, "    if h.sum() > 0:")
    finding = only(report(breaks=[Break(id="b", reason=JUMP, location=place)], sources=[cell(1, source)]))
    assert finding.next_step is not None and finding.next_step.code is None
    assert "torch.where" in finding.next_step.text


def test_a_cell_with_magics_and_shell_lines_is_read_all_the_same() -> None:
    source = "%%stc_compile\n!nvidia-smi\n%matplotlib inline\ndef g(h):\n    if h.sum() > 0:\n        return h\n    return -h\n"
    place = at(2, 5, "    if h.sum() > 0:")
    finding = only(report(breaks=[Break(id="b", reason=JUMP, location=place)], sources=[cell(2, source)]))
    assert finding.next_step is not None and finding.next_step.code == "return torch.where(h.sum() > 0, h, -h)"


@pytest.mark.parametrize(
    ("reason", "line", "advice"),
    [
        ("Failed to trace builtin operator\n  Explanation: Dynamo does not know how to trace builtin operator `print`", "print(h)", "Print outside"),
        ("logging.Logger method not supported for non-export cases", "log.info('x')", "Log outside"),
        ("Attempted to call function marked as skipped\n  the builtin `time.time.`", "t = time.time()", "Call it outside"),
        ("Tensor.numpy() with trace_numpy=False", "a = h.numpy()", "Use torch's function"),
        ("Attempted to wrap RNN, GRU, or LSTM", "self.lstm(x)", "one fast library call"),
        ("Dynamic shape operator\n  aten.nonzero.default", "h[h > 0]", "Keep the shape"),
        ("Unsupported context manager", "with lock:", "Enter the context manager outside"),
        ("Data-dependent assertion failed (cannot compile partial graph)", "assert h.sum() > 0", "Check the data before"),
        ("generic_jump TensorVariable()", "while h.sum() > 0:", "fixed number of turns"),
        ("Attempt to trace generator", "yield h", "Make it a list"),
    ],
)  # fmt: skip
def test_the_next_step_fits_the_pattern(reason: str, line: str, advice: str) -> None:
    finding = only(report(breaks=[Break(id="b", reason=reason, location=at(1, 3, line))]))
    assert finding.next_step is not None and advice in finding.next_step.text


def test_an_unknown_reason_gets_torchs_own_hint_without_its_boilerplate() -> None:
    hints = [
        "It may be possible to write Dynamo tracing rules for this code. Please report an issue to PyTorch.",
        "Use frob().",
    ]
    finding = only(report(breaks=[Break(id="b", reason="Frobnication", hints=hints, location=at(1, 1, "frob"))]))
    assert finding.next_step is not None and finding.next_step.text == "Use frob()."


def test_torchs_own_breaks_are_no_findings() -> None:
    assert list(rule(report(breaks=[Break(id="b", reason="Call to `torch._dynamo.graph_break()`", benign=True)]))) == []


def test_a_break_the_user_asked_for_is_only_told() -> None:
    made = report(
        breaks=[Break(id="b", reason="Call to `torch._dynamo.graph_break()`", location=at(1, 1, "graph_break()"))]
    )
    assert only(made).severity == "info"


def test_two_places_are_two_findings() -> None:
    breaks = [Break(id=str(i), reason=ITEM, location=at(1, i, "x.item()")) for i in (3, 4)]
    assert len(list(rule(report(breaks=breaks)))) == 2


def test_a_function_skipped_for_a_break_in_its_loop_is_one_finding() -> None:
    breaks = [
        Break(id="a", reason=ITEM, location=at(1, 4, "s += h.item()", "forward")),
        Break(id="b", reason="graph break in loop", kind="frame-skipped", location=at(1, 3, "for h in hs:", "forward")),
    ]
    finding = only(report(breaks=breaks))
    assert finding.location is not None and finding.location.line == 4
    assert "runs eager" in finding.message


def test_what_a_break_hands_over_is_told_with_it() -> None:
    place = at(1, 5, "t = time.time()", "forward")
    again = Recompilation(id="r", function="Net.forward (from line 5)", guard="___stack0 == 1.5", reason="", kind="value", source="___stack0")  # fmt: skip
    made = report(breaks=[Break(id="b", reason="builtin `time.time`", location=place)], recompilations=[again])
    assert [e.value for e in only(made).evidence if e.label == "recompilations behind it"] == [1]
