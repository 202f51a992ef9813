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
        self._level = 0

    def install(self) -> Callable[[], None]:
        """Begin to listen; returns what ends it.

        Raises:
            dynamo.Missing
        """
        self._logger = dynamo.trace_logger()
        self._level = self._logger.level
        self._logger.setLevel(logging.DEBUG)
        self._logger.addHandler(self)
        return self.uninstall

    def uninstall(self) -> None:
        if self._logger is not None:
            self._logger.removeHandler(self)
            self._logger.setLevel(self._level)
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
    frame, attempt = metadata.get("frame_id"), metadata.get("frame_compile_id")
    if frame is None:
        return None
    prefix = metadata.get("compiled_autograd_id")
    base = f"{frame}/{attempt}"
    return base if prefix is None else f"!{prefix}/{base}"


def as_json(payload: Any) -> Any:
    """The payload's JSON, whether it came as text or as an object; None where it is neither."""
    if isinstance(payload, (str, bytes)):
        try:
            return json.loads(payload)
        except ValueError:
            return None
    return payload
