"""Being told when torch starts and stops compiling, and keeping the training going when a compiler fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any


@contextmanager
def around_compiles(before: Callable[[], None], after: Callable[[], None]) -> Iterator[None]:
    """Call ``before`` and ``after`` around each compile (tracing included) while the context lasts.

    Raises:
        AttributeError, ImportError: this torch has no such callbacks.
    """
    from torch._dynamo.callback import callback_handler

    def started(_: Any) -> None:
        before()

    def ended(_: Any) -> None:
        after()

    callback_handler.register_start_callback(started)
    callback_handler.register_end_callback(ended)
    try:
        yield
    finally:
        with suppress(ValueError):
            callback_handler.remove_start_callback(started)
        with suppress(ValueError):
            callback_handler.remove_end_callback(ended)


class _Quiet(logging.Filter):
    """Holds back what the compilers log at length and the report says in a sentence, unless the user has asked for logs."""

    NAMES = (
        "torch._dynamo",
        "torch._inductor",
        "torch._functorch",
        "torch._subclasses.fake_tensor",
        "torch.fx",
        "torch.__",
    )

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.CRITICAL or not record.name.startswith(self.NAMES) or _logs_wanted()


def _logs_wanted() -> bool:
    """Whether the user has set TORCH_LOGS, or called `torch._logging.set_logs`."""
    from torch._logging import _internal

    state = getattr(_internal, "log_state", None)
    return bool(getattr(state, "log_qname_to_level", None) or getattr(state, "artifact_names", None))


# What training must not depend on, by module: name and value while a run lasts.
_SETTINGS: dict[str, dict[str, Any]] = {
    "torch._dynamo.config": {
        # A frame that cannot be compiled runs eager. A user's own error inside a compiled region then surfaces as eager
        # raises it, since the frame is run again by Python.
        "suppress_errors": True,
        "error_on_recompile": False,
        "fail_on_recompile_limit_hit": False,
        "skip_nnmodule_hook_guards": False,  # else a hook that is added later is never called
        "use_numpy_random_stream": True,  # else numpy's random numbers are torch's, which are others
    },
}


@contextmanager
def soft_errors() -> Iterator[None]:
    """While it lasts, what compiled code cannot do runs eager instead of raising, and torch does not log it at length.

    Settings that the user changes meanwhile stay as they are.
    """
    quiet = _Quiet()
    # torch gives each of its parts a handler of its own.
    loggers = [logging.getLogger(), *(v for n, v in logging.root.manager.loggerDict.items() if n.startswith("torch"))]
    handlers = {h for v in loggers if isinstance(v, logging.Logger) and v.name != "torch.__trace" for h in v.handlers}
    with ExitStack() as undo:
        for module, wanted in _SETTINGS.items():
            config = import_module(module)
            for name, value in wanted.items():
                if hasattr(config, name):  # a torch that lacks it does not do it either
                    undo.callback(_put_back, config, name, value, getattr(config, name))
                    setattr(config, name, value)
        for handler in handlers:
            undo.callback(handler.removeFilter, quiet)
            handler.addFilter(quiet)
        yield


def _put_back(config: Any, name: str, ours: Any, before: Any) -> None:
    if getattr(config, name) == ours:
        setattr(config, name, before)
