"""What every number means: one table, from which hovers, docs/metrics.md and the panel's definitions are made.

An id is the number's path in the report. Run ``python -m stc.analyse.definitions --help`` to write or check what is made of it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec


class Definition(msgspec.Struct, frozen=True):
    """One number: what it is called, measured in, means, covers, and comes from."""

    id: str
    label: str
    unit: str  # "" for a plain number
    definition: str
    window: str
    source: str


_COUNTED = "all steps of the run's longest training loop"
_EAGER = "eager steps, without the excluded ones"
_COMPILED = "compiled steps, without the excluded ones"
_CLOCK = "measured with the monotonic clock (on a GPU with events in the device's own queue)"
_RUN = "the whole run"
_ONCE = "one execution of the graph"
_MODEL = "best-case model, not a measurement"
_TORCH = "torch's own compile events"

DEFINITIONS: tuple[Definition, ...] = (
    # ------------------------------------------------------------------ steps
    Definition("steps.total", "Steps", "steps", "Turns of the training loop that ended: with the optimizer's update, or with the backward pass where there is no optimizer.", _COUNTED, "counted"),
    Definition("steps.eager.median_s", "Eager step", "s", "Median time of a step while the models ran eager: from the end of the step before to its own end, so that fetching the batch is in it.", _EAGER, _CLOCK),
    Definition("steps.eager.p95_s", "Eager step, p95", "s", "95 % of the eager steps took at most this long; by linear interpolation.", _EAGER, _CLOCK),
    Definition("steps.eager.mean_s", "Eager step, mean", "s", "Mean time of an eager step.", _EAGER, _CLOCK),
    Definition("steps.eager.n", "Eager steps", "steps", "Number of eager steps that the eager figures are made of.", _EAGER, "counted"),
    Definition("steps.compiled.median_s", "Compiled step", "s", "Median time of a step with the models compiled and nothing left to compile: from the end of the step before to its own end.", _COMPILED, _CLOCK),
    Definition("steps.compiled.p95_s", "Compiled step, p95", "s", "95 % of the compiled steps took at most this long; by linear interpolation.", _COMPILED, _CLOCK),
    Definition("steps.compiled.mean_s", "Compiled step, mean", "s", "Mean time of a compiled step.", _COMPILED, _CLOCK),
    Definition("steps.compiled.n", "Compiled steps", "steps", "Number of compiled steps that the compiled figures are made of.", _COMPILED, "counted"),
    Definition("steps.median_interval", "Interval of the median", "s", "95 % bootstrap interval of the median, from 2,000 resamples with a fixed seed. From 256 steps on the medians of 32 consecutive stretches are resampled, so that slow drift widens it.", "the same steps as the median", "computed from the step times"),
    Definition("steps.speedup.ratio", "Speed-up", "×", "Median eager step time over median compiled step time. Above 1 compiled is faster. It is claimed only where its interval excludes 1.", "eager and compiled steps, without the excluded ones", "computed from the step times"),
    Definition("steps.speedup.interval", "Interval of the speed-up", "×", "95 % bootstrap interval of the ratio of the two medians; ± gives half its width relative to the ratio.", "the same steps as the speed-up", "computed from the step times"),
    Definition("steps.break_even.step", "Break-even", "steps", "Number of steps after which the run has caught up with an eager one and stays ahead: each step that compiled costs what it took over the eager median, each compiled step wins the difference of the medians. Beyond the end of the run it is extrapolated.", _COUNTED, "computed from the step times"),
    Definition("steps.excluded.count", "Steps left out", "steps", "Steps that are counted but in no statistic, for one of the reasons below.", _COUNTED, "counted"),
    Definition("steps.excluded.compiling", "Steps that compiled", "steps", "Steps in which anything was compiled.", _COUNTED, "counted"),
    Definition("steps.excluded.warm_up", "Warm-up steps", "steps", "The first step, and the first after a switch between eager and compiled.", _COUNTED, "counted"),
    Definition("steps.excluded.mixed", "Mixed steps", "steps", "Steps that were partly eager and partly compiled, after a recompile limit.", _COUNTED, "counted"),
    Definition("steps.excluded.incomplete", "Unfinished steps", "steps", "Steps that did not end, because of an error or an interrupt.", _COUNTED, "counted"),
    Definition("steps.series.duration_s", "Step time", "s", "Time of one step, of any kind. In a long run the series is thinned out for drawing; the statistics use every step.", "one step", _CLOCK),
    # ------------------------------------------------------------------ compile time
    Definition("compile.total_s", "Compile time", "s", "Wall time for which the training thread waited for compilers. Work that other threads and processes did at the same time is not added.", _RUN, _TORCH),
    Definition("compile.phases.self_s", "Phase", "s", "Time the training thread spent in one phase of compiling, without the phases inside it; the phases add up to the compile time.", _RUN, _TORCH),
    Definition("compile.phases.count", "Times", "", "How often the phase was entered.", _RUN, "counted"),
    Definition("compile.graphs.compile_s", "Compile time of a graph", "s", "Wall time of compiling this graph on the training thread.", "one graph", _TORCH),
    Definition("compile.decision.eager_step_s", "Eager step at the decision", "s", "Median eager step time when it was decided whether to compile.", "the eager steps until then", _CLOCK),
    Definition("compile.decision.compile_s", "Expected compile time", "s", "What compiling was expected to take: measured on this machine for the same architecture before, else estimated from the number of modules. An estimate.", "before compiling", "estimate"),
    Definition("compile.decision.remaining_steps", "Steps to go", "steps", "Turns that the running loop had left, read from the loop itself where its length is known.", "when it was decided", "read from the running loop"),
    Definition("compile.decision.break_even_step", "Earliest break-even", "steps", "The step at which compiling could have paid at the earliest: at twice the eager speed. An estimate.", "when it was decided", "estimate"),
    # ------------------------------------------------------------------ graphs and kernels
    Definition("compile.graphs.count", "Graphs", "", "Pieces of the models and optimizers that were compiled as a whole; forward and backward count separately.", _RUN, "counted"),
    Definition("compile.graphs.ops", "Operations", "", "ATen operations of the traced graph, before it is lowered to kernels.", "one graph", "counted"),
    Definition("compile.kernels.count", "Kernels", "", "Functions that one execution of the graph calls: generated ones, library calls and PyTorch's own. A generated C++ kernel counts once however many loop nests it holds.", _ONCE, "counted in Inductor's schedule"),
    Definition("compile.kernels.ops", "Operations fused", "", "ATen operations that a kernel computes. In a C++ kernel only those of one group are fused with each other.", "one kernel", "counted in Inductor's schedule"),
    Definition("compile.kernels.groups", "Groups", "", "Loop nests of one kernel. Operations of one group are fused; different groups pass their results through memory or cache.", "one kernel", "counted in Inductor's schedule"),
    Definition("compile.kernels.bytes_read", "Bytes read", "B", "Bytes that a kernel reads: of each buffer the elements touched, once a loop nest; of a lookup table the rows, not the whole.", "one execution of the kernel", _MODEL),
    Definition("compile.kernels.bytes_written", "Bytes written", "B", "Bytes of the buffers that a kernel writes, each counted once.", "one execution of the kernel", _MODEL),
    Definition("compile.kernels.share", "Share of bytes", "%", "A kernel's bytes read and written over those of all kernels of its graph that are known.", "one graph", _MODEL),
    Definition("compile.bytes.eager", "Bytes, eager", "B", "Bytes that eager PyTorch moves for the same graph: every operation reads its inputs and writes its outputs once; views move nothing.", _ONCE, _MODEL),
    Definition("compile.bytes.decomposed", "Bytes, decomposed", "B", "Bytes moved if the decomposed graph ran operation by operation. It flatters fusion, since eager has single kernels for much of it: the comparison with eager is the honest one.", _ONCE, _MODEL),
    Definition("compile.bytes.fused", "Bytes, fused", "B", "Bytes that the kernels of the graph move.", _ONCE, _MODEL),
    Definition("compile.bytes.saved", "Bytes saved against eager", "%", "1 minus fused bytes over eager bytes.", _ONCE, _MODEL),
    # ------------------------------------------------------------------ what went wrong
    Definition("compile.breaks.count", "Graph breaks", "", "How often compiling stopped at this place and went back to Python. torch's own, inside an optimizer's step, are not counted.", _RUN, _TORCH),
    Definition("compile.recompilations.count", "Recompilations", "", "How often a function was compiled again because a guard failed.", _RUN, _TORCH),
    Definition("compile.recompilations.call", "Call", "", "Call of the compiled function, from 1, at which the guard failed.", _RUN, "counted"),
    Definition("compile.limits.limit", "Recompile limit", "", "Number of graphs of one function after which torch stops compiling it.", _RUN, "torch's setting"),
    Definition("compile.gaps.count", "Gaps", "", "How often capture could not see something, by part.", _RUN, "counted"),
    # ------------------------------------------------------------------ the run
    Definition("run.wall_s", "Wall time", "s", "Time from the start of the cell, script or block to its end.", _RUN, "measured with the monotonic clock"),
    Definition("run.progress.step", "Step", "", "Number, from 0 in the record and from 1 where it is shown, of the step that is going on.", "now", "counted"),
    Definition("units.parameters", "Parameters", "", "Numbers that the model learns, without those whose shape is not known yet.", "when the model was first called", "counted"),
    Definition("units.calls", "Calls", "", "Outermost calls of the model, or updates by the optimizer.", _RUN, "counted"),
)  # fmt: skip

BY_ID: dict[str, Definition] = {d.id: d for d in DEFINITIONS}

_SECTIONS = (
    ("steps.", "Steps", "How long a turn of the training loop takes, eager and compiled."),
    ("compile.total", "Compile time", "What compiling cost, and what it was expected to cost."),
    ("compile.graphs.count", "Graphs and kernels", "What the code became. All bytes are a best-case model: each buffer is moved once, and no cache helps."),
    ("compile.breaks", "What went wrong", "Each of these has a finding too, see findings.md."),
    ("run.", "The run", "The rest."),
)  # fmt: skip


def hover(id: str) -> str:
    """The text shown when a figure is pointed at: definition, window and source.

    Raises:
        KeyError: the table has no such number.
    """
    d = BY_ID[id]
    return f"{d.definition} Window: {d.window}. Source: {d.source}."


def markdown() -> str:
    """The whole of docs/metrics.md."""
    starts = {prefix: (title, text) for prefix, title, text in _SECTIONS}
    lines = [
        "# Every number and what it means",
        "",
        "Made from `python_pkg/stc/analyse/definitions.py` by `python -m stc.analyse.definitions --write-docs docs/metrics.md`;",
        "edit the table there. The id is the number's path in the report (`stc show RUN --json`). Unknown is `null` or a dash, never zero.",
        "Figures have three significant digits; k, M and G are powers of ten.",
    ]
    open_sections = list(starts)
    for d in DEFINITIONS:
        if open_sections and d.id.startswith(open_sections[0]):
            title, text = starts[open_sections.pop(0)]
            lines += [
                "",
                f"## {title}",
                "",
                text,
                "",
                "| number | id | unit | definition | window | source |",
                "|---|---|---|---|---|---|",
            ]
        lines.append(f"| {d.label} | `{d.id}` | {d.unit or '–'} | {d.definition} | {d.window} | {d.source} |")
    return "\n".join(lines) + "\n"


def as_json() -> str:
    """The table for the panel: one object, by id."""
    table = {
        d.id: {"label": d.label, "unit": d.unit, "definition": d.definition, "window": d.window, "source": d.source}
        for d in DEFINITIONS
    }
    return json.dumps(table, indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files made of the table, or check that they are current (exit status 1 if not)."""
    parser = argparse.ArgumentParser(
        prog="python -m stc.analyse.definitions", description="Write what the table of numbers is shown by."
    )
    parser.add_argument("--write-docs", metavar="FILE", type=Path, help="write the table as Markdown (docs/metrics.md)")
    parser.add_argument(
        "--write-json",
        metavar="FILE",
        type=Path,
        help="write the table for the panel (labextension/src/definitions.json)",
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a named file is not current")
    given = parser.parse_args(arguments)
    stale = []
    for path, text in ((given.write_docs, markdown()), (given.write_json, as_json())):
        if path is None:
            continue
        if not given.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path))
    if stale:
        sys.stderr.write(f"Not current: {', '.join(stale)}. Run the same command without --check.\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
