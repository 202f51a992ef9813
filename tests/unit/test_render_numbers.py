"""Numbers read the same everywhere: three significant digits, SI units, a thin space before the unit."""

from __future__ import annotations

import pytest

from stc.record.types import Speedup
from stc.render import numbers as n

T = n.THIN


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.00123, "0.00123"), (0.5, "0.500"), (1, "1.00"), (14.04, "14.0"), (99.96, "100"), (999.6, "1,000"),
        (4800, "4,800"), (1_234_567, "1,230,000"), (-3.2, "-3.20"),
    ],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert n.digits(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, f"0{T}s"), (3e-10, f"0.300{T}ns"), (167e-6, f"167{T}µs"), (999.6e-6, f"1.00{T}ms"), (0.014, f"14.0{T}ms"),
        (20.89, f"20.9{T}s"), (119.0, f"119{T}s"), (150.0, f"2.50{T}min"), (9000, f"2.50{T}h"), (None, "–"),
    ],
)  # fmt: skip
def test_durations(value: float | None, text: str) -> None:
    assert n.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, f"0{T}B"),
        (622, f"622{T}B"),
        (622_000, f"622{T}kB"),
        (3_170_000, f"3.17{T}MB"),
        (999_999, f"1.00{T}MB"),
        (None, "–"),
    ],
)
def test_bytes(value: float | None, text: str) -> None:
    assert n.data(value) == text


def test_a_change_is_given_in_one_unit() -> None:
    assert n.change(0.0184, 0.014) == f"18.4 → 14.0{T}ms"
    assert n.change(0.0011, 0.00097) == f"1.10 → 0.970{T}ms"


def test_ratios_shares_and_spread() -> None:
    assert n.ratio(1.3119) == "1.31×"
    assert n.percent(0.644) == f"64{T}%"
    assert n.percent(0.023) == f"2.3{T}%"
    assert n.percent(0.000001) == f"<0.1{T}%"
    assert n.spread(Speedup(ratio=1.31, low=1.284, high=1.33)) == f"±2{T}%"
    assert n.spread(Speedup(ratio=1.31, low=1.3099, high=1.3101)) == f"±<0.1{T}%"


def test_one_step_is_singular() -> None:
    assert n.counted(1, "step") == "1 step"
    assert n.counted(4800, "step") == "4,800 steps"
