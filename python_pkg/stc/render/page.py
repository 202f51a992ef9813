"""A run as one HTML file that stands on its own: no script, nothing loaded from elsewhere, light and dark, and printable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timezone

from stc.analyse.definitions import hover
from stc.record.types import Finding, Graph, Kernel, Report, Source

from . import numbers as n
from .chart import phases_bar, steps_chart
from .code import STYLE, highlighted
from .kernels import badge, graph_facts, graph_title, kernel_detail, kernel_share
from .markup import LINE, MONO, escape, evidence, figure, mark, next_step, place_chip, sentence
from .summary import figures, kernel_labels, left_out

_CSS = """
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--link:#1558b0}
@media(prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#14171b;--link:#7db7ff;
--jp-mirror-editor-keyword-color:#7bc48d;--jp-mirror-editor-string-color:#e59a8f;--jp-mirror-editor-comment-color:#98a3a3;
--jp-mirror-editor-number-color:#d9b861;--jp-mirror-editor-builtin-color:#7bc48d;--jp-mirror-editor-def-color:#8fb4ff;
--jp-mirror-editor-operator-color:#d09bee}}
body{color:var(--fg);background:var(--bg);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;margin:0 auto;
max-width:66em;padding:1.5em 1.2em 4em}
h1{font-size:1.5em;line-height:1.3;margin:.2em 0 .5em}h2{font-size:1.15em;margin:1.8em 0 .5em}h3{font-size:1em;margin:1.2em 0 .3em}
.faint{opacity:.75}table.kernels{border-collapse:collapse;width:100%}.row{display:grid;grid-template-columns:minmax(0,1fr) repeat(4,6em);gap:.6em;padding:.15em 0;align-items:baseline}.row>:not(:first-child){text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}.head{font-weight:600;font-size:.86em}.kernel{border-top:1px solid rgba(128,128,128,.25)}
.kernel>summary>:first-child::before{content:"▸ ";opacity:.7}.kernel[open]>summary>:first-child::before{content:"▾ "}
.kernel summary{list-style:none}.kernels th{text-align:left;font-weight:600;font-size:.86em}
.kernels td,.kernels th{padding:.15em .6em .15em 0;border-bottom:1px solid rgba(128,128,128,.25);vertical-align:top}
.kernels .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.finding{margin:.9em 0}
.finding>div{margin:.2em 0 0 1.3em}summary{cursor:pointer}.lens{border-collapse:collapse;width:100%}
.lens td{padding:0 .6em 0 0;vertical-align:top;white-space:pre;line-height:1.45}.lens td:last-child{white-space:normal}.lens .no{text-align:right;opacity:.7;user-select:none}
@media print{body{max-width:none;padding:0}pre{max-height:none!important}h2{break-after:avoid}.finding{break-inside:avoid}}
"""


def page(report: Report, artefact: Callable[[str], str | None] = lambda name: None) -> str:
    """The whole report as an HTML document.

    Args:
        artefact: the text of a run's artefact by name, None where there is none; without it no generated code is shown.
    """
    run = report.run
    body = [
        f'<p class="faint">{escape(run.name)} &ensp;·&ensp; {escape(run.id)} &ensp;·&ensp; {_when(run.started_at)}</p>',
        f"<h1>{sentence(report.headline)}</h1>",
        f'<div style="display:flex;flex-wrap:wrap;gap:.4em 2em">{"".join(figure(f) for f in figures(report))}</div>',
        _section("Findings", _findings(report.findings)),
        _section("Steps", _steps(report)),
        _section("Compile time", phases_bar(report.compile.phases, report.compile.total_s)),
        _section("Your code and the kernels it became", _lenses(report)),
        _section("Graphs and kernels", _graphs(report, artefact)),
        _section("Recompilations", _recompilations(report)),
        _section("Where it ran", _environment(report)),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(run.name)} · STC</title><style>{_CSS}{STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def _section(title: str, content: str) -> str:
    return f"<h2>{title}</h2>{content}" if content else ""


def _findings(findings: list[Finding]) -> str:
    if not findings:
        return "<p>None: nothing stood out.</p>"
    return "".join(
        f'<div class="finding">{mark(f.severity)} {sentence(f.message)} {place_chip(f.location)} '
        f'<span class="faint" style="font-size:.86em">{escape(f.code)}</span>'
        f"<div>{next_step(f.next_step)}{evidence(f.evidence)}</div></div>"
        for f in findings
    )


def _steps(report: Report) -> str:
    steps = report.steps
    if not steps.total:
        return ""
    words = []
    if steps.definition:
        words.append(f"A step ends with the {steps.definition}.")
    if steps.speedup is None and steps.speedup_reason:
        words.append(f"No speed-up is stated: {steps.speedup_reason[0].lower()}{steps.speedup_reason[1:]}")
    out = left_out(report)
    if out:
        words.append(f"{out}.")
    if steps.series.decimated:
        words.append("The chart shows a part of the steps; the figures use all.")
    return f'{steps_chart(steps)}<p class="faint">{escape(" ".join(words))}</p>'


def _lenses(report: Report) -> str:
    """Each source with, beside its lines, the kernels they became; kernels have the labels that the list below it gives them."""
    labels = kernel_labels(report)
    lines: dict[tuple[str, int], dict[str, str]] = defaultdict(dict)
    for graph in report.compile.graphs:
        for kernel in graph.kernels:
            for op in kernel.ops:
                if op.location is not None:
                    lines[op.location.file, op.location.line][labels[kernel.id]] = f"{graph.phase}: {kernel.name}"
    broken = {
        (b.location.file, b.location.line): b.reason
        for b in report.compile.breaks
        if b.location is not None and not b.benign
    }
    folded = {(p.file, p.line) for g in report.compile.graphs for p in g.folded}
    sources = [s for s in report.sources if any(file == s.file for file, _ in [*lines, *broken])]
    return "".join(_lens(source, lines, broken, folded) for source in sources)


def _lens(
    source: Source,
    lines: dict[tuple[str, int], dict[str, str]],
    broken: dict[tuple[str, int], str],
    folded: set[tuple[str, int]],
) -> str:
    rows = []
    for number, code in enumerate(highlighted(source.text, language="python").split("\n"), source.first_line):
        key = (source.file, number)
        became = " ".join(f'<span title="{escape(name)}">{i}</span>' for i, name in lines.get(key, {}).items())
        if not became and key in folded:
            became = '<span class="faint" title="Its operations cost nothing: they were folded away.">folded</span>'
        style = ""
        if key in broken:
            style = f' style="border-left:3px solid #d93025" title="{escape(broken[key])}"'
            became += ' <span style="color:#d93025">graph break</span>'
        rows.append(f'<tr><td class="no">{number}</td><td{style}>{code}</td><td>{became}</td></tr>')
    return (
        f"<details open><summary>{escape(source.file)}</summary>"
        f'<table class="lens stc-code" style="{MONO}"><tbody>{"".join(rows)}</tbody></table></details>'
    )


def _graphs(report: Report, artefact: Callable[[str], str | None]) -> str:
    labels = kernel_labels(report)
    return "".join(_graph(graph, labels, artefact) for graph in report.compile.graphs)


def _graph(graph: Graph, labels: dict[str, str], artefact: Callable[[str], str | None]) -> str:
    head = "".join(
        f'<span title="{escape(hover(id))}">{label}</span>'
        for label, id in (
            ("Kernel", "compile.kernels.count"), ("Operations", "compile.kernels.ops"),
            ("Bytes in", "compile.kernels.bytes_read"), ("Bytes out", "compile.kernels.bytes_written"),
            ("Share", "compile.kernels.share"),
        )
    )  # fmt: skip
    rows = [_kernel(graph, kernel, labels, artefact) for kernel in graph.kernels]
    table = f'<div class="row head">{head}</div>{"".join(rows)}'
    empty = '<p class="faint">Its kernels are not known.</p>'
    return f'<h3>{escape(graph_title(graph))}</h3><p class="faint">{graph_facts(graph)}</p>{table if rows else empty}'


def _kernel(graph: Graph, kernel: Kernel, labels: dict[str, str], artefact: Callable[[str], str | None]) -> str:
    """A row that opens to the kernel's detail."""
    share = kernel_share(graph, kernel)
    filled = 0 if share is None else 100 * share
    bar = f"background:linear-gradient(to left,rgba(0,114,178,.25) {filled:.0f}%,transparent 0)"
    name = f'<span style="{MONO};word-break:break-all">{escape(kernel.name)}</span>'
    figures = (n.count(len(kernel.ops)), n.data(kernel.bytes_read), n.data(kernel.bytes_written))
    return (
        f'<details class="kernel"><summary class="row"><span><b>{labels[kernel.id]}</b> {badge(kernel)} {name}</span>'
        f'{"".join(f"<span>{value}</span>" for value in figures)}<span style="{bar}">{n.percent(share)}</span></summary>'
        f'<div style="margin:.3em 0 .6em 1.1em;padding-left:.8em;border-left:1px solid {LINE}">'
        f"{kernel_detail(graph, kernel, labels, artefact)}</div></details>"
    )


def _recompilations(report: Report) -> str:
    rows = "".join(
        f'<tr><td class="number">{n.UNKNOWN if r.step is None else n.count(r.step + 1)}</td><td style="{MONO}">{escape(r.function)}</td>'
        f'<td style="{MONO}">{escape(r.guard)}</td><td style="{MONO}">{escape(r.before or n.UNKNOWN)} → {escape(r.after or n.UNKNOWN)}</td>'
        f"<td>{place_chip(r.location)}</td></tr>"
        for r in report.compile.recompilations
    )
    head = (
        '<tr><th class="number">Step</th><th>Function</th><th>Guard that failed</th><th>Value</th><th>Place</th></tr>'
    )
    return f'<table class="kernels"><thead>{head}</thead><tbody>{rows}</tbody></table>' if rows else ""


def _environment(report: Report) -> str:
    e = report.run.environment
    memory = n.data(e.memory_bytes) if e.memory_bytes else None
    facts = (
        ("STC", e.stc), ("torch", e.torch), ("Python", e.python), ("platform", e.platform), ("CPU", e.cpu),
        ("cores", e.cpu_cores), ("memory", memory), ("C++ compiler", e.compiler),
        ("GPU", ", ".join(g.name for g in e.gpus) or None), ("target", report.run.target), ("plan", report.run.plan),
    )  # fmt: skip
    return " &ensp;·&ensp; ".join(f'<span class="faint">{k}</span> {escape(v)}' for k, v in facts if v is not None)


def _when(at: float) -> str:
    return f"{datetime.fromtimestamp(at, timezone.utc):%Y-%m-%d %H:%M} UTC"
