"""Every speed and memory goal, measured as pairs in one run: ``python -m benchmarks [NAME ...]``.

Prints what was measured beside the goal; a goal that is missed is said, and the exit status tells. Not a test: two noisy cores
decide nothing about a commit.
"""

from __future__ import annotations

import sys

from . import capture_cost, import_time, panel_open, report_open, step_cost, store_cost
from .paired import Result

BENCHMARKS = {
    "import": import_time.run,
    "store": store_cost.run,
    "report": report_open.run,
    "panel": panel_open.run,
    "step": step_cost.run,
    "capture": capture_cost.run,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}. There are: {', '.join(BENCHMARKS)}.", file=sys.stderr)
        return 2
    missed = 0
    for name in names or BENCHMARKS:
        for result in BENCHMARKS[name]():
            print(line(result), flush=True)
            missed += not result.met
    return 1 if missed else 0


def line(result: Result) -> str:
    verdict = "met" if result.met else "MISSED"
    return f"{result.name:<52} {result.measured:<34} goal {result.goal:<16} {verdict}  (n = {result.n})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
