"""What a finding calls the user's code, and how a plan is ordered: as the run was started, so that advice can be taken as it stands.

A run is a cell under the magic, a script under `stc run`, or a block or model in either.
"""

from __future__ import annotations

import shlex

from stc.record.types import Report


def part(report: Report) -> str:
    """ "script" or "cell": what the user runs again."""
    origin = report.run.origin
    return "script" if origin.kind == "script" or origin.script is not None else "cell"


def order(report: Report, plan: str) -> str:
    """The line that orders a plan."""
    origin = report.run.origin
    if origin.kind == "context":
        return f'with stc.compiling(plan="{plan}"):'
    if origin.kind == "function":
        return f'stc.compile(model, plan="{plan}")'
    if origin.kind == "script":
        script = origin.script or ""
        # A module's name is kept without its -m.
        shown = shlex.quote(script) if script.endswith(".py") or "/" in script else "..."
        return f"stc run --plan {plan} {shown}"
    return f"%%stc_compile --plan {plan}"


def keyword(report: Report, plan: str) -> str:
    """The same within a sentence: the option as it is given there."""
    return f'plan="{plan}"' if report.run.origin.kind in ("context", "function") else f"--plan {plan}"
