"""Being told when torch starts and stops compiling, and keeping the training going when a compiler fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    """Holds back what the compilers log at length and the report says in a sentence."""

    NAMES = (
        "torch._dynamo",
        "torch._inductor",
        "torch._functorch",
        "torch._subclasses.fake_tensor",
        "torch.fx",
        "torch.__",
    )

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.CRITICAL or not record.name.startswith(self.NAMES)


@contextmanager
def soft_errors() -> Iterator[None]:
    """While it lasts, a frame that cannot be compiled runs eager instead of raising, and torch does not log it at length.

    A user's own error inside a compiled region then surfaces as eager raises it, since the frame is run again by Python.
    """
    from torch._dynamo import config

    quiet = _Quiet()
    # torch gives each of its parts a handler of its own.
    loggers = [logging.getLogger(), *(v for n, v in logging.root.manager.loggerDict.items() if n.startswith("torch"))]
    handlers = {h for v in loggers if isinstance(v, logging.Logger) and v.name != "torch.__trace" for h in v.handlers}
    before = config.suppress_errors
    config.suppress_errors = True
    for handler in handlers:
        handler.addFilter(quiet)
    try:
        yield
    finally:
        config.suppress_errors = before
        for handler in handlers:
            handler.removeFilter(quiet)
