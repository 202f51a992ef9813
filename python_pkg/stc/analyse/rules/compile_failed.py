"""A compiler failed on a model or optimizer, and the training went on eager.

Signals: units whose state is failed, with the exception. One finding for each exception: a missing C++ compiler stops every
model in the same way and is mended once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stc.analyse.advice.faces import keyword, part
from stc.record.types import Evidence, Failure, Finding, NextStep, Report, Unit

CODE = "compile-failed"


def rule(report: Report) -> Iterator[Finding]:
    groups: dict[tuple[str, str], list[Unit]] = {}
    for unit in report.compile.units:
        if unit.state == "failed":
            key = (unit.failure.type, unit.failure.message) if unit.failure is not None else (unit.id, "")
            groups.setdefault(key, []).append(unit)
    for units in groups.values():
        failure = units[0].failure
        names = ", ".join(f"`{u.name}`" for u in units)
        message = f"The compiler failed on {names}, and training went on eager."
        evidence = [
            Evidence(label="model" if u.kind == "model" else "optimizer", value=f"{u.name} ({u.type})") for u in units
        ]
        if failure is not None:
            message = f"The compiler failed on {names} with {failure.type}, and training went on eager."
            evidence.append(Evidence(label=failure.type, value=_sentence(failure.message)))
        place = failure.location if failure is not None and failure.location is not None else units[0].location
        yield Finding(
            code=CODE,
            severity="error",
            message=message,
            location=place,
            evidence=evidence,
            next_step=_next_step(report, failure),
            subject=units[0].id,
        )


def _next_step(report: Report, failure: Failure | None) -> NextStep:
    code = part(report)
    words = f"{failure.type} {failure.message}" if failure is not None else ""
    if re.search(
        r"InvalidCxxCompiler|No working C\+\+ compiler|g\+\+.*not found|CppCompileError|no such file.*g\+\+",
        words,
        re.IGNORECASE,
    ):
        return NextStep(
            text=f"Install a C++ compiler (g++ 9 or newer), then run the {code} again; `stc doctor` checks it.",
            code="sudo apt-get install g++",
        )
    if re.search(r"TritonMissing|triton", words, re.IGNORECASE):
        return NextStep(
            text="Install the Triton that belongs to this PyTorch; `stc doctor` checks it.", code="pip install triton"
        )
    if re.search(r"out of memory|OutOfMemory|No space left", words, re.IGNORECASE):
        return NextStep(text=f"Free memory or disk space and run the {code} again: compiling needs some of its own.")
    if re.search(r"torch\.jit|ScriptModule|RecursiveScriptModule", words):
        return NextStep(text="Pass the model as written, not the TorchScript form: torch.compile does not trace that.")
    return NextStep(
        text=f"Run the {code} with {keyword(report, 'eager')} to go on without compiling. With the whole message one can ask PyTorch: see TORCH_LOGS.",
        code='TORCH_LOGS="+dynamo,+inductor"',
    )


def _sentence(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return lines[0] if lines else "no message"
