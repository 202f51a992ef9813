"""The one meeting point of kernels, scripts, server and panel: runs and their events in SQLite, large texts in files beside it.

Many processes write, any reads. A run whose process has died is shown as lost, with what it had recorded.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import replace as replace_limit
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from stc.errors import RunNotFound, StoreUnusable

from .codec import decode_event, version_of
from .database import FILE, Database, is_damage, unusable
from .events import Event
from .fold import fold
from .ids import is_artefact_name, is_run_id
from .paths import home
from .retention import Retention
from .rows import insert, is_lost, readable
from .types import SCHEMA_VERSION, Report, Run, RunSummary
from .writer import RunWriter

T = TypeVar("T")
log = logging.getLogger("stc")

_LOST_REASON = "Its process ended without finishing; what had been recorded until then is kept."


@dataclass(frozen=True)
class Changes:
    """What changed since a token; give ``token`` back next time."""

    token: int
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


class Store:
    """Safe to use from several threads; every call may raise `StoreUnusable`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._database = Database(folder)

    @classmethod
    def open(cls, path: Path | str | None = None) -> Store:
        """Open the store in ``path``, or in ``STC_HOME`` or the user's data directory; made where it is missing.

        Raises:
            StoreUnusable: it cannot be opened. A damaged file is set aside and a new one begun instead.
        """
        return cls(Path(path).expanduser() if path is not None else home())

    @property
    def mode(self) -> str:
        """ "wal"; "delete" on a network file system, where that is the safe one; "read-only" where it cannot be written."""
        return self._database.mode

    @property
    def file_system(self) -> str | None:
        return self._database.file_system

    @property
    def set_aside(self) -> Path | None:
        """The damaged file that this store has put aside, if there was one."""
        return self._database.set_aside

    def close(self) -> None:
        with self._lock:
            self._database.close()

    # ------------------------------------------------------------------ writing

    def begin(self, run: Run, feed: Callable[[], None] | None = None) -> RunWriter:
        """Open a run's record and return its writer; ``feed`` as there. Old runs beyond the retention setting go."""
        if not is_run_id(run.id):
            raise ValueError(f"not a run id: {run.id!r}")

        def begin(database: Database) -> None:
            with database.writing() as connection:
                insert(database, connection, run)

        self._do(begin)
        with suppress(StoreUnusable, OSError):  # keeping too much is no reason not to record
            self.prune(Retention.from_environment())
        return RunWriter(self.folder, run, feed)

    def rename(self, run_id: str, name: str) -> None:
        """Give a run another name (1 to 200 characters).

        Raises:
            RunNotFound, ValueError
        """
        name = name.strip()
        if not 0 < len(name) <= 200:
            raise ValueError("a name has 1 to 200 characters")

        def update(database: Database) -> int:
            with database.writing() as connection:
                return connection.execute(
                    "UPDATE runs SET name = ?, rev = ? WHERE id = ?", (name, database.next_revision(), run_id)
                ).rowcount

        if not self._do(update):
            raise _not_found(run_id)

    def delete(self, run_id: str) -> None:
        """Remove a run with its events and files; nothing that the store did not write.

        Raises:
            RunNotFound
        """
        if not is_run_id(run_id):
            raise _not_found(run_id)

        def remove(database: Database) -> int:
            with database.writing() as connection:
                count = connection.execute("DELETE FROM runs WHERE id = ?", (run_id,)).rowcount
                if count:
                    connection.execute("DELETE FROM events WHERE run_id = ?", (run_id,))
                    connection.execute(
                        "INSERT OR REPLACE INTO removed VALUES(?, ?)", (run_id, database.next_revision())
                    )
                return count

        if not self._do(remove):
            raise _not_found(run_id)
        folder = self.folder / "artefacts" / run_id
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)

    def prune(self, retention: Retention) -> list[str]:
        """Remove the oldest ended runs beyond the setting; returns their ids."""
        if retention.bytes and self.size() <= retention.bytes:
            retention = replace_limit(
                retention, bytes=0
            )  # sizes run by run are only worth reading when there is too much
        ended = [r for r in self.runs() if r.status != "running"]
        gone = retention.surplus(ended, lambda r: self._size(r.id))
        for run in gone:
            self.delete(run.id)
        return [run.id for run in gone]

    # ------------------------------------------------------------------ reading

    def runs(self) -> list[Run]:
        """Every run, newest first, with its present name and status."""
        return [run for run, _ in self._rows()]

    def summaries(self) -> list[tuple[Run, RunSummary | None]]:
        """Every run, newest first, with the line that was kept when it ended (None while it goes on or if it was lost)."""
        return self._rows()

    def run(self, run_id: str) -> Run:
        """One run.

        Raises:
            RunNotFound
        """
        rows = self._rows("WHERE id = ?", (run_id,))
        if not rows:
            raise _not_found(run_id)
        return rows[0][0]

    def find(self, text: str | None) -> Run:
        """A run by id, by name (the newest of that name), or by the beginning of its id; None or "last" for the newest of all.

        Raises:
            RunNotFound: nothing matches, or the beginning of an id matches several.
        """
        runs = self.runs()
        if text is None or text == "last":
            if not runs:
                raise RunNotFound(
                    "There are no runs yet.", "Put %%stc_compile on top of a training cell, or use `stc run`."
                )
            return runs[0]
        exact = [r for r in runs if r.id == text] or [r for r in runs if r.name == text]
        if exact:
            return exact[0]
        begins = [r for r in runs if text and r.id.startswith(text)]
        if len(begins) > 1:
            raise RunNotFound(
                f"{len(begins)} runs begin with {text!r}.", f"Name one: {', '.join(r.id for r in begins[:4])}."
            )
        if not begins:
            raise _not_found(text)
        return begins[0]

    def named(self, name: str) -> list[Run]:
        """All runs of that name, newest first."""
        return [r for r in self.runs() if r.name == name]

    def events(self, run_id: str) -> list[Event]:
        """A run's events in order; those of an unknown kind or damaged are left out.

        Raises:
            RunNotFound
        """
        self.run(run_id)
        rows = self._do(
            lambda d: d.connection.execute(
                "SELECT kind, payload FROM events WHERE run_id = ? ORDER BY seq", (run_id,)
            ).fetchall()
        )
        return [event for kind, payload in rows if (event := decode_event(kind, payload)) is not None]

    def last_event(self, run_id: str) -> int:
        """Number of the run's newest event; 0 without one. Grows with each."""
        row = self._do(
            lambda d: d.connection.execute("SELECT max(seq) FROM events WHERE run_id = ?", (run_id,)).fetchone()
        )
        return int(row[0] or 0)

    def folded(self, run_id: str) -> Report:
        """The run's report, not judged yet: folded from its events, with its present name and status.

        Its schema version is its writer's where that is newer: what this version does not know is then left out.
        """
        report = fold(self.events(run_id))
        saved = self.saved_report(run_id)
        version = max(report.schema_version, (saved and version_of(saved)) or 0)
        return replace(report, run=self._present(run_id, report.run), schema_version=version)

    def saved_report(self, run_id: str) -> bytes | None:
        """The finished report as its writer saved it (JSON, perhaps of a newer version), or None."""
        row = self._do(lambda d: d.connection.execute("SELECT report FROM runs WHERE id = ?", (run_id,)).fetchone())
        return None if row is None or row[0] is None else bytes(row[0])

    def artefact(self, run_id: str, name: str) -> str:
        """A text kept with the run.

        Raises:
            RunNotFound: no such run, or it has no such artefact.
        """
        if is_run_id(run_id) and is_artefact_name(name):
            try:
                return (self.folder / "artefacts" / run_id / name).read_text(encoding="utf-8")
            except OSError:
                pass
        raise RunNotFound(f"Run {run_id!r} has no artefact {name!r}.", "`stc show RUN --json` lists what it has.")

    def changes_since(self, token: int | None) -> Changes:
        """Runs changed or removed since ``token``; with None nothing, and a token to begin with."""
        now = self._do(lambda d: d.revision())
        if token is None or token == now:
            return Changes(now)
        if token > now:  # the store was set aside meanwhile, and this is a new one
            return Changes(now, [run.id for run in self.runs()])
        changed = self._do(lambda d: d.connection.execute("SELECT id FROM runs WHERE rev > ?", (token,)).fetchall())
        removed = self._do(lambda d: d.connection.execute("SELECT id FROM removed WHERE rev > ?", (token,)).fetchall())
        return Changes(now, [r[0] for r in changed], [r[0] for r in removed])

    # ------------------------------------------------------------------ health

    def size(self) -> int:
        """Bytes of the database and of all files beside it."""
        total = 0
        for file in (*self.folder.glob(f"{FILE}*"), *(self.folder / "artefacts").glob("*/*")):
            with suppress(OSError):  # it has gone meanwhile
                total += file.stat().st_size
        return total

    def problem(self) -> StoreUnusable | None:
        """What is wrong with the store: it cannot be written, or SQLite finds damage in it. None if all is well."""

        def examine(database: Database) -> str:
            if database.mode == "read-only":
                raise sqlite3.OperationalError("it is read-only")
            with database.writing() as connection:
                return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])

        try:
            said = self._do(examine)
        except StoreUnusable as error:
            return error
        if said == "ok":
            return None
        return StoreUnusable(
            f"The store {self._database.path} is damaged: {said}.", "It is set aside once that is in the way."
        )

    # ------------------------------------------------------------------ inside

    def _do(self, action: Callable[[Database], T]) -> T:
        with self._lock:
            try:
                try:
                    if self._database.is_replaced():
                        self._database.reopen()
                    return action(self._database)
                except sqlite3.DatabaseError as error:
                    if not is_damage(error):
                        raise
                    log.warning("STC's store %s is damaged (%s) and is set aside", self._database.path, error)
                    self._database.mend()
                    return action(self._database)
            except sqlite3.Error as error:
                raise unusable(self._database.path, error) from error

    def _rows(self, where: str = "", arguments: tuple[str, ...] = ()) -> list[tuple[Run, RunSummary | None]]:
        rows = self._do(
            lambda d: d.connection.execute(
                "SELECT run, name, last_seen_at, host, pid, process_started, summary FROM runs "
                f"{where} ORDER BY started_at DESC, id DESC",
                arguments,
            ).fetchall()
        )
        found = []
        for data, name, seen, host, pid, started, summary in rows:
            run, line = readable(data, summary)
            if run is None:
                continue
            run = replace(run, name=name, last_seen_at=seen)
            if run.status == "running" and is_lost(seen, host, pid, started):
                run = replace(run, status="lost", partial=True, partial_reason=_LOST_REASON, progress=None)
            found.append((run, line if line is None else replace(line, run=run)))
        return found

    def _present(self, run_id: str, told: Run) -> Run:
        """What the events tell of the run, with the name and the status that it has now."""
        run = self.run(run_id)
        if told.id != run_id:
            return run
        if run.status == "lost":
            return replace(told, name=run.name, last_seen_at=run.last_seen_at, status="lost", partial=True,
                           partial_reason=run.partial_reason or _LOST_REASON, progress=None)  # fmt: skip
        return replace(told, name=run.name, last_seen_at=run.last_seen_at)

    def _size(self, run_id: str) -> int:
        row = self._do(
            lambda d: d.connection.execute(
                "SELECT (SELECT total(length(payload)) FROM events WHERE run_id = ?1) + "
                "(SELECT coalesce(length(report), 0) FROM runs WHERE id = ?1)",
                (run_id,),
            ).fetchone()
        )
        folder = self.folder / "artefacts" / run_id
        files = sum(f.stat().st_size for f in folder.iterdir()) if folder.is_dir() else 0
        return int(row[0] or 0) + files


def _not_found(text: str) -> RunNotFound:
    return RunNotFound(f"There is no run {text!r}.", "`stc runs` lists them.")


__all__ = ["SCHEMA_VERSION", "Changes", "Store"]
