"""Which cell is running, and which code file name stands for which cell: kept for the whole life of the kernel.

A kernel compiles a cell under a name made from its text; a compiler's records know only that name.
"""

from __future__ import annotations

import linecache
import logging
import os
from dataclasses import dataclass
from typing import Any

from stc.source.places import Cell, register_cell

log = logging.getLogger("stc")

# IPython's own magics run their body under a fixed name, with lines counted from the body's first.
_BODY_NAMES = {
    "%%time": ("<timed exec>", "<timed eval>"),
    "%%timeit": ("<magic-timeit>",),
}


@dataclass(frozen=True)
class Running:
    """A cell that is running now."""

    raw: str
    number: int
    cell_id: str | None
    notebook: str | None
    first_line: int = 1  # the notebook's line that is the first of `raw`

    def cell(self, text: str, first_line: int) -> Cell:
        return Cell(self.number, self.cell_id, self.notebook, text, first_line)


class CellRecorder:
    """Registers each cell of one shell as it starts, and those that ran before.

    Args:
        shell: the `InteractiveShell`.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._running: list[Running] = []

    @property
    def current(self) -> Running | None:
        """The innermost cell that is running."""
        return self._running[-1] if self._running else None

    def install(self) -> None:
        self._shell.events.register("pre_run_cell", self._before)
        self._shell.events.register("post_run_cell", self._after)
        try:
            self._register_earlier()
        except Exception:
            log.debug("cells run before the extension was loaded stay unknown", exc_info=True)

    def uninstall(self) -> None:
        for event, callback in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            try:
                self._shell.events.unregister(event, callback)
            except ValueError:
                log.debug("%s was not registered any more", event)

    def _before(self, info: Any) -> None:
        try:
            running = self._start(info)
        except Exception:
            log.debug("a cell could not be registered", exc_info=True)
            running = Running(str(info.raw_cell), self._shell.execution_count, None, None)
        self._running.append(running)

    def _after(self, _result: Any) -> None:
        if self._running:  # the cell that loaded the extension started before us
            self._running.pop()

    def _start(self, info: Any) -> Running:
        raw = info.raw_cell
        if info.store_history:
            self._running.clear()  # a cell of the user's: whatever was running has ended
        outer = self.current
        if outer is None:
            number = self._shell.execution_count - (1 if info.store_history else 0)
            running = Running(raw, number, getattr(info, "cell_id", None), notebook(self._shell))
        else:  # a magic such as %%capture runs a part of its cell as a cell
            above = line_of(raw, outer.raw) or 0
            running = Running(raw, outer.number, outer.cell_id, outer.notebook, outer.first_line + above)
        transformed = getattr(info, "transformed_cell", None) or self._transformed(raw)
        # A terminal's shell puts into the name the count that it has by now.
        count = running.number if outer is None else self._shell.execution_count
        name = self._shell.compile.get_code_name(raw, transformed, count)
        blank = blank_lines(raw)
        text = "".join(raw.splitlines(keepends=True)[blank:])
        register_cell(name, running.cell(text, running.first_line + blank))
        self._register_bodies(running)
        return running

    def _transformed(self, raw: str) -> str:
        try:
            return str(self._shell.transform_cell(raw))
        except Exception:
            return raw

    def _register_bodies(self, running: Running) -> None:
        lines = running.raw.splitlines(keepends=True)
        for index, line in enumerate(lines):
            if not line.lstrip().startswith("%%"):
                if not line.isspace():
                    return
                continue
            body = lines[index + 1 :]
            blank = blank_lines("".join(body))
            for name in _BODY_NAMES.get(line.split()[0], ()):
                register_cell(name, running.cell("".join(body[blank:]), running.first_line + index + 1 + blank))

    def _register_earlier(self) -> None:
        """Cells that ran before this extension was loaded."""
        history = self._shell.history_manager
        inputs = list(history.input_hist_raw) if history is not None else []
        for name, number in dict(self._shell.compile._filename_map).items():
            entry = linecache.cache.get(name)
            if entry is None or len(entry) < 3:
                continue
            compiled = "".join(entry[2])
            text, blank = compiled, 0
            if isinstance(number, int) and 0 < number < len(inputs):
                raw = inputs[number]
                start = blank_lines(raw)
                stripped = "".join(raw.splitlines(keepends=True)[start:])
                if len(stripped.splitlines()) == len(compiled.splitlines()):
                    text, blank = stripped, start
            register_cell(name, Cell(number, None, notebook(self._shell), text, 1 + blank))


def notebook(shell: Any) -> str | None:
    """The notebook's path, where the front end told it."""
    told = shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME")
    return told if isinstance(told, str) and told.endswith(".ipynb") else None


def blank_lines(text: str) -> int:
    """How many blank lines a cell starts with; IPython drops them before it compiles."""
    lines = text.splitlines()
    return next((i for i, line in enumerate(lines) if line and not line.isspace()), len(lines))


def line_of(part: str, whole: str) -> int | None:
    """How many lines of a cell stand above a part of it; None where the part is not in it as it was written."""
    wanted = part.rstrip()
    start = whole.rfind(wanted) if wanted else -1
    while start > 0 and whole[start - 1] != "\n":  # the part starts a line
        start = whole.rfind(wanted, 0, start)
    return None if start < 0 else whole.count("\n", 0, start)


_recorders: dict[int, CellRecorder] = {}


def recorder_of(shell: Any) -> CellRecorder:
    """The shell's recorder; installed the first time."""
    recorder = _recorders.get(id(shell))
    if recorder is None:
        recorder = _recorders[id(shell)] = CellRecorder(shell)
        recorder.install()
    return recorder


def forget(shell: Any) -> None:
    """Undo `recorder_of`."""
    recorder = _recorders.pop(id(shell), None)
    if recorder is not None:
        recorder.uninstall()
