"""Where in Inductor's generated module each kernel's code is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from stc.record.types import CodeRef, Kernel

_DEFINITION = re.compile(r"^(?P<name>\w+) = \w+\.")
_CLOSED = ("'''", '"""')
_BODY = re.compile(r"^\s*(?:def call\(|def partition_\d+\(|async def call\()")


def with_code(kernels: Sequence[Kernel], text: str, artefact: str) -> list[Kernel]:
    """The kernels with the lines of their code: a generated one its definition, a call the line that makes it.

    Args:
        kernels: in the order in which they run. text: the module. artefact: the name it is kept under.
    """
    lines = text.splitlines()
    definitions = _definitions(lines)
    body = next((number for number, line in enumerate(lines) if _BODY.match(line)), 0)
    searched: dict[str, int] = {}
    found = []
    for kernel in kernels:
        span = definitions.get(kernel.name)
        if span is None:
            start = searched.get(kernel.name, body)
            line = next((n for n in range(start, len(lines)) if f"{kernel.name}(" in lines[n]), None)
            if line is not None:
                searched[kernel.name] = line + 1
                span = (line, line)
        code = None if span is None else CodeRef(artefact=artefact, first_line=span[0] + 1, last_line=span[1] + 1)
        found.append(replace(kernel, code=code))
    return found


def _definitions(lines: Sequence[str]) -> dict[str, tuple[int, int]]:
    """First and last line of each ``name = async_compile.…('''…''')``, from 0."""
    found: dict[str, tuple[int, int]] = {}
    open_name: str | None = None
    for number, line in enumerate(lines):
        if open_name is not None:
            if line.startswith(_CLOSED):
                found[open_name] = (found[open_name][0], number)
                open_name = None
            continue
        match = _DEFINITION.match(line)
        if match is not None and "(" in line:
            found.setdefault(match["name"], (number, number))
            quotes = line.count("'''") + line.count('"""')
            if quotes == 1 and found[match["name"]] == (number, number):
                open_name = match["name"]
    return found
