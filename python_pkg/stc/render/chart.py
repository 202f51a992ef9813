"""Two small charts as inline SVG, for pages that have no script: step times over the run, and compile time by phase."""

from __future__ import annotations

import math

from stc.record.types import Phase, Steps

from . import numbers as n
from .markup import escape

# Okabe and Ito's palette, safe for colour-blind readers; letters in the legend as a second sign.
KINDS = {
    "e": ("eager", "#0072b2"),
    "c": ("compiled", "#009e73"),
    "x": ("compiling", "#d55e00"),
    "m": ("partly eager", "#cc79a7"),
    "w": ("warm-up", "#8a8f98"),
    "i": ("unfinished", "#8a8f98"),
}
_PHASES = ("#0072b2", "#56b4e9", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#8a8f98")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 860, 210, 62, 34, 10


def steps_chart(steps: Steps) -> str:
    """Step time (logarithmic) over step number, one dot a step, coloured by kind; empty without a series."""
    series = steps.series
    points = [(i, d, k) for i, d, k in zip(series.index, series.duration_s, series.kind, strict=False) if d > 0]
    if len(points) < 2:
        return ""
    first, last = points[0][0], points[-1][0]
    low = 10 ** (math.floor(math.log10(min(d for _, d, _ in points)) * 2) / 2)
    high = 10 ** (math.ceil(math.log10(max(d for _, d, _ in points)) * 2) / 2)
    span = math.log10(high / low) or 1.0

    def x(index: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - 10) * (index - first) / max(1, last - first)

    def y(duration: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - math.log10(duration / low) / span)

    dots = "".join(
        f'<circle cx="{x(i):.1f}" cy="{y(d):.1f}" r="{2.2 if k in "ec" else 3}" fill="{KINDS.get(k, KINDS["w"])[1]}" fill-opacity=".7"/>'
        for i, d, k in points
    )
    lines, value = [], 10 ** math.ceil(math.log10(low))
    while value <= high * 1.001:
        lines.append(_tick(y(value), n.seconds(value)))
        value *= 10
    shown = [k for k in KINDS if any(kind == k for _, _, kind in points)]
    legend = "".join(
        f'<tspan fill="{KINDS[k][1]}">● </tspan><tspan fill="currentColor">{KINDS[k][0]}&#160;&#160;&#160;</tspan>'
        for k in shown
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Step time over steps" style="width:100%;max-width:{_WIDTH}px">'
        f'<g font-size="11" fill="currentColor">{"".join(lines)}'
        f'<text x="{_LEFT}" y="{_HEIGHT - 17}">step {n.count(first + 1)}</text>'
        f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 17}" text-anchor="end">step {n.count(last + 1)}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 2}">{legend}</text></g>{dots}</svg>'
    )


def _tick(at: float, label: str) -> str:
    return (
        f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{at:.1f}" y2="{at:.1f}" stroke="currentColor" stroke-opacity=".18"/>'
        f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{label}</text>'
    )


def phases_bar(phases: list[Phase], total_s: float | None) -> str:
    """Compile time as one bar with its phases, longest first, and a legend; empty where nothing was compiled."""
    told = [p for p in sorted(phases, key=lambda p: -p.self_s) if p.self_s > 0]
    whole = max(total_s or 0.0, sum(p.self_s for p in told))
    if not told or not whole:
        return ""
    bar, legend = [], []
    for position, phase in enumerate(told):
        colour = _PHASES[min(position, len(_PHASES) - 1)]
        share, time = phase.self_s / whole, n.seconds(phase.self_s)
        bar.append(
            f'<div title="{escape(phase.label)}: {time}" style="width:{100 * share:.2f}%;background:{colour}"></div>'
        )
        legend.append(
            f'<span style="white-space:nowrap"><span style="color:{colour}">■</span> {escape(phase.label)} {time}</span>'
        )
    return (
        f'<div role="img" aria-label="Compile time by phase" style="display:flex;height:1.1em;border-radius:3px;overflow:hidden">{"".join(bar)}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.1em 1.4em;margin-top:.3em;font-size:.92em">{"".join(legend)}</div>'
    )
