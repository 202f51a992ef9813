"""The store as the handlers use it: opened late, off the event loop, with finished reports kept.

One worker thread does all reading, so that a slow disk never holds up the server. A store that was moved or could not be
read is opened anew at the next request.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from stc.analyse import build, summarise
from stc.errors import StcUserError, StoreUnusable
from stc.record.database import FILE
from stc.record.paths import home
from stc.record.store import Changes, Store
from stc.record.types import SCHEMA_VERSION, Run, RunSummary

T = TypeVar("T")
KEPT_REPORTS = 32
LOST_CHECK_S = 2.0  # a process that died writes nothing more, so somebody has to look


class _Key(NamedTuple):
    """What a report depends on: as long as none of it changes, neither does the report."""

    last_event: int
    name: str
    status: str


class _Kept(NamedTuple):
    key: _Key
    line: RunSummary
    report: bytes | None  # dropped first: lines are small, and a list needs every one


class StoreAccess:
    """Everything the handlers ask of the store. Every method but `status` may raise `StoreUnusable`.

    Args:
        path: the store's folder; None for the user's own (``STC_HOME`` or the data directory).
        version: the extension's version, for the status.
    """

    def __init__(self, path: Path | None, version: str) -> None:
        self._path = path
        self._version = version
        self._store: Store | None = None
        self._inode: tuple[int, int] | None = None
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._live: set[str] = set()
        self._looked_at = 0.0
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="stc-store")

    async def runs(self) -> list[RunSummary]:
        """Every run's line in the list, newest first."""
        return await self._do(self._runs)

    async def report(self, run_id: str) -> bytes:
        """One run's report as JSON; built again only when the run has changed.

        Raises:
            RunNotFound
        """
        return await self._do(self._report, run_id)

    async def rename(self, run_id: str, name: str) -> RunSummary:
        """Give a run another name; its line in the list afterwards.

        Raises:
            RunNotFound
        """
        return await self._do(self._rename, run_id, name)

    async def delete(self, run_id: str) -> None:
        """Remove a run and its files.

        Raises:
            RunNotFound
        """
        await self._do(self._delete, run_id)

    async def artefact(self, run_id: str, name: str) -> str:
        """A text kept with a run.

        Raises:
            RunNotFound: no such run, or it has no such artefact.
        """
        return await self._do(lambda: self._opened().artefact(run_id, name))

    async def status(self) -> dict[str, Any]:
        """Version and health of the store; says why where it cannot be read."""
        return await self._do(self._status)

    async def changes(self, token: int | None) -> Changes:
        """What changed since a token; with None nothing, and a token to begin with."""
        return await self._do(self._changes, token)

    def close(self) -> None:
        """Finish what is being read and close the store."""
        self._worker.submit(self._close)
        self._worker.shutdown(wait=True)

    # ------------------------------------------------------------------ on the worker thread

    async def _do(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._guarded, function, *args)

    def _guarded(self, function: Callable[..., T], *args: Any) -> T:
        try:
            return function(*args)
        except StoreUnusable:
            self._close()
            raise

    def _opened(self) -> Store:
        if self._store is not None and self._inode != _inode(self._store.folder / FILE):
            self._close()  # the folder was removed or replaced under us
        if self._store is None:
            self._store = Store.open(self._path)
            self._inode = _inode(self._store.folder / FILE)
        return self._store

    def _close(self) -> None:
        store, self._store = self._store, None
        self._kept.clear()
        if store is not None:
            store.close()

    def _runs(self) -> list[RunSummary]:
        rows = self._opened().summaries()
        return [line or self._judged(run, with_report=False).line for run, line in rows]

    def _report(self, run_id: str) -> bytes:
        report = self._judged(self._opened().run(run_id), with_report=True).report
        assert report is not None
        return report

    def _judged(self, run: Run, *, with_report: bool) -> _Kept:
        """What is kept of a run, built again where the run has changed since."""
        store = self._opened()
        key = _Key(store.last_event(run.id), run.name, run.status)
        kept = self._kept.get(run.id)
        if kept is None or kept.key != key or (with_report and kept.report is None):
            report = build(store, run.id)
            kept = self._kept[run.id] = _Kept(key, summarise(report), msgspec.json.encode(report))
        self._kept.move_to_end(run.id)
        whole = [i for i, k in self._kept.items() if k.report is not None]
        for run_id in whole[:-KEPT_REPORTS]:
            self._kept[run_id] = self._kept[run_id]._replace(report=None)
        return kept

    def _rename(self, run_id: str, name: str) -> RunSummary:
        store = self._opened()
        store.rename(run_id, name)
        return self._judged(store.run(run_id), with_report=False).line

    def _delete(self, run_id: str) -> None:
        self._kept.pop(run_id, None)
        self._opened().delete(run_id)

    def _changes(self, token: int | None) -> Changes:
        store = self._opened()
        changes = store.changes_since(token)
        if time.monotonic() - self._looked_at < LOST_CHECK_S:
            return changes
        self._looked_at = time.monotonic()
        before, self._live = self._live, {run.id for run in store.runs() if run.status == "running"}
        ended = before - self._live - set(changes.changed) - set(changes.removed)
        return Changes(changes.token, [*changes.changed, *sorted(ended)], changes.removed)

    def _status(self) -> dict[str, Any]:
        folder = self._path or home()
        state: dict[str, Any] = {"path": str(folder), "mode": None, "ok": False, "reason": None}
        try:
            store = self._opened()
            store.changes_since(None)
        except StcUserError as error:
            self._close()
            state["reason"] = str(error)
        else:
            state.update(mode=store.mode, ok=True)
            if store.set_aside is not None:
                state["reason"] = f"The store was damaged; what was left of it is in {store.set_aside}."
        return {"version": self._version, "schema_version": SCHEMA_VERSION, "store": state}


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
