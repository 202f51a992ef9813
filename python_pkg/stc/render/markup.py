"""Small pieces of HTML that the cell output and the page share: everything that comes from a report is escaped here.

Colours are chosen to be readable on white and on dark alike, because a saved notebook does not know what it is shown on.
"""

from __future__ import annotations

import html
import re

from stc.analyse.definitions import hover
from stc.record.types import Evidence, Location, NextStep, Severity

from .summary import SEVERITY_MARKS, Figure, chip, evidence_value

# Contrast against white and against JupyterLab's dark background is above 4:1 for each.
SEVERITY_COLOURS: dict[Severity, str] = {"error": "#d93025", "warning": "#b26a00", "info": "#1976d2"}
LINE = "rgba(128,128,128,.35)"
TINT = "rgba(128,128,128,.13)"
MONO = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);font-size:.92em"
CODE = f"{MONO};background:{TINT};border-radius:3px;padding:0 .25em"


def escape(value: object) -> str:
    """Text that is safe in HTML, between tags and within quoted attributes."""
    return html.escape(str(value), quote=True)


def sentence(text: str) -> str:
    """A sentence, escaped, with what stands between backticks as code."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(
        f'<code style="{CODE}">{escape(part)}</code>' if position % 2 else escape(part)
        for position, part in enumerate(parts)
    )


def mark(severity: Severity) -> str:
    """The severity by shape and colour, with its word for screen readers."""
    return (
        f'<span role="img" aria-label="{severity}" title="{severity}" '
        f'style="color:{SEVERITY_COLOURS[severity]};font-weight:700">{SEVERITY_MARKS[severity]}</span>'
    )


def place_chip(location: Location | None) -> str:
    """A place as a chip, "In[3] : 12", with the line's text on hover."""
    if location is None:
        return ""
    title = f' title="{escape(location.text.strip())}"' if location.text else ""
    cell = f' data-stc-cell="{escape(location.cell_id)}"' if location.cell_id else ""
    return (
        f'<span{title}{cell} data-stc-line="{location.line}" style="{MONO};white-space:nowrap;border:1px solid {LINE};'
        f'border-radius:9px;padding:0 .5em">{escape(chip(location))}</span>'
    )


def figure(item: Figure) -> str:
    """A figure under its label; its hover gives the definition, window and source."""
    words = [item.detail] if item.detail else []
    if item.definition is not None:
        words.append(hover(item.definition))
    title = f' title="{escape(". ".join(w.rstrip(".") for w in words))}."' if words else ""
    return (
        f'<div{title} style="white-space:nowrap"><div style="font-size:.8em;opacity:.75">{escape(item.label)}</div>'
        f'<div style="font-variant-numeric:tabular-nums">{escape(item.value)}</div></div>'
    )


def next_step(step: NextStep | None) -> str:
    """What to do, with code that can be copied."""
    if step is None:
        return ""
    text = f"<div><b>What to do:</b> {sentence(step.text)}</div>"
    if not step.code:
        return text
    return text + (
        f'<pre style="{MONO};background:{TINT};border-radius:4px;margin:.25em 0;padding:.35em .7em;white-space:pre-wrap;'
        f'color:inherit">{escape(step.code)}</pre>'
    )


def evidence(items: list[Evidence]) -> str:
    """All evidence on one flowing line, labels faint, figures and quotations in monospace."""
    shown = [
        f'<span style="opacity:.75">{escape(item.label)}</span> <span style="{MONO}">{escape(evidence_value(item))}</span>'
        for item in items
    ]
    return f'<div style="font-size:.92em">{" &ensp;·&ensp; ".join(shown)}</div>' if shown else ""
