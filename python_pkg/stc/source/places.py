"""From a code object's file name to the place a person knows: cell and line, or a script's path.

Cells live in files named by a hash; whoever runs a cell registers that name here. Needs neither torch nor IPython.
"""

from __future__ import annotations

import linecache
import os
import sysconfig
import threading
from dataclasses import dataclass

from msgspec.structs import replace

from stc.record.types import Location, Source


@dataclass(frozen=True)
class Cell:
    """A cell that has been run in this kernel."""

    number: int | None  # execution count
    cell_id: str | None
    notebook: str | None
    text: str
    first_line: int = 1  # the notebook's line that is the code's line 1 (leading blank lines, a cell magic's body)

    @property
    def label(self) -> str:
        return "In[ ]" if self.number is None else f"In[{self.number}]"


_cells: dict[str, Cell] = {}
_labels: dict[str, str] = {}  # what a cell was called: its code file name
_lock = threading.Lock()
_LIBRARY_ROOTS = tuple(
    os.path.realpath(p) + os.sep
    for p in {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    if p
)
_OWN_ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep


def register_cell(filename: str, cell: Cell) -> None:
    """Say which cell a code file name stands for; the newest execution of the same text wins."""
    with _lock:
        _cells[filename] = cell
        _labels[cell.label] = filename


def cell_of(filename: str) -> Cell | None:
    return _cells.get(filename)


def is_user_code(filename: str) -> bool:
    """True for cells and for files that are neither the standard library, installed packages, nor ours."""
    if filename in _cells:
        return True
    if not filename or filename.startswith("<"):
        return False
    real = os.path.realpath(filename)
    return not real.startswith((*_LIBRARY_ROOTS, _OWN_ROOT)) and "site-packages" not in real


def locate(
    filename: str,
    line: int,
    *,
    column: int | None = None,
    end_line: int | None = None,
    end_column: int | None = None,
    function: str | None = None,
) -> Location:
    """The place of a line of a code file (line from 1, column from 0). Never shows a temporary file's name."""
    cell = _cells.get(filename)
    text = linecache.getline(filename, line).rstrip("\n") or None
    if cell is not None:
        lines = cell.text.splitlines()
        if 0 < line <= len(lines):
            text = lines[line - 1]
        above = cell.first_line - 1
        line, end_line = line + above, None if end_line is None else end_line + above
        return Location(
            file=cell.label, line=line, cell=cell.number, cell_id=cell.cell_id, notebook=cell.notebook,
            column=column, end_line=end_line, end_column=end_column, function=function, text=text,
        )  # fmt: skip
    if filename.startswith("<"):
        return Location(file=filename, line=line, column=column, function=function, text=text)
    path = os.path.abspath(filename)
    return Location(
        file=_shown(path), line=line, path=path, column=column,
        end_line=end_line, end_column=end_column, function=function, text=text,
    )  # fmt: skip


def as_now(location: Location) -> Location:
    """A place that was recorded earlier, under the number that its cell has since it was last run."""
    cell = _cells.get(_labels.get(location.file, ""))
    if cell is None or location.cell is None or cell.label == location.file:
        return location
    return replace(location, file=cell.label, cell=cell.number, cell_id=cell.cell_id, notebook=cell.notebook)


def source_of(filename: str) -> Source | None:
    """The whole text behind a code file name, as it is now; None where it cannot be read."""
    cell = _cells.get(filename)
    if cell is not None:
        return Source(
            file=cell.label, text=cell.text, first_line=cell.first_line,
            cell=cell.number, cell_id=cell.cell_id, notebook=cell.notebook,
        )  # fmt: skip
    lines = linecache.getlines(filename)
    if not lines:
        return None
    path = os.path.abspath(filename)
    return Source(file=_shown(path), text="".join(lines), path=path)


def source_at(location: Location) -> Source | None:
    """The whole text that a location is in, as it is now; None where it cannot be read."""
    if location.path is not None:
        return source_of(location.path)
    with _lock:
        names = [name for name, cell in _cells.items() if cell.label == location.file]
    return source_of(names[-1]) if names else None


def _shown(path: str) -> str:
    here = os.getcwd() + os.sep
    return path[len(here) :] if path.startswith(here) else path
