"""The user's traceback, as a plain cell or script would show it: without our frames.

Frames of torch's compiler that were entered through ours go too: in eager mode they would not have been there.
"""

from __future__ import annotations

import os
from types import FrameType, TracebackType
from typing import Any

from stc.source.places import is_user_code

_OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_COMPILER = tuple(f"{os.sep}torch{os.sep}{part}{os.sep}" for part in ("_dynamo", "_inductor", "_functorch"))
# Behind these the compiler works, with all that it calls.
_COMPILING = tuple(
    os.path.join("torch", *path) for path in (("_dynamo", "convert_frame.py"), ("_inductor", "compile_fx.py"))
)


def is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OWN) or os.path.realpath(frame.f_code.co_filename).startswith(_OWN)


def clean(traceback: TracebackType | None) -> TracebackType | None:
    """The same traceback without our frames, the compiler's behind them, and what only a compiler calls."""
    kept: list[TracebackType] = []
    behind_ours = compiling = False
    for entry in entries_of(traceback):
        name = entry.tb_frame.f_code.co_filename
        if is_ours(entry.tb_frame):
            behind_ours = True
        elif behind_ours and any(part in name for part in _COMPILER):
            compiling = compiling or name.endswith(_COMPILING)
        elif not compiling or is_user_code(name):
            kept.append(entry)
    return chain(kept)


def entries_of(traceback: TracebackType | None) -> list[TracebackType]:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def chain(entries: list[TracebackType]) -> TracebackType | None:
    """A new traceback from entries of others."""
    result: TracebackType | None = None
    for entry in reversed(entries):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def clean_exception(error: BaseException) -> None:
    """Clean the traceback of an exception and of those that it came from, in place."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = clean(one.__traceback__)
        waiting += [one.__cause__, one.__context__]


class CellTracebacks:
    """Shows what a cell under the magic raised as if the cell were a plain one.

    IPython shows an exception after it left the magic, so this stands as IPython's custom exception handler from the start of
    the run to the end of the cell, and hands on to whatever handler there was before.

    Args:
        shell: the `InteractiveShell`.
        boundary: name of our function that runs the user's statements.
    """

    def __init__(self, shell: Any, boundary: str) -> None:
        self._shell = shell
        self._boundary = boundary
        self._before: tuple[Any, Any] | None = None
        self._handler: Any = None

    def arm(self) -> None:
        if self._before is None:
            self._before = (self._shell.custom_exceptions, self._shell.__dict__.get("CustomTB"))
            self._shell.set_custom_exc((BaseException,), self._show)
            self._handler = self._shell.CustomTB

    def disarm(self) -> None:
        if self._before is None:
            return
        (exceptions, handler), self._before = self._before, None
        if self._shell.CustomTB is not self._handler:
            return  # the user's code has set one of its own
        self._shell.custom_exceptions = exceptions
        if handler is None:
            del self._shell.CustomTB
        else:
            self._shell.CustomTB = handler

    def _show(
        self, shell: Any, kind: type[BaseException], error: BaseException, traceback: Any, tb_offset: Any = None
    ) -> None:
        clean_exception(error)
        entries = entries_of(traceback)
        start = next((i for i, e in enumerate(entries) if self._is_boundary(e.tb_frame)), None)
        # As a plain cell's: IPython's own first frame, then the user's.
        error.__traceback__ = clean(chain(entries if start is None else entries[:1] + entries[start + 1 :]))
        exceptions, handler = self._before or ((), None)
        if handler is not None and isinstance(error, exceptions):
            handler(kind, error, error.__traceback__)
            return
        # What does not compile has not run: a plain cell shows no stack for it.
        ran = start is not None or not any(is_ours(e.tb_frame) for e in entries)
        shell.showtraceback((kind, error, error.__traceback__), running_compiled_code=ran)

    def _is_boundary(self, frame: FrameType) -> bool:
        return is_ours(frame) and frame.f_code.co_name == self._boundary
