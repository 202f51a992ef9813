"""The summary of a run as static HTML for a cell's output: a dozen lines high, the rest folded.

It has no script and no style sheet, so that it reads the same live, in a saved notebook, in nbconvert and on paper.
"""

from __future__ import annotations

import json

from stc.record.types import Finding, Report

from . import numbers as n
from .markup import LINE, SEVERITY_COLOURS, escape, evidence, figure, mark, next_step, place_chip, sentence
from .summary import SHOWN_FINDINGS, figures

OPEN_COMMAND = "stc:open-run"  # JupyterLab's command linker runs it where our front end is installed
_FASTER, _GOING_ON, _NEITHER = "#1b873f", "#1976d2", "#7a7f87"


def summary(report: Report) -> str:
    """Headline, one row of figures, findings worst first; escaped throughout."""
    shown, folded = report.findings[:SHOWN_FINDINGS], report.findings[SHOWN_FINDINGS:]
    row = "".join(figure(item) for item in figures(report))
    parts = [
        f'<div style="font-weight:600;font-size:1.06em">{sentence(report.headline)}</div>',
        f'<div style="display:flex;flex-wrap:wrap;gap:.2em 1.8em;margin:.35em 0 .3em">{row}</div>' if row else "",
        *(
            _finding(finding, open=position == 0 and finding.severity != "info")
            for position, finding in enumerate(shown)
        ),
        _foot(report, folded),
    ]
    return (
        f'<div class="stc-summary" data-stc-run="{escape(report.run.id)}" style="border-left:3px solid {_bar(report)};'
        f'padding:.1em 0 .1em .9em;margin:.3em 0;max-width:62em;line-height:1.45;color:inherit">{"".join(parts)}</div>'
    )


def _bar(report: Report) -> str:
    """The colour at the left edge: how it went, at a glance. The headline says the same in words."""
    worst = next((s for s in ("error", "warning") if any(f.severity == s for f in report.findings)), None)
    if worst is not None:
        return SEVERITY_COLOURS["error" if worst == "error" else "warning"]
    if report.run.status == "running":
        return _GOING_ON
    speedup = report.steps.speedup
    return _FASTER if speedup is not None and speedup.low > 1.0 else _NEITHER


def _finding(finding: Finding, *, open: bool) -> str:
    """A finding folded to its sentence; unfolded it shows what to do and the evidence."""
    return (
        f'<details{" open" if open else ""} style="margin:.1em 0">'
        f'<summary style="cursor:pointer">{mark(finding.severity)} {sentence(finding.message)} '
        f"{place_chip(finding.location)}</summary>"
        f'<div style="margin:.1em 0 .3em 1.15em;padding-left:.7em;border-left:1px solid {LINE}">'
        f"{next_step(finding.next_step)}{evidence(finding.evidence)}</div></details>"
    )


def _foot(report: Report, folded: list[Finding]) -> str:
    arguments = escape(json.dumps({"run": report.run.id}))
    # A button and no anchor: JupyterLab asks its server for a file of any local link's name, "#" too.
    link = (
        f'<button type="button" data-commandlinker-command="{OPEN_COMMAND}" data-commandlinker-args="{arguments}" '
        f'title="Run {escape(report.run.id)}" style="padding:0;border:0;background:none;font:inherit;cursor:pointer;'
        f'color:var(--jp-content-link-color,#1565c0)">Open in the STC panel</button>'
    )
    if not folded:
        return f'<div style="font-size:.92em">{link}</div>'
    rest = "".join(_finding(finding, open=False) for finding in folded)
    return (
        f'<details style="margin:.1em 0"><summary style="cursor:pointer;font-size:.92em">'
        f"{n.counted(len(folded), 'more finding')} &ensp;·&ensp; {link}</summary>"
        f'<div style="margin-left:1.15em">{rest}</div></details>'
    )
