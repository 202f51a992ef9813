"""The headline: one honest sentence for each way a run can go."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from fixtures.made import MODEL, at, example, report
from stc.analyse import headline
from stc.record.types import BreakEven, Failure, Limit, Location, Progress, Speedup, Steps, Timing


def timing(seconds: float, n: int = 100) -> Timing:
    return Timing(median_s=seconds, p95_s=seconds, mean_s=seconds, n=n)


def compared(eager: float, compiled: float, low: float, high: float, **fields: Any) -> Steps:
    return Steps(
        total=20_000, eager=timing(eager), compiled=timing(compiled),
        speedup=Speedup(ratio=eager / compiled, low=low, high=high), **fields,
    )  # fmt: skip


def plain(text: str) -> str:
    return text.replace("\u2009", " ")


def test_faster_and_paid() -> None:
    steps = compared(0.0184, 0.014, 1.29, 1.34, break_even=BreakEven(step=4800, reached=True))
    assert plain(headline(report(steps=steps, total_s=21.0))) == (
        "Trains 1.31× faster: 18.4 → 14.0 ms a step (±2 %). "
        "Compiling took 21 s and paid for itself after 4,800 of 20,000 steps."
    )


def test_faster_but_not_paid_yet() -> None:
    steps = compared(0.0184, 0.014, 1.29, 1.34, break_even=BreakEven(step=31_234, reached=False))
    assert plain(headline(report(steps=steps, total_s=21.0))).endswith(
        "Compiling took 21 s and would pay for itself after about 31,000 steps; this run had 20,000."
    )


@pytest.mark.parametrize(
    ("low", "high", "begins"),
    [
        (1.001, 1.2, "Trains 1.10× faster"),
        (0.999, 1.2, "Compiled, with no measurable difference"),
        (1.0, 1.2, "Compiled, with no measurable difference"),
        (0.86, 7.53, "Compiled, but the steps vary too much to tell a difference"),
    ],
)
def test_a_speed_up_is_claimed_only_where_the_interval_excludes_one(low: float, high: float, begins: str) -> None:
    assert headline(report(steps=compared(0.011, 0.01, low, high))).startswith(begins)


@pytest.mark.parametrize(
    ("high", "begins"), [(0.999, "Compiled, but 1.25× slower"), (1.001, "Compiled, but the steps vary too much")]
)
def test_a_slow_down_is_told_only_where_the_interval_excludes_one(high: float, begins: str) -> None:
    assert headline(report(steps=compared(0.008, 0.010, 0.7, high))).startswith(begins)


def test_without_a_baseline_nothing_is_claimed() -> None:
    steps = Steps(total=50, compiled=timing(0.014), speedup_reason="No step ran eager; 3 are needed as a baseline.")
    assert plain(headline(report(steps=steps))) == (
        "Compiled: 14.0 ms a step. No speed-up is claimed: no step ran eager; 3 are needed as a baseline."
    )


def test_left_eager() -> None:
    assert plain(headline(example("left_eager"))).startswith(
        "Left eager: compiling would take about 9.3 s and this loop had 49 ms to go"
    )


def test_eager_as_asked() -> None:
    made = report(graphs=[], run={"plan": "eager"}, steps=Steps(total=9, eager=timing(0.002)))
    assert plain(headline(made)) == "Left eager, as asked: 2.00 ms a step."


def test_not_compiled_any_more_leads_whatever_was_measured() -> None:
    limit = Limit(function="f", limit=8, guard="self.seen == 8", location=at(1, 9, "self.seen += 1"), step=8, call=9)
    made = report(limits=[limit], steps=compared(0.02, 0.01, 1.9, 2.1))
    assert headline(made) == "Not compiled since step 9: `self.seen == 8` changes from call to call (In[1], line 9)."


def test_an_optimizers_limit_does_not_lead() -> None:
    place = Location(file="adam.py", line=1, path="/lib/torch/optim/adam.py")
    made = report(limits=[Limit(function="step", limit=8, location=place)], steps=compared(0.02, 0.01, 1.9, 2.1))
    assert headline(made).startswith("Trains 2.00× faster")


def test_nothing_compiled() -> None:
    assert headline(report(graphs=[], units=[])) == "Nothing was compiled: no model was called."
    assert headline(report(graphs=[])) == "Nothing was compiled: no graph was built for `model`."
    failed = replace(MODEL, state="failed")
    assert "the compiler failed on `model`" in headline(report(graphs=[], units=[failed]))


def test_too_short_to_decide() -> None:
    made = report(
        graphs=[], units=[replace(MODEL, state="found")], run={"options": {"plan": None}}, steps=Steps(total=4)
    )
    assert headline(made) == "Left eager: the run ended after 4 steps, before there was a baseline to decide on."


@pytest.mark.parametrize(
    ("run", "begins"),
    [
        ({"status": "running"}, "Running: no step has ended yet."),
        ({"status": "running", "progress": Progress(message="Compiling graph 2", at=0.0)}, "Compiling graph 2."),
        ({"status": "interrupted"}, "Interrupted before its first step ended."),
        ({"status": "lost"}, "Lost: the process ended without finishing the run, before its first step ended."),
        (
            {"status": "failed", "failure": Failure(type="RuntimeError", message="", location=at(2, 4, "x"))},
            "Failed before its first step ended: RuntimeError at In[2], line 4.",
        ),
    ],
)
def test_a_run_that_has_not_completed_says_so_first(run: dict[str, Any], begins: str) -> None:
    assert headline(report(run=run)).startswith(begins)


def test_while_it_runs_the_comparison_so_far_is_told() -> None:
    made = report(run={"status": "running"}, steps=compared(0.02, 0.01, 1.9, 2.1))
    assert plain(headline(made)) == "Running, step 20,001: trains 2.00× faster: 20.0 → 10.0 ms a step (±5 %)."


def test_inference_alone_is_described_by_what_was_built() -> None:
    assert (
        plain(headline(report(total_s=8.0)))
        == "Compiled `model`: 1 graph, 1 kernel. Compiling took 8.0 s. No training step was measured."
    )
