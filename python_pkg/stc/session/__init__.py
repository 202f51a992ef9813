"""One run from start to end; see `session.py`."""

from stc.options import Options
from stc.record.types import Origin

from .session import Session

__all__ = ["Options", "Origin", "Session"]
