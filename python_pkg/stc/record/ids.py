"""Run ids: short, sortable by time, and safe as a file name and in an address."""

from __future__ import annotations

import re
import secrets
import time

_PATTERN = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_ARTEFACT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")


def new_run_id(at: float | None = None) -> str:
    """An id such as ``20261201-083012-ab12cd``: UTC start time and six random hex digits."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(at)) + "-" + secrets.token_hex(3)


def is_run_id(text: str) -> bool:
    return _PATTERN.fullmatch(text) is not None


def is_artefact_name(text: str) -> bool:
    """One path component without anything that could lead elsewhere."""
    return _ARTEFACT.fullmatch(text) is not None and ".." not in text
