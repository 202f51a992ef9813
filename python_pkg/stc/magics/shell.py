"""The magics themselves: `%%stc_compile`, `%stc_show`, `%stc_runs`, and how they come into a shell and leave it."""

from __future__ import annotations

import os
import shlex
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from stc.errors import StcUserError
from stc.record.types import Origin

from . import cells
from .arguments import options_help, parse_line
from .awaiting import AwaitingCells
from .completion import make_matcher
from .execute import BOUNDARY, Body
from .recording import Recording
from .tracebacks import CellTracebacks

_NAMES = {"cell": ("stc_compile",), "line": ("stc_show", "stc_runs")}


@magics_class
class StcMagics(Magics):
    """The magics of STC."""

    @cell_magic
    def stc_compile(self, line: str, cell: str) -> None:
        loaded = _loaded[id(self.shell)]
        loaded.tracebacks_until_the_cell_ends()
        options = parse_line(line)
        running = loaded.recorder.current
        body = Body(self.shell, cell, running)
        with Recording(options, origin(running)):
            body.run()

    stc_compile.__doc__ = (
        "Train the cell compiled, and show what that gained and what stood in its way.\n\n"
        + options_help("%%stc_compile")
        + "\nThe same without a magic: `with stc.compiling(plan='inductor'): ...`."
    )

    @line_magic
    def stc_show(self, line: str) -> Any:
        """Look into a recorded run: its graphs, kernels and findings.

        %stc_show [RUN]

        RUN is an id, the beginning of one, or a name; without it the newest run is shown.
        """
        from .api import show

        words = _words(line)
        if len(words) > 1:
            raise StcUserError("%stc_show takes one run.", "Put a name with blanks into quotation marks.")
        return show(words[0] if words else None)

    @line_magic
    def stc_runs(self, line: str) -> None:
        """List the recorded runs, newest first."""
        from stc.render import text

        from .api import runs
        from .output import say

        if line.strip():
            raise StcUserError("%stc_runs takes no argument.", "`stc runs --help` in a terminal has more.")
        import sys

        say(text.runs_table(runs()), stream=sys.stdout)


class Loaded:
    """Everything that loading the extension has put into a shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.recorder = cells.recorder_of(shell)
        self.tracebacks = CellTracebacks(shell, BOUNDARY)
        self.awaiting = AwaitingCells(shell, self)
        self._matcher = make_matcher()
        shell.register_magics(StcMagics)
        shell.Completer.custom_matchers.append(self._matcher)
        shell.events.register("post_run_cell", self._cell_ended)
        self.awaiting.install()

    def tracebacks_until_the_cell_ends(self) -> None:
        if self.recorder.current is not None:
            self.tracebacks.arm()

    def _cell_ended(self, _result: Any) -> None:
        if self.recorder.current is None:
            self.tracebacks.disarm()

    def undo(self) -> None:
        self.tracebacks.disarm()
        self.awaiting.uninstall()
        self._shell.events.unregister("post_run_cell", self._cell_ended)
        if self._matcher in self._shell.Completer.custom_matchers:
            self._shell.Completer.custom_matchers.remove(self._matcher)
        manager = self._shell.magics_manager
        for kind, names in _NAMES.items():
            for name in names:
                manager.magics[kind].pop(name, None)
        manager.registry.pop(StcMagics.__name__, None)
        cells.forget(self._shell)


_loaded: dict[int, Loaded] = {}


def load(shell: Any) -> None:
    if id(shell) not in _loaded:
        _loaded[id(shell)] = Loaded(shell)


def unload(shell: Any) -> None:
    loaded = _loaded.pop(id(shell), None)
    if loaded is not None:
        loaded.undo()


def origin(running: cells.Running | None) -> Origin:
    if running is None:
        return Origin(kind="magic", pid=os.getpid())
    return Origin(
        kind="magic", notebook=running.notebook, cell=running.number, cell_id=running.cell_id, pid=os.getpid()
    )


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        raise StcUserError("The line has a quotation mark that is not closed.", "Close it, or leave it out.") from None
