"""``import stc`` against a bare Python: under 60 ms."""

from __future__ import annotations

from .paired import Result, in_turn, python


def run() -> list[Result]:
    pairs = in_turn(lambda: python("import stc"), lambda: python("pass"), pairs=15)
    milliseconds = pairs.difference * 1000
    return [Result("import stc, over bare Python", f"{milliseconds:.1f} ms", "< 60 ms", milliseconds < 60, 15)]
