"""The two families of error.

What the user did wrong is a `StcUserError`: one sentence and what to do about it, shown without a traceback.
What we did wrong is logged whole and never stops the training.
"""

from __future__ import annotations


class StcUserError(Exception):
    """Something the user can mend.

    Args:
        message: one sentence that says what is wrong.
        remedy: what to do about it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}"

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return [str(self)]


class UnknownOption(StcUserError):
    """An option or a value of one that does not exist."""


class TargetUnavailable(StcUserError):
    """A target that this machine does not have."""


class RunNotFound(StcUserError):
    """A run id or name that matches no run, or several."""


class StoreUnusable(StcUserError):
    """The store cannot be read or written: permissions, corruption, a full disk."""


class CellRefused(StcUserError):
    """A cell that cannot be run under the magic, such as one with a syntax error or top-level await."""
