"""A report as plain text: a summary of at most a dozen lines for a terminal, and the whole for `stc show`.

No colours and no control characters: it is also what a notebook shows where HTML is not, and what ends up in log files.
"""

from __future__ import annotations

import shutil
import textwrap
import time
from collections.abc import Iterable, Sequence

from stc.record.types import Finding, Graph, Report, RunSummary

from . import numbers as n
from .summary import SEVERITY_MARKS, SHOWN_FINDINGS, chip, evidence_value, figures, kernel_labels, left_out

WIDTH = 100
SUMMARY_LINES = 12


def summary(report: Report, *, width: int = WIDTH) -> str:
    """Headline, one row of figures, the findings that matter: at most `SUMMARY_LINES` lines."""
    lines = [*_wrapped(f"STC: {report.headline}", width)][:3]
    lines += _figure_row(report, width)
    shown = report.findings[:SHOWN_FINDINGS]
    for position, finding in enumerate(shown):
        kept_back = 1 + 2 * (len(shown) - position - 1)  # the last line, and two for each finding to come
        lines += _short_finding(finding, width, SUMMARY_LINES - len(lines) - kept_back)
    rest = len(report.findings) - len(shown)
    more = f"{n.counted(rest, 'more finding')}: " if rest > 0 else ""
    lines.append(f"  {more}stc show {report.run.id}")
    return "\n".join(lines)


def runs_table(runs: Sequence[RunSummary], *, width: int | None = None, now: float | None = None) -> str:
    """One line a run: when, status, what was found, name, headline. The terminal's width if none is given."""
    width = width or max(80, shutil.get_terminal_size((160, 24)).columns)
    if not runs:
        return "No runs yet. Put %%stc_compile on top of a training cell, or use `stc run SCRIPT`."
    now = time.time() if now is None else now
    ids = max(len(s.run.id) for s in runs)
    longest = min(28, max(len(s.run.name) for s in runs))
    lines = [f"{'id':<{ids}}  {'when':<12}{'status':<12}{'findings':<10}{'name':<{longest}}  outcome"]
    for s in runs:
        counts = (("error", s.errors), ("warning", s.warnings), ("info", s.infos))
        marks = " ".join(f"{SEVERITY_MARKS[kind]}{count}" for kind, count in counts if count)
        name, ago = _cut(s.run.name, longest), _ago(now - s.run.started_at)
        line = f"{s.run.id:<{ids}}  {ago:<12}{s.run.status:<12}{marks:<10}{name:<{longest}}  {s.headline}"
        lines.append(_cut(line, width))
    return "\n".join(lines)


def full(report: Report, *, width: int = WIDTH) -> str:
    """Everything a terminal can show in good order: run, findings, steps, compile time, graphs and kernels."""
    blocks = [_head(report, width), _findings(report, width), _steps(report), _phases(report)]
    labels = kernel_labels(report)
    blocks += [_graph(graph, labels, width) for graph in report.compile.graphs]
    blocks.append(_recompilations(report, width))
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _figure_row(report: Report, width: int) -> list[str]:
    """As many figures as fit on one line; a figure is never cut."""
    row = ""
    for figure in figures(report):
        longer = f"{row}   {figure.label} {figure.value}" if row else f"  {figure.label} {figure.value}"
        if len(longer) > width:
            break
        row = longer
    return [row] if row else []


def _short_finding(finding: Finding, width: int, room: int) -> list[str]:
    """Message with its place, what to do, and code if there is room; at least a line, at most ``room``."""
    place = f"  [{chip(finding.location)}]" if finding.location is not None else ""
    lines = [_cut(f"  {SEVERITY_MARKS[finding.severity]} {finding.message}", width - len(place)) + place]
    if finding.next_step is not None:
        lines.append(_cut(f"    → {finding.next_step.text}", width))
        code = (finding.next_step.code or "").splitlines()
        if len(code) == 1:
            lines.append(_cut(f"        {code[0]}", width))
    return lines[: max(1, room)]


def _ago(seconds: float) -> str:
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{int(seconds // unit)}{n.THIN}{name} ago"
    return "just now"


def _head(report: Report, width: int) -> list[str]:
    run, env = report.run, report.run.environment
    where = [
        f"Python {env.python}",
        f"torch {env.torch}" if env.torch else "no torch",
        env.cpu or "",
        env.compiler or "",
    ]
    lines = [f"{run.name}  ({run.id})", *_wrapped(report.headline, width), ""]
    lines.append(
        f"status {run.status}{'  partial' if run.partial else ''}   target {run.target}   plan {run.plan}   wall time {n.seconds(run.wall_s)}"
    )
    lines.append("   ".join(w for w in where if w))
    for unit in report.compile.units:
        parameters = f", {n.count(unit.parameters)} parameters" if unit.parameters is not None else ""
        place = f"  [{chip(unit.location)}]" if unit.location is not None else ""
        lines.append(f"{unit.kind} {unit.name}: {unit.type}{parameters}, {unit.state}{place}")
    return lines


def _findings(report: Report, width: int) -> list[str]:
    if not report.findings:
        return ["Findings", "  None: nothing stood out."]
    lines = ["Findings"]
    for f in report.findings:
        place = f"  [{chip(f.location)}]" if f.location is not None else ""
        lines += _wrapped(f"{SEVERITY_MARKS[f.severity]} {f.code}: {f.message}{place}", width, "  ", "    ")
        for evidence in f.evidence:
            lines += _wrapped(f"{evidence.label}: {evidence_value(evidence)}", width, "      ", "        ")
        if f.next_step is not None:
            lines += _wrapped(f"→ {f.next_step.text}", width, "    ", "      ")
            if f.next_step.code:
                lines += [f"        {line}" for line in f.next_step.code.splitlines()]
    return lines


def _steps(report: Report) -> list[str]:
    steps = report.steps
    lines = [
        "Steps",
        f"  {n.counted(steps.total, 'step')}{f' (a step ends with the {steps.definition})' if steps.definition else ''}",
    ]
    for label, t in (("eager", steps.eager), ("compiled", steps.compiled)):
        if t is not None:
            spread = (
                f" ({n.seconds(t.median_low_s)} to {n.seconds(t.median_high_s)})" if t.median_low_s is not None else ""
            )
            lines.append(
                f"  {label:<9} median {n.seconds(t.median_s)}{spread}   p95 {n.seconds(t.p95_s)}   n {n.count(t.n)}"
            )
    if steps.speedup is not None:
        s = steps.speedup
        lines.append(f"  speed-up  {n.ratio(s.ratio)} ({n.digits(s.low)} to {n.ratio(s.high)})")
    elif steps.speedup_reason:
        lines.append(f"  speed-up  {n.UNKNOWN}  {steps.speedup_reason}")
    even = steps.break_even
    if even is not None and even.step is not None:
        lines.append(
            f"  pays for itself after {n.counted(even.step, 'step')}{'' if even.reached else ' (not reached in this run)'}"
        )
    elif even is not None and even.reason:
        lines.append(f"  pays for itself  {n.UNKNOWN}  {even.reason}")
    out = left_out(report)
    return [*lines, f"  {out}"] if out else lines


def _phases(report: Report) -> list[str]:
    total = report.compile.total_s
    if not total:
        return []
    lines = [f"Compile time {n.seconds(total)}"]
    widest = max((len(phase.label) for phase in report.compile.phases), default=0)
    for phase in sorted(report.compile.phases, key=lambda p: -p.self_s):
        bar = "█" * round(30 * phase.self_s / total)
        lines.append(f"  {phase.label:<{widest}} {n.seconds(phase.self_s):>8}  {bar}")
    return lines


def _graph(graph: Graph, labels: dict[str, str], width: int) -> list[str]:
    name = f" of {graph.name}" if graph.name else ""
    cache = f", cache {graph.cache.outcome}" if graph.cache is not None else ""
    lines = [
        f"Graph {graph.id}{name}: {n.counted(len(graph.ops), 'operation')}, {n.counted(len(graph.kernels), 'kernel')}{cache}"
    ]
    if graph.bytes is not None:
        b = graph.bytes
        lines.append(
            f"  bytes  eager {n.data(b.eager)}   decomposed {n.data(b.decomposed)}   fused {n.data(b.fused)}   (a model, not measured)"
        )
    for k in graph.kernels:
        places = ", ".join(dict.fromkeys(chip(op.location) for op in k.ops if op.location is not None))
        moved = f"{n.data(k.bytes_read)} in, {n.data(k.bytes_written)} out"
        lines.append(
            _cut(f"  {labels[k.id]:<4} {k.kind:<8} {n.counted(len(k.ops), 'op'):>7}  {moved:<24} {k.name}", width)
        )
        if places:
            lines.append(_cut(f"                        {places}", width))
    return lines + _not_fused(graph, labels, width)


def _not_fused(graph: Graph, labels: dict[str, str], width: int) -> list[str]:
    """Each reason once, with the pairs of kernels that it kept apart."""
    pairs: dict[str, dict[str, None]] = {}
    for edge in graph.not_fused:
        first, second = labels.get(edge.first, edge.first), labels.get(edge.second, edge.second)
        pair = f"within {first}" if first == second else f"{first} and {second}"
        pairs.setdefault(edge.reason, {})[pair] = None
    lines = ["  not fused"] if pairs else []
    for reason, kept in pairs.items():
        lines += _wrapped(f"{', '.join(kept)}: {reason}", width, "    ", "      ")
    return lines


def _recompilations(report: Report, width: int) -> list[str]:
    if not report.compile.recompilations:
        return []
    lines = ["Recompilations"]
    for r in report.compile.recompilations:
        step = f"step {n.count(r.step + 1)}" if r.step is not None else "step –"
        change = f"  {r.before} → {r.after}" if r.before is not None or r.after is not None else ""
        place = f"  [{chip(r.location)}]" if r.location is not None else ""
        lines.append(_cut(f"  {step:<10} {r.function}: {r.guard}{change}{place}", width))
    return lines


def _wrapped(text: str, width: int, first: str = "", rest: str = "     ") -> Iterable[str]:
    # The thin space must not be a place to break a line: a number would lose its unit.
    held = text.replace(n.THIN, "\u00a0")
    return [
        line.replace("\u00a0", n.THIN)
        for line in textwrap.wrap(held, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    ]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"
