"""One run around some code of the user's, whatever started it: the session, its progress, its summary and its report file.

The magic, `stc.compiling`, `stc.compile` and `stc run` all stand on this. A fault of ours is a notice; the code runs without it.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, final

from stc.errors import StcUserError
from stc.options import Options
from stc.record.types import Origin, Report

from .output import notice, show_summary, write_report
from .progress import Ticker, view_for
from .tracebacks import clean_exception

if TYPE_CHECKING:
    from stc.session import Session

log = logging.getLogger("stc")


@final
class Recording:
    """A run as a context manager. Inside another run it adds nothing: what it holds belongs to that one.

    Args:
        options: what the run is asked to do.
        origin: what started it.
        entered: frame and line of the user's `with` block, where there is one.

    Raises:
        StcUserError: on entering, before anything has been changed.
    """

    active: Recording | None = None
    _lock = threading.Lock()

    def __init__(self, options: Options, origin: Origin, *, entered: tuple[FrameType, int] | None = None) -> None:
        self.options = options
        self.origin = origin
        # What is run may change the folder.
        self._report_file = None if options.report is None else os.path.abspath(options.report)
        self._entered = entered
        self._session: Session | None = None
        self._outer: Recording | None = None
        self._ticker: Ticker | None = None

    @property
    def run_id(self) -> str | None:
        """The run's id; None where it could not be recorded."""
        if self._outer is not None:
            return self._outer.run_id
        return None if self._session is None else self._session.run_id

    @property
    def report(self) -> Report | None:
        """The whole report, once the run has ended."""
        if self._outer is not None:
            return self._outer.report
        return None if self._session is None else self._session.report

    def __enter__(self) -> Recording:
        with Recording._lock:
            self._outer = Recording.active
            if self._outer is None:
                Recording.active = self
        if self._outer is not None:
            end = " `stc.finish()` ends it." if self._outer.origin.kind == "function" else ""
            notice(
                f"a run is open already ({self._outer.run_id}); this code belongs to it, and the options here have no effect.{end}"
            )
            return self
        try:
            self._open()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._outer is not None:
            return
        try:
            self._close(kind, error, traceback)
        finally:
            self._release()
            if error is not None and self.origin.kind == "context":
                clean_exception(error)

    def _open(self) -> None:
        from stc.session import Session

        shell = running_shell()
        if not self.options.quiet:
            self._ticker = Ticker(lambda: view_for(shell))
        try:
            session = Session(self.options, self.origin, on_progress=self._ticker, entered=self._entered)
            session.__enter__()
        except StcUserError:
            raise
        except Exception as fault:
            log.debug("the session could not start", exc_info=True)
            notice(f"the run could not be recorded ({type(fault).__name__}: {fault}). The code runs without it.")
            return
        self._session = session

    def _close(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        session = self._session
        forked = session is not None and session.abandoned
        try:
            if session is not None:
                session.__exit__(kind, error, traceback)
        except Exception:
            log.debug("the session could not end", exc_info=True)
        finally:
            if not forked:
                self._hide_progress()
        if session is None or forked:  # the run is the parent's, and so is what it says
            return
        if session.report is not None:
            self._tell(session.report)
        else:
            notice(f"the report could not be finished; `stc show {session.run_id}` has what was recorded.")

    def _hide_progress(self) -> None:
        try:
            if self._ticker is not None:
                self._ticker.close()
        except Exception:
            log.debug("progress cannot be removed", exc_info=True)

    def _tell(self, report: Report) -> None:
        try:
            if not self.options.quiet:
                show_summary(report, running_shell())
            if self._report_file is not None:
                write_report(report, self._report_file)
        except Exception as fault:
            log.debug("the summary could not be shown", exc_info=True)
            notice(
                f"the summary could not be shown ({type(fault).__name__}: {fault}); `stc show {report.run.id}` has it."
            )

    def _release(self) -> None:
        with Recording._lock:
            if Recording.active is self:
                Recording.active = None


def running_shell() -> Any:
    """The IPython shell that this code runs in, or None. Does not import IPython."""
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()
