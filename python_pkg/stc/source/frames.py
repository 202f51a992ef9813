"""Reads a running frame's variables and leaves no trace of that in it.

Before Python 3.13 a function's frame keeps the dictionary that was made for a reader, and with it whatever the function lets
go of later, such as the models of a sweep.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

_OURS_ALONE = 3  # references to that dictionary: the frame's, our variable's, getrefcount's


def variables(frame: FrameType) -> Mapping[str, Any]:
    """The frame's local variables; not to be written to, nor to be kept."""
    held = frame.f_locals
    if sys.version_info >= (3, 13) or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return held
    found = dict(held)
    if sys.getrefcount(held) <= _OURS_ALONE:  # else the user has asked for it as well, with locals()
        code = frame.f_code
        for name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            held.pop(name, None)
    return found
