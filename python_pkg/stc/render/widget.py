"""A finished run to look into, as ipywidgets: for notebooks outside JupyterLab, where there is no STC panel.

Choose a graph, then a kernel; what it computes, where, why it stands alone and its generated code appear below.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stc.errors import StcUserError
from stc.record.types import Graph, Kernel, Report

from . import numbers as n
from .code import STYLE
from .kernels import badge, graph_facts, graph_title, kernel_detail, kernel_share
from .markup import evidence, figure, mark, next_step, place_chip, sentence
from .summary import figures, kernel_labels

if TYPE_CHECKING:
    import ipywidgets

log = logging.getLogger("stc")

_ROWS = 10
_NAME = 64


def view(report: Report, artefact: Callable[[str], str | None] | None = None) -> ipywidgets.Widget:
    """The run as a widget.

    Args:
        artefact: the text of a run's artefact by name, None where there is none; the default store's if not given.

    Raises:
        StcUserError: ipywidgets is not installed.
    """
    try:
        import ipywidgets as widgets
    except ImportError:
        raise StcUserError(
            "The view needs ipywidgets, which is not installed.",
            "Install it with: pip install ipywidgets; or print the report with: stc show.",
        ) from None
    read = artefact or _from_store(report.run.id)
    head = widgets.HTML(
        f"<style>{STYLE}.stc-mono select{{font-family:var(--jp-code-font-family,monospace)}}</style>"
        f'<div style="font-weight:600;font-size:1.06em;line-height:1.4">{sentence(report.headline)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.2em 1.8em;margin:.4em 0;line-height:1.4">'
        f"{''.join(figure(f) for f in figures(report))}</div>"
    )
    pages: list[tuple[str, Any]] = [(f"Findings ({len(report.findings)})", widgets.HTML(_findings(report)))]
    if report.compile.graphs:
        pages.insert(0, ("Graphs and kernels", _graphs(report, read, widgets)))
    tabs = widgets.Tab(children=[page for _, page in pages])
    for position, (title, _) in enumerate(pages):
        tabs.set_title(position, title)
    if any(f.severity == "error" for f in report.findings):
        tabs.selected_index = len(pages) - 1
    return widgets.VBox([head, tabs])


def _graphs(report: Report, artefact: Callable[[str], str | None], widgets: Any) -> Any:
    graphs, labels = report.compile.graphs, kernel_labels(report)
    wide = widgets.Layout(width="100%")
    chooser = widgets.Dropdown(
        options=[(graph_title(g), i) for i, g in enumerate(graphs)], description="Graph", layout=wide
    )
    facts = widgets.HTML()
    kernels = widgets.Select(options=[], rows=_ROWS, description="Kernels", layout=wide)
    kernels.add_class("stc-mono")
    detail = widgets.HTML(layout=wide)

    def show_graph(_: Any = None) -> None:
        graph = graphs[chooser.value]
        facts.value = f'<div style="line-height:1.4">{graph_facts(graph)}</div>'
        kernels.options = [(_row(graph, k, labels[k.id]), i) for i, k in enumerate(graph.kernels)]
        kernels.rows = max(2, min(_ROWS, len(graph.kernels)))
        show_kernel()

    def show_kernel(_: Any = None) -> None:
        graph = graphs[chooser.value]
        if kernels.value is None:
            detail.value = "<p>The kernels of this graph are not known.</p>" if not graph.kernels else ""
            return
        kernel = graph.kernels[kernels.value]
        title = f"<b>{labels[kernel.id]}</b> {badge(kernel)} <b>{sentence(f'`{kernel.name}`')}</b>"
        detail.value = f'<div style="line-height:1.5">{title}{kernel_detail(graph, kernel, labels, artefact)}</div>'

    chooser.observe(show_graph, names="value")
    kernels.observe(show_kernel, names="value")
    show_graph()
    return widgets.VBox([chooser, facts, kernels, detail])


def _row(graph: Graph, kernel: Kernel, label: str) -> str:
    name = kernel.name if len(kernel.name) <= _NAME else f"{kernel.name[: _NAME - 1]}…"
    share = n.percent(kernel_share(graph, kernel))
    return f"{label:<5}{kernel.kind:<9}{n.counted(len(kernel.ops), 'op'):>7}{share:>7} of bytes   {name}".replace(
        "  ", "\u00a0\u00a0"
    )


def _findings(report: Report) -> str:
    if not report.findings:
        return "<p>None: nothing stood out.</p>"
    return "".join(
        f'<div style="margin:.6em 0;line-height:1.5">{mark(f.severity)} {sentence(f.message)} {place_chip(f.location)}'
        f'<div style="margin-left:1.3em">{next_step(f.next_step)}{evidence(f.evidence)}</div></div>'
        for f in report.findings
    )


def _from_store(run_id: str) -> Callable[[str], str | None]:
    def read(name: str) -> str | None:
        from stc.record.store import Store

        try:
            return Store.open().artefact(run_id, name)
        except StcUserError:
            log.debug("no artefact %s of run %s", name, run_id)
            return None

    return read
