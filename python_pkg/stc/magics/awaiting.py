"""Cells that await at their top level: only the kernel itself can run those, so it does, with a run opened by their first line.

The magic's line is replaced before the cell is compiled; every other line stays where it is.
"""

from __future__ import annotations

import ast
import linecache
import sys
from typing import TYPE_CHECKING, Any

from .arguments import parse_line
from .execute import awaits
from .recording import Recording

if TYPE_CHECKING:
    from .shell import Loaded

_MAGIC = "%%stc_compile"


class AwaitingCells:
    """Rewrites such cells of one shell, and ends their runs when they have ended.

    Args:
        shell: the `InteractiveShell`.
        loaded: the extension in it.
    """

    def __init__(self, shell: Any, loaded: Loaded) -> None:
        self._shell = shell
        self._loaded = loaded
        self._recording: Recording | None = None

    def install(self) -> None:
        self._shell.input_transformers_cleanup.append(self._rewrite)
        self._shell.events.register("post_run_cell", self._ended)

    def uninstall(self) -> None:
        if self._rewrite in self._shell.input_transformers_cleanup:
            self._shell.input_transformers_cleanup.remove(self._rewrite)
        self._shell.events.unregister("post_run_cell", self._ended)

    def open(self, options: str) -> None:
        """Called by the first line of a rewritten cell."""
        from .shell import origin

        hide_opener(sys._getframe(2).f_code.co_filename)
        self._loaded.tracebacks_until_the_cell_ends()
        recording = Recording(parse_line(options), origin(self._loaded.recorder.current))
        recording.__enter__()
        self._recording = recording

    def _rewrite(self, lines: list[str]) -> list[str]:
        """An input transformer: has no effect but on what it returns."""
        head, _, options = lines[0].rstrip("\n").partition(" ") if lines else ("", "", "")
        if head != _MAGIC:
            return lines
        if len(lines) == 1:
            return [*lines, "\n"]  # IPython refuses a cell magic whose body is empty; a plain cell may be
        body = "".join(lines[1:])
        if "await" not in body and "async" not in body:
            return lines
        if not self._shell.autoawait or body.lstrip().startswith("%%") or not self._awaits(body):
            return lines
        opener = f"__import__('stc.magics.awaiting', fromlist=['x']).open_run({options!r})\n"
        return [opener, *lines[1:]]

    def _awaits(self, body: str) -> bool:
        try:
            tree = ast.parse(self._shell.input_transformer_manager.transform_cell(body))
        except (SyntaxError, ValueError):
            return False
        return awaits(tree, "<cell>", self._shell.compile.flags)

    def _ended(self, result: Any) -> None:
        if self._recording is None or self._loaded.recorder.current is not None:
            return
        recording, self._recording = self._recording, None
        error = getattr(result, "error_in_exec", None)
        recording.__exit__(None if error is None else type(error), error, getattr(error, "__traceback__", None))


def hide_opener(filename: str) -> None:
    """Let tracebacks quote an empty line where our call stands, as for any cell under the magic."""
    entry = linecache.cache.get(filename)
    if entry is not None and len(entry) == 4:
        size, modified, lines, name = entry
        linecache.cache[filename] = (size, modified, ["\n", *lines[1:]], name)


def open_run(options: str) -> None:
    """Open a run for the rest of the running cell."""
    from IPython import get_ipython

    from .shell import _loaded

    _loaded[id(get_ipython())].awaiting.open(options)
