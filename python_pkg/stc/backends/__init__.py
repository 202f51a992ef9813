"""A backend turns a model or an optimizer's step into a faster callable with the same meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Backend(Protocol):
    """What every compiler must offer a run."""

    name: str

    def compile_module(self, module: Any) -> Callable[..., Any]:
        """A callable to stand in for ``module(...)``; compiles at its first call."""

    def compile_step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        """A callable to stand in for an optimizer's bound ``step``."""
