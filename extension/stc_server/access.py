"""The store as the handlers use it: opened late, off the event loop, with finished reports kept.

One worker thread does all reading, so that a slow disk never holds up the server and SQLite sees one thread.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from stc.errors import StcUserError
from stc.record.types import SCHEMA_VERSION, RunSummary

if TYPE_CHECKING:
    from stc.record.store import Changes, Store

T = TypeVar("T")
KEPT_REPORTS = 32


class StoreAccess:
    """Everything the handlers ask of the store.

    Args:
        path: the store's folder; None for the user's own (``STC_HOME`` or the data directory).
        version: the extension's version, for the status.
    """

    def __init__(self, path: Path | None, version: str) -> None:
        self._path = path
        self._version = version
        self._store: Store | None = None
        self._reports: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stc-store")

    async def runs(self) -> list[RunSummary]:
        """Every run's line in the list, newest first."""
        return await self._do(self._runs)

    async def report(self, run_id: str) -> bytes:
        """One run's report as JSON; built again only when the run has new events."""
        return await self._do(self._report, run_id)

    async def rename(self, run_id: str, name: str) -> RunSummary:
        return await self._do(self._rename, run_id, name)

    async def delete(self, run_id: str) -> None:
        await self._do(self._delete, run_id)

    async def artefact(self, run_id: str, name: str) -> str:
        return await self._do(self._artefact, run_id, name)

    async def status(self) -> dict[str, Any]:
        """Version and health of the store; never raises for a store that cannot be read."""
        return await self._do(self._status)

    async def changes(self, token: Any) -> Changes:
        """What changed since a token; None as token: from now on."""
        return await self._do(self._changes, token)

    def close(self) -> None:
        """Finish what is being read and close the store."""
        self._worker.submit(self._close)
        self._worker.shutdown(wait=True)

    # ------------------------------------------------------------------ on the worker thread

    async def _do(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, function, *args)
