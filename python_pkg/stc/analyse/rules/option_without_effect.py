"""An option was given that changed nothing.

Signals: the ignored options with their reasons. One finding for each option; a warning, since the user asked for something and did not get it.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.record.types import Evidence, Finding, NextStep, Report

CODE = "option-without-effect"


def rule(report: Report) -> Iterator[Finding]:
    for option, reason in report.compile.ignored_options.items():
        flag = "--" + option.removeprefix("--").replace("_", "-")
        value = report.run.options.get(option.removeprefix("--").replace("-", "_"))
        given = flag if value is None or isinstance(value, bool) else f"{flag} {value}"
        yield Finding(
            code=CODE,
            severity="warning",
            message=f"`{given}` had no effect: {reason[0].lower() + reason[1:] if reason[:2].istitle() else reason}",
            evidence=[Evidence(label=flag, value=reason)],
            next_step=NextStep(text=f"Leave {flag} out, or change what keeps it from working."),
            subject=option,
        )
