"""Says what is being compiled while it is, with the time it has taken so far, and leaves nothing behind.

A background thread redraws, at most four times a second and only while something goes on; training is never waited for.
"""

from __future__ import annotations

import contextvars
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO

from stc.record.types import Progress

log = logging.getLogger("stc")

EVERY_S = 0.25
PATIENCE_S = 0.4  # what takes no longer is not worth a display


class View(Protocol):
    """One line that can be rewritten. Called from one thread at a time."""

    def show(self, text: str) -> None:
        """Draw the line; an empty text hides it."""

    def close(self) -> None:
        """Remove every trace of it."""


class Ticker:
    """Turns a session's progress into a line with a running clock.

    Args:
        make_view: called on the ticker's thread when there is something to show for the first time.
        clock: seconds, growing.
    """

    def __init__(self, make_view: Callable[[], View], clock: Callable[[], float] = time.monotonic) -> None:
        self._make_view = make_view
        self._clock = clock
        self._context = contextvars.copy_context()  # a kernel finds the cell that output belongs to in it
        self._changed = threading.Condition()
        self._progress: Progress | None = None
        self._since = 0.0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._view: View | None = None

    def __call__(self, progress: Progress | None) -> None:
        """Take the newest progress, from any thread; returns at once."""
        with self._changed:
            if self._closed or (progress is None and self._progress is None):
                return
            if self._progress is None:
                self._since = self._clock()
            self._progress = progress
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._context.run, args=(self._run,), name="stc-progress", daemon=True
                )
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Stop, and remove the line."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        try:
            self._draw_until_closed()
        except Exception:
            log.debug("progress cannot be shown", exc_info=True)
        finally:
            try:
                if self._view is not None:
                    self._view.close()
            except Exception:
                log.debug("progress cannot be removed", exc_info=True)

    def _draw_until_closed(self) -> None:
        shown = ""
        while True:
            with self._changed:
                if self._closed:
                    return
                progress, elapsed = self._progress, self._clock() - self._since
            text = "" if progress is None or elapsed < PATIENCE_S else f"{progress.message} · {elapsed:.0f} s"
            if text != shown:
                if self._view is None:
                    self._view = self._make_view()
                self._view.show(text)
                shown = text
            with self._changed:
                if not self._closed and progress is None and self._progress is None:
                    self._changed.wait()
                elif not self._closed:
                    self._changed.wait_for(lambda: self._closed, timeout=EVERY_S)


# --------------------------------------------------------------------------- views


class NoView:
    def show(self, text: str) -> None: ...

    def close(self) -> None: ...


class TerminalView:
    """One line of a terminal, written again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r" + text[:width] + "\x1b[K")
        self._stream.flush()

    def close(self) -> None:
        self.show("")


class DisplayView:
    """A text display of a notebook's cell, where there are no widgets."""

    def __init__(self) -> None:
        self._id = "stc-progress-" + os.urandom(8).hex()
        self._open = False

    def show(self, text: str) -> None:
        self._publish({"text/plain": text})

    def close(self) -> None:
        if self._open:
            self._publish({"text/plain": ""})  # an output without any form makes nbconvert warn

    def _publish(self, data: dict[str, Any]) -> None:
        from IPython.display import publish_display_data

        publish_display_data(data, transient={"display_id": self._id}, update=self._open)
        self._open = True


class WidgetView(DisplayView):
    """An ipywidgets label; a front end without widgets shows the text that it started with."""

    def __init__(self) -> None:
        import ipywidgets

        super().__init__()
        self._label = ipywidgets.Label(layout=ipywidgets.Layout(width="auto"))

    def show(self, text: str) -> None:
        self._label.value = text.replace("$", "\\$")  # a label typesets formulas
        self._label.layout.display = None if text else "none"
        if text and not self._open:
            view = {"version_major": 2, "version_minor": 0, "model_id": self._label.model_id}
            self._publish({"text/plain": text, "application/vnd.jupyter.widget-view+json": view})

    def close(self) -> None:
        parts = (self._label, self._label.layout, self._label.style)
        super().close()
        for part in parts:
            part.close()


def view_for(shell: Any) -> View:
    """The best view there is: a widget, a notebook's display, a terminal's line, or none.

    Args:
        shell: the running `InteractiveShell`, or None.
    """
    if getattr(shell, "kernel", None) is not None:
        if not has_front_end(shell):
            return DisplayView()
        try:
            return WidgetView()
        except Exception:
            log.debug("no widgets", exc_info=True)
            return DisplayView()
    stream = sys.stderr
    if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb":
        return TerminalView(stream)
    return NoView()


def has_front_end(shell: Any) -> bool:
    """Whether somebody looks at a notebook. One that is executed headless would keep the widgets' state in its metadata."""
    return bool(os.environ.get("JPY_SESSION_NAME")) or "__vsc_ipynb_file__" in shell.user_ns
