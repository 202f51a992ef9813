"""Something in the report is missing because capture could not see it.

Signals: the run's gaps. They are told together in one finding, as one line of evidence each, because they share a next step and
none of them touches the training. A run that was not stored is a warning: it is gone with the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.record.types import Evidence, Finding, NextStep, Report

CODE = "capture-incomplete"


def rule(report: Report) -> Iterator[Finding]:
    gaps = report.compile.gaps
    if not gaps:
        return
    parts = list(dict.fromkeys(g.part for g in gaps))
    unstored = "store" in parts
    if unstored and len(parts) == 1:
        message = "The run could not be recorded on disk, so that it is known only in this process."
        step = NextStep(text="See whether the store can be written.", code="stc doctor")
    else:
        shown = ", ".join(parts[:4]) + (f" and {len(parts) - 4} more" if len(parts) > 4 else "")
        message = f"The report is incomplete: {shown}."
        step = NextStep(
            text="The training is not affected. See which parts of capture work with this PyTorch.", code="stc doctor"
        )
    yield Finding(
        code=CODE,
        severity="warning" if unstored else "info",
        message=message,
        evidence=[
            Evidence(label=f"{g.part} ({g.count} times)" if g.count > 1 else g.part, value=g.reason) for g in gaps
        ],
        next_step=step,
    )
