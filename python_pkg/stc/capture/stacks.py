"""Places out of torch's stack traces: text in the format of Python's tracebacks, carets included.

The user's own line is wanted; where a trace never touches it (a model from a library), the library's line is the next best.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass
from functools import lru_cache

from stc.record.types import Location
from stc.source.places import cell_of, is_user_code, locate

_FRAME = re.compile(r'^\s*File "(?P<file>.+?)", line (?P<line>\d+)(?:, in (?P<name>.+?))?\s*$')
RESUMED = re.compile(r"^torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)$")
_TORCH = re.compile(r"[/\\](torch|torch_xla|triton)[/\\]")
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")


@dataclass(frozen=True)
class Frame:
    """One frame of a trace. Columns are from 0 in the source line; None where there are no carets."""

    file: str
    line: int
    name: str | None = None
    column: int | None = None
    end_column: int | None = None

    def location(self) -> Location:
        return locate(
            self.file, self.line, column=self.column, end_line=self.line if self.end_column is not None else None,
            end_column=self.end_column, function=function_of(self.name),
        )  # fmt: skip


def function_of(name: str | None) -> str | None:
    """The user's function that a frame's name stands for: Dynamo gives its rest after a graph break another one."""
    return None if name in (None, "<module>") else RESUMED.sub(r"\g<name>", str(name))


def frames(trace: str) -> list[Frame]:
    """The frames of a trace, outermost first."""
    found: list[Frame] = []
    lines = trace.splitlines()
    for position, line in enumerate(lines):
        match = _FRAME.match(line)
        if match is None:
            continue
        file, number = match["file"], int(match["line"])
        column, end = _columns(file, number, lines[position + 1 : position + 3])
        found.append(Frame(file, number, match["name"], column, end))
    return found


def user_frames(trace: str) -> list[Frame]:
    """Those of the user's own code, outermost first."""
    return [f for f in frames(trace) if is_users(f.file)]


def innermost(trace: str | None) -> Location | None:
    """The place that a trace leads to: in the user's code, else in an installed library; None where it is all torch's."""
    if not trace:
        return None
    found = frames(trace)
    for wanted in (is_users, is_library):
        for frame in reversed(found):
            if wanted(frame.file):
                return frame.location()
    return None


def is_users(file: str) -> bool:
    """`is_user_code`, remembered: a large graph asks for the same few files some ten thousand times."""
    return cell_of(file) is not None or _is_user_file(file)


def is_library(file: str) -> bool:
    """An installed package other than torch."""
    return bool(_INSTALLED.search(file)) and not _TORCH.search(file)


def is_optimizers(file: str) -> bool:
    """torch's own optimizers."""
    return "/torch/optim/" in file.replace("\\", "/")


@lru_cache(maxsize=4096)
def _is_user_file(file: str) -> bool:
    return is_user_code(file)


def _columns(file: str, number: int, after: list[str]) -> tuple[int | None, int | None]:
    """From the line of carets under the source line. Python strips the source's indentation in traces."""
    if len(after) < 2 or not after[1].strip() or set(after[1].strip()) - set("^~"):
        return None, None
    shown, carets = after
    start = len(carets) - len(carets.lstrip()) - (len(shown) - len(shown.lstrip()))
    length = len(carets.strip())
    source = linecache.getline(file, number)
    indent = len(source) - len(source.lstrip())
    return start + indent, start + indent + length
