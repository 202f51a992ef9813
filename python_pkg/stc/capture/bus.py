"""torch's structured trace, read as objects and handed to whoever wants a kind of event.

Nothing here ever raises into torch: an exception in a logging handler would break the user's compile.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .torch_compat import dynamo

TEST = "stc_self_test"


@dataclass(frozen=True)
class TraceEvent:
    """One event: its name (an artefact's own name for artefacts), metadata, payload and compile id."""

    name: str
    metadata: Any
    payload: Any
    compile_id: str | None


class TraceBus(logging.Handler):
    """The handler. ``routes`` maps event names to receivers.

    Args:
        on_fault: told when a receiver fails or an event cannot be read; must not raise.
    """

    def __init__(
        self, routes: dict[str, Callable[[TraceEvent], None]], on_fault: Callable[[str, BaseException], None]
    ) -> None:
        super().__init__(level=logging.DEBUG)
        self._routes = routes
        self._on_fault = on_fault
        self._logger: logging.Logger | None = None
        self._before = (0, True)
        self._handlers: list[logging.Handler] = []
        self._tested = False

    def install(self) -> Callable[[], None]:
        """Begin to listen; returns what ends it. A trace that the user asked for goes on being written.

        Raises:
            dynamo.Missing
        """
        logger = dynamo.trace_logger()
        self._logger, self._handlers = logger, list(logger.handlers)
        self._before = logger.level, logger.propagate
        logger.setLevel(logging.DEBUG)
        logger.propagate = False  # else the user's own logging would print every event as an empty line
        logger.handlers[:] = [self]  # what tests us is not for the user's own trace
        dynamo.send_trace(TEST)
        logger.handlers[:] = [*self._handlers, self]
        if not self._tested:
            self.uninstall()
            raise dynamo.Missing("torch's structured trace does not reach its logger")
        return self.uninstall

    def uninstall(self) -> None:
        """Leave the logger as it was. torch's own handler takes itself out at the first event: it goes back in."""
        if self._logger is None:
            return
        kept = [h for h in self._logger.handlers if h is not self and h not in self._handlers]
        self._logger.handlers[:] = [*self._handlers, *kept]
        level, self._logger.propagate = self._before
        self._logger.setLevel(level)
        self._logger = None

    def emit(self, record: logging.LogRecord) -> None:
        name = "trace"
        try:
            metadata = getattr(record, "metadata", None)
            if not metadata:
                return
            name = next(iter(metadata))
            if name == "artifact":
                name = str(metadata["artifact"].get("name"))
            self._tested = self._tested or name == TEST
            receive = self._routes.get(name)
            if receive is None:
                return
            payload = getattr(record, "payload", None)
            receive(TraceEvent(name, metadata.get(name, metadata.get("artifact")), payload, _compile_id(metadata)))
        except Exception as error:
            self._on_fault(name, error)

    def handleError(self, record: logging.LogRecord) -> None:
        """Never print: the report says it."""


def _compile_id(metadata: dict[str, Any]) -> str | None:
    """torch's own spelling of a compile id: "0/1", or "!2/0/1" within compiled autograd."""
    frame, attempt = metadata.get("frame_id"), metadata.get("frame_compile_id")
    prefix = metadata.get("compiled_autograd_id")
    base = None if frame is None else f"{frame}/{attempt}"
    if prefix is None:
        return base
    return f"!{prefix}" if base is None else f"!{prefix}/{base}"


def as_json(payload: Any) -> Any:
    """The payload's JSON, whether it came as text or as an object; None where it is neither."""
    if isinstance(payload, (str, bytes)):
        try:
            return json.loads(payload)
        except ValueError:
            return None
    return payload
