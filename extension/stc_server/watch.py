"""Polls the store while somebody listens, and tells every websocket which runs changed.

Several changes between two messages become one message, at most four a second; with no sockets nothing is polled.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from tornado.websocket import WebSocketClosedError

if TYPE_CHECKING:
    from .access import StoreAccess

POLL_S = 0.2
MESSAGE_INTERVAL_S = 0.25
RETRY_S = 2.0  # after a poll that failed: a store that cannot be read is not asked five times a second


class Socket(Protocol):
    def write_message(self, message: dict[str, Any]) -> Any: ...
    def close(self, code: int | None = None, reason: str | None = None) -> None: ...


class Watch:
    """The one poller of a server, and the sockets that listen to it."""

    def __init__(self, access: StoreAccess, version: str, log: logging.Logger) -> None:
        self._access = access
        self._version = version
        self._log = log
        self._sockets: set[Socket] = set()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def polling(self) -> bool:
        return self._task is not None and not self._task.done()

    def add(self, socket: Socket) -> None:
        """Greet a new listener, and begin to poll with the first."""
        if self._stopped:
            socket.close(1001, "The server is stopping.")
            return
        self._sockets.add(socket)
        self._send(socket, {"type": "hello", "version": self._version})
        if not self.polling:
            self._task = asyncio.get_running_loop().create_task(self._poll())

    def remove(self, socket: Socket) -> None:
        """Forget a listener, and stop polling with the last."""
        self._sockets.discard(socket)
        if not self._sockets and self._task is not None:
            self._task.cancel()
            self._task = None

    async def stop(self) -> None:
        """Close every socket and wait until the poller has ended."""
        self._stopped = True
        task, self._task = self._task, None
        for socket in list(self._sockets):
            socket.close(1001, "The server is stopping.")
        self._sockets.clear()
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _poll(self) -> None:
        token: int | None = None
        changed: set[str] = set()
        removed: set[str] = set()
        clock = asyncio.get_running_loop().time
        told_at = clock() - MESSAGE_INTERVAL_S
        failing = False
        while True:
            try:
                changes = await self._access.changes(token)
            except Exception as error:
                if not failing:
                    self._log.warning("The STC store cannot be watched: %s", error)
                failing = True
                await asyncio.sleep(RETRY_S)
                continue
            failing = False
            token = changes.token
            changed |= set(changes.changed)
            removed |= set(changes.removed)
            if (changed or removed) and clock() - told_at >= MESSAGE_INTERVAL_S:
                self._tell({"type": "changed", "runs": sorted(changed - removed), "removed": sorted(removed)})
                changed, removed, told_at = set(), set(), clock()
            await asyncio.sleep(POLL_S)

    def _tell(self, message: dict[str, Any]) -> None:
        for socket in list(self._sockets):
            self._send(socket, message)

    def _send(self, socket: Socket, message: dict[str, Any]) -> None:
        try:
            socket.write_message(message)
        except WebSocketClosedError:
            self._sockets.discard(socket)
