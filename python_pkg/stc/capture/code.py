"""Where in Inductor's generated module each kernel's code is."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from stc.record.types import CodeRef, Kernel


def with_code(kernels: Sequence[Kernel], text: str, artefact: str) -> list[Kernel]:
    """The kernels with the lines of their code; a generated one its definition, a library call the line that calls it."""
    lines = text.splitlines()
    calls_from = next(
        (i for i, line in enumerate(lines) if line.lstrip().startswith(("def call(", "def partition_"))), 0
    )
    searched: dict[str, int] = {}
    found = []
    for kernel in kernels:
        span = None
        if kernel.kind in ("cpp", "triton"):
            span = _definition(lines, kernel.name)
        else:
            line = _call(lines, kernel.name, searched.get(kernel.name, calls_from))
            if line is not None:
                searched[kernel.name] = line + 1
                span = (line, line)
        code = None if span is None else CodeRef(artefact=artefact, first_line=span[0] + 1, last_line=span[1] + 1)
        found.append(replace(kernel, code=code))
    return found


def _definition(lines: list[str], name: str) -> tuple[int, int] | None:
    """From ``name = async_compile.…('''`` to the line that closes it."""
    for start, line in enumerate(lines):
        if not line.startswith(f"{name} = "):
            continue
        for end in range(start + 1, len(lines)):
            if lines[end].startswith(("'''", '"""')):
                return start, end
        return start, start
    return None


def _call(lines: list[str], name: str, start: int) -> int | None:
    for position in range(start, len(lines)):
        if f"{name}(" in lines[position]:
            return position
    return None
