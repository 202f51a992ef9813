"""Writes one run's events from a background thread, so that a training step never waits for the disk.

Events queue in memory and go to the store in batches. Where the disk refuses, they wait, bounded in number; what had to be
dropped is counted and told. After a fork the child's copy does nothing.
"""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from stc.errors import StcUserError

from .codec import encode_event
from .database import Database, is_damage, unusable
from .events import ArtefactWritten, Event, GapSeen, RunEnded, RunProgress, StepsTaken
from .ids import is_artefact_name
from .rows import insert
from .types import Gap, Report, Run, RunSummary

log = logging.getLogger("stc")

BATCH_EVERY_S = 0.1
HEARTBEAT_EVERY_S = 2.0
RETRY_EVERY_S = 1.0
MOST_WAITING = 20_000  # events in memory while the disk refuses or cannot keep up
_SPARED = (StepsTaken, RunProgress)  # a report can do without one of these


class RunWriter:
    """The only writer of one run, for the store in ``folder``, where it has been begun. `write` costs a queue append.

    Args:
        feed: called on the writer's thread before each batch, ten times a second, to `write` what is only gathered there.
    """

    def __init__(self, folder: Path, run: Run, feed: Callable[[], None] | None = None) -> None:
        self._folder = folder
        self._run = run
        self._run_id = run.id
        self._feed = feed
        self._pid = os.getpid()
        self._queue: deque[Event | tuple[str, str]] = deque()
        self._lock = threading.Lock()  # held for moments only, never while the disk is waited for
        self._wake = threading.Event()
        self._done = threading.Event()
        self._closing = False
        self._last: tuple[Report, RunSummary] | None = None
        self._dropped = 0
        self._unreadable = 0  # in the batch that is being written
        self.problem: StcUserError | None = None
        self._thread = threading.Thread(target=self._drain, name=f"stc-writer-{run.id}", daemon=True)
        self._thread.start()
        _open_writers.add(self)

    def write(self, event: Event) -> None:
        """Take an event; returns at once."""
        if os.getpid() == self._pid:
            self._put(event)

    def artefact(self, name: str, text: str) -> None:
        """Keep a text of the run beside the store; returns at once.

        Raises:
            ValueError: a name that is not one plain path component.
        """
        if not is_artefact_name(name):
            raise ValueError(f"not an artefact name: {name!r}")
        if os.getpid() == self._pid:
            self._put((name, text))

    def close(self, report: Report | None = None, summary: RunSummary | None = None, timeout_s: float = 10.0) -> bool:
        """Write what is waiting and the finished report; False where that did not succeed in time."""
        if os.getpid() != self._pid:
            return False
        if report is not None and summary is not None:
            self._last = (report, summary)
        self._closing = True
        self._wake.set()
        _open_writers.discard(self)
        return self._done.wait(timeout_s) and self.problem is None

    def _put(self, item: Event | tuple[str, str]) -> None:
        with self._lock:
            if len(self._queue) >= MOST_WAITING and (isinstance(item, _SPARED) or not self._make_room()):
                self._dropped += 1
                return
            self._queue.append(item)

    def _make_room(self) -> bool:
        """Drop the oldest event that the report can do without."""
        for position, waiting in enumerate(self._queue):
            if isinstance(waiting, _SPARED):
                del self._queue[position]
                self._dropped += 1
                return True
        return False

    # ------------------------------------------------------------------ the writer's thread

    def _drain(self) -> None:
        database: Database | None = None
        last_beat, give_up_at = 0.0, None
        try:
            while True:
                closing = self._closing
                try:
                    if database is None or database.is_replaced():
                        database = self._opened(database)
                    if not closing:
                        self._ask()
                    self._write_waiting(database)
                    now = time.monotonic()
                    if now - last_beat >= HEARTBEAT_EVERY_S:
                        last_beat = now
                        self._beat(database)
                    if closing and not self._queue:
                        self._finish(database)
                        self.problem = None
                        return
                    self.problem = None
                    self._wake.wait(0.0 if closing else BATCH_EVERY_S)
                except (sqlite3.Error, OSError, StcUserError) as error:
                    self.problem = error if isinstance(error, StcUserError) else unusable(self._folder, error)
                    if closing:
                        give_up_at = give_up_at or time.monotonic() + 3.0
                        if time.monotonic() > give_up_at:
                            return
                    if database is not None:
                        self._mend(database, error)
                        database = None
                    time.sleep(0.2 if closing else RETRY_EVERY_S)
        except Exception:
            log.exception("STC's writer stopped")
        finally:
            if database is not None:
                database.close()
            self._done.set()

    def _ask(self) -> None:
        try:
            if self._feed is not None:
                self._feed()
        except Exception:
            log.debug("a run's feed failed", exc_info=True)

    def _opened(self, database: Database | None) -> Database:
        """The store as it is now. Where it is a new one, since the old was damaged or removed, the run begins in it again."""
        if database is None:
            database = Database(self._folder)
        else:
            database.reopen()
        with database.writing() as connection:
            removed = connection.execute("SELECT 1 FROM removed WHERE id = ?", (self._run_id,)).fetchone()
            if removed is None and self._row(connection) is None:
                insert(database, connection, self._run)
                self._put(GapSeen(gap=Gap(part="store", reason="The store was replaced while the run was written.")))
        return database

    def _mend(self, database: Database, error: Exception) -> None:
        """Close the store; where it is damaged, it is set aside first."""
        if isinstance(error, sqlite3.Error) and is_damage(error):
            with suppress(StcUserError):
                database.mend()
        database.close()

    def _write_waiting(self, database: Database) -> None:
        with self._lock:  # taken off the queue only once it is on disk
            batch, dropped = list(self._queue), self._dropped
        if not batch and not dropped:
            return
        if self._row(database.connection) is not None:  # else it was deleted meanwhile, and stays so
            now, self._unreadable = time.time(), 0
            rows = [(self._run_id, now, *encoded) for item in batch if (encoded := self._encoded(item)) is not None]
            rows += [(self._run_id, now, *encode_event(GapSeen(gap=gap))) for gap in self._gaps(dropped)]
            with database.writing() as connection:
                row = self._row(connection)
                if row is not None:
                    connection.executemany("INSERT INTO events(run_id, at, kind, payload) VALUES(?, ?, ?, ?)", rows)
                    connection.execute("UPDATE runs SET rev = ? WHERE id = ?", (database.next_revision(), self._run_id))
                    for end in (e for e in batch if isinstance(e, RunEnded)):
                        self._mark_ended(connection, row, end)
        with self._lock:
            self._dropped -= dropped
            for item in batch:
                if self._queue and self._queue[0] is item:
                    self._queue.popleft()

    def _row(self, connection: sqlite3.Connection) -> bytes | None:
        row = connection.execute("SELECT run FROM runs WHERE id = ?", (self._run_id,)).fetchone()
        return None if row is None else row[0]

    def _encoded(self, item: Event | tuple[str, str]) -> tuple[str, bytes] | None:
        try:
            return encode_event(self._write_artefact(*item) if isinstance(item, tuple) else item)
        except (TypeError, ValueError):  # half a surrogate pair in a text, for one; the others must not wait behind it
            log.debug("an event cannot be written", exc_info=True)
            self._unreadable += 1
            return None

    def _gaps(self, dropped: int) -> list[Gap]:
        told = (("The disk could not keep up.", dropped), ("It cannot be written as JSON.", self._unreadable))
        return [Gap(part="store", reason=reason, count=count) for reason, count in told if count]

    def _mark_ended(self, connection: sqlite3.Connection, data: bytes, end: RunEnded) -> None:
        """Known from now on, also if the finished report never comes."""
        run = msgspec.json.decode(data, type=Run)
        ended = replace(
            run, status=end.status, ended_at=end.ended_at, wall_s=end.wall_s, partial=end.partial,
            partial_reason=end.partial_reason, failure=end.failure,
        )  # fmt: skip
        connection.execute(
            "UPDATE runs SET status = ?, run = ? WHERE id = ?", (end.status, msgspec.json.encode(ended), self._run_id)
        )

    def _write_artefact(self, name: str, text: str) -> ArtefactWritten:
        folder = self._folder / "artefacts" / self._run_id
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        data = text.encode("utf-8", "replace")
        temporary = folder / f".{name}.tmp"
        temporary.write_bytes(data)
        temporary.replace(folder / name)
        return ArtefactWritten(name=name, size_bytes=len(data))

    def _beat(self, database: Database) -> None:
        with database.writing() as connection:
            connection.execute("UPDATE runs SET last_seen_at = ? WHERE id = ?", (time.time(), self._run_id))

    def _finish(self, database: Database) -> None:
        if self._last is None:
            return
        report, summary = self._last
        with database.writing() as connection:
            connection.execute(
                "UPDATE runs SET status = ?, last_seen_at = ?, run = ?, summary = ?, report = ?, rev = ? WHERE id = ?",
                (
                    report.run.status, time.time(), msgspec.json.encode(report.run), msgspec.json.encode(summary),
                    msgspec.json.encode(report), database.next_revision(), self._run_id,
                ),
            )  # fmt: skip


_open_writers: weakref.WeakSet[RunWriter] = weakref.WeakSet()


def _flush_at_exit() -> None:
    for writer in list(_open_writers):
        writer.close(timeout_s=5.0)


atexit.register(_flush_at_exit)
