"""Numbers as people read them: three significant digits, SI units, a thin space before the unit.

One place, so that cell output, terminal, page and findings never round the same figure differently. Unknown is a dash.
"""

from __future__ import annotations

from stc.record.types import Speedup

THIN = "\u2009"
WIDE = 0.2  # from this half width on, an interval is told by its ends
UNKNOWN = "\u2013"  # an en dash: not known, which is not zero

_SECONDS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_LONG = ((60.0, "min", 120.0), (3600.0, "h", 7200.0))  # unit, its name, from how many seconds it is used
_BYTES = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))


def digits(value: float, significant: int = 3) -> str:
    """A plain number with so many significant digits, and commas from a thousand on: 0.0123, 14.0, 4,800."""
    if value == 0:
        return "0"
    text = f"{value:.{significant}g}"
    rounded = float(text)
    magnitude = len(str(int(abs(rounded)))) if abs(rounded) >= 1 else 0
    if magnitude == 0:
        text = f"{rounded:.10f}".rstrip("0")
        shown = len(text.split(".")[1].lstrip("0"))
        return text + "0" * (significant - shown)
    return f"{rounded:,.{max(0, significant - magnitude)}f}"


def count(value: int | None) -> str:
    """A number of things, exact: 4,800."""
    return UNKNOWN if value is None else f"{value:,}"


def counted(value: int, noun: str, plural: str | None = None) -> str:
    """The number and its noun: "1 step", "4,800 steps"."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def seconds(value: float | None) -> str:
    """A duration: 167 µs, 14.0 ms, 20.9 s, 12.5 min, 3.00 h."""
    return _duration(value, 3)


def about(value: float | None) -> str:
    """An estimated duration, with two digits only: 24 s."""
    return _duration(value, 2)


def change(before: float, after: float) -> str:
    """Two durations in one unit, the larger one's: 18.4 → 14.0 ms."""
    unit, name = _unit(max(before, after), _SECONDS)
    return f"{digits(before / unit)} → {digits(after / unit)}{THIN}{name}"


def data(value: float | None) -> str:
    """Bytes in powers of ten: 622 kB, 3.17 MB."""
    if value is None:
        return UNKNOWN
    if value < 1000:
        return f"{value:.0f}{THIN}B"
    return _scaled(value, _BYTES)


def ratio(value: float | None) -> str:
    """A ratio: 1.31×."""
    return UNKNOWN if value is None else f"{digits(value)}×"


def percent(share: float | None) -> str:
    """A share of one, in per cent: 64 %, 2.3 %; less than a tenth of one is <0.1 %."""
    if share is None:
        return UNKNOWN
    value = share * 100
    if 0 < value < 0.1:
        return f"<0.1{THIN}%"
    return f"{value:.0f}{THIN}%" if abs(value) >= 10 or value == 0 else f"{digits(value, 2)}{THIN}%"


def spread(speedup: Speedup) -> str:
    """The 95 % interval of a speed-up: ±2 %, or where it is wide and lopsided its two ends: 1.31× to 5.2×."""
    if max(speedup.ratio - speedup.low, speedup.high - speedup.ratio) > WIDE * speedup.ratio:
        return f"{ratio(speedup.low)} to {ratio(speedup.high)}"
    return spread_of(speedup.ratio, speedup.low, speedup.high)


def spread_of(value: float, low: float, high: float) -> str:
    """± half an interval's width, relative to the value."""
    half = max(value - low, high - value) / value if value else 0.0
    if half < 0.001:
        return f"±<0.1{THIN}%"
    return f"±{percent(half) if half >= 0.095 else digits(half * 100, 1) + THIN + '%'}"


def _duration(value: float | None, significant: int) -> str:
    if value is None:
        return UNKNOWN
    if value == 0:
        return f"0{THIN}s"
    for unit, name, start in reversed(_LONG):
        if value >= start:
            return f"{digits(value / unit, significant)}{THIN}{name}"
    return _scaled(value, _SECONDS, significant)


def _unit(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    for unit, name in units:
        if float(f"{value / unit:.3g}") < 1000:
            return unit, name
    return units[-1]


def _scaled(value: float, units: tuple[tuple[float, str], ...], significant: int = 3) -> str:
    unit, name = _unit(value, units)
    return f"{digits(value / unit, significant)}{THIN}{name}"
