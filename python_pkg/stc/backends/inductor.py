"""TorchInductor, seen through capture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stc.capture import Listener

_DYNAMIC = {"auto": None, "on": True, "off": False}


class Inductor:
    """``torch.compile`` with its default options; ``dynamic`` is "auto", "on" or "off"."""

    name = "inductor"

    def __init__(self, listener: Listener, dynamic: str) -> None:
        self._listener = listener
        self._dynamic = _DYNAMIC[dynamic]

    def compile_module(self, module: Any) -> Callable[..., Any]:
        return self._listener.wrap_module(module, dynamic=self._dynamic)

    def compile_step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        return self._listener.wrap_optimizer_step(step)
