"""The run did not reach its end, so the report covers only what came before.

Signals: the run's status, its partial mark and reason, and the user's own error. An interrupt was wished for and is only told.
"""

from __future__ import annotations

from collections.abc import Iterator

from stc.analyse.advice.faces import part
from stc.analyse.headline import place
from stc.record.types import Evidence, Finding, NextStep, Report
from stc.render import numbers as n

CODE = "run-partial"


def rule(report: Report) -> Iterator[Finding]:
    run, total, code = report.run, report.steps.total, part(report)
    if run.status == "running" or (run.status == "completed" and not run.partial):
        return
    covers = f"the report covers the {n.counted(total, 'step')} before" if total else "no step had ended"
    failure = run.failure
    evidence = [Evidence(label="steps", value=total)]
    location = None
    if run.status == "lost":
        message = f"The process ended without finishing the run; {covers}."
        step = NextStep(
            text=f"See whether the {'kernel was restarted' if code == 'cell' else 'process was stopped'}, killed, or ran out of memory, and run the {code} again."
        )
    elif run.status == "interrupted":
        message = f"The run was interrupted; {covers}."
        step = NextStep(text=f"Run the {code} again for a full report.")
    elif failure is not None:
        location = failure.location
        at = f" at {place(location)}" if location is not None else ""
        message = f"The {code}'s own code ended with {failure.type}{at}; {covers}."
        evidence.append(
            Evidence(
                label=failure.type, value=failure.message.strip().splitlines()[0] if failure.message.strip() else None
            )
        )
        step = NextStep(text=f"Mend the error in the {code} and run it again; without STC it ends in the same way.")
    else:
        message = f"The report is partial; {covers}."
        step = NextStep(text=f"Run the {code} again for a full report.")
    if run.partial_reason:
        evidence.append(Evidence(label="reason", value=run.partial_reason))
    yield Finding(
        code=CODE,
        severity="info" if run.status == "interrupted" else "warning",
        message=message,
        location=location,
        evidence=evidence,
        next_step=step,
    )
