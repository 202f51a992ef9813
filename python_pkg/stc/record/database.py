"""The SQLite file under the store: opened in the mode its file system allows, for reading where it cannot be written, and set aside
and begun anew where it is damaged.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stc.errors import StoreUnusable

from .paths import file_system, is_network

FILE = "runs.db"
LAYOUT = 1  # of the tables; kept in the file as its user_version
BUSY_S = 10.0

_TABLES = """
CREATE TABLE IF NOT EXISTS runs(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL, started_at REAL NOT NULL, last_seen_at REAL NOT NULL,
  host TEXT, pid INTEGER, process_started REAL, run BLOB NOT NULL, summary BLOB, report BLOB, rev INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events(
  seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, payload BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS events_of_run ON events(run_id, seq);
CREATE INDEX IF NOT EXISTS runs_by_rev ON runs(rev);
CREATE TABLE IF NOT EXISTS removed(id TEXT PRIMARY KEY, rev INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS revision(one INTEGER PRIMARY KEY CHECK(one = 1), value INTEGER NOT NULL);
INSERT OR IGNORE INTO revision VALUES(1, 0);
"""
_DAMAGE = ("malformed", "not a database", "file is encrypted", "disk image", "no such table", "no such column")
_READ_ONLY = ("readonly", "read-only", "unable to open database file")


class Database:
    """One connection to the store's file. Used by one thread at a time.

    Raises:
        StoreUnusable: the folder or file cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.set_aside: Path | None = None
        self._opened: tuple[int, int] | None = None
        self.file_system = file_system(folder)
        self.mode = "delete" if is_network(self.file_system) else "wal"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StoreUnusable(
                f"The store cannot be created in {folder}: {error.strerror}.",
                "Set STC_HOME to a folder that can be written.",
            ) from error
        self._connection: sqlite3.Connection | None = None
        self.reopen()

    @property
    def connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.OperationalError("it is closed")
        return self._connection

    def reopen(self) -> None:
        """Connect to the file that lies there now; one that is damaged is set aside.

        Raises:
            StoreUnusable
        """
        self.close()
        try:
            self._connection = self._open()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise unusable(self.path, error) from error
            self.mend()

    def is_replaced(self) -> bool:
        """Whether the file that is open is no longer the one that lies there: it was set aside or removed by somebody else."""
        return self._connection is not None and _identity(self.path) != self._opened

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that takes the write lock at its beginning; rolled back if it raises."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield self.connection
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:  # on a full disk SQLite has rolled back already
                self.connection.execute("ROLLBACK")
            raise

    def next_revision(self) -> int:
        """A number that grows with every change; only inside `writing`."""
        row = self.connection.execute("UPDATE revision SET value = value + 1 RETURNING value").fetchone()
        return int(row[0])

    def revision(self) -> int:
        return int(self.connection.execute("SELECT value FROM revision").fetchone()[0])

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect(str(self.path))
        except sqlite3.OperationalError as error:
            if not any(word in str(error) for word in _READ_ONLY) or not self.path.exists():
                raise
            return self._open_for_reading(error)

    def _open_for_reading(self, refused: sqlite3.OperationalError) -> sqlite3.Connection:
        """Where writing is not possible, what is there can still be read."""
        address = self.path.absolute().as_uri() + "?mode=ro"
        # The log of a store that others write needs shared memory, which cannot be made here; without a log nobody writes.
        idle = not Path(f"{self.path}-wal").exists()
        for way in (address, f"{address}&immutable=1") if idle else (address,):
            try:
                connection = self._connect(way, uri=True)
            except sqlite3.OperationalError:
                continue
            self.mode = "read-only"
            return connection
        raise refused

    def _connect(self, address: str, *, uri: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(address, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=uri)
        try:
            if not uri:
                self._choose_mode(connection)
                connection.execute("PRAGMA synchronous=NORMAL")
            layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if layout > LAYOUT:
                raise StoreUnusable(
                    f"The store {self.path} was made by a newer version of STC.",
                    "Upgrade STC, or set STC_HOME to another folder.",
                )
            if layout < LAYOUT:
                connection.executescript(f"{_TABLES}PRAGMA user_version={LAYOUT};")
            connection.execute("SELECT id, rev FROM runs LIMIT 1").fetchone()
            connection.execute("SELECT seq, payload FROM events ORDER BY seq DESC LIMIT 1").fetchone()
            self._opened = _identity(self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _choose_mode(self, connection: sqlite3.Connection) -> None:
        """SQLite's own waiting does not cover this: two processes that open a new store at once get "locked" right away."""
        give_up_at = time.monotonic() + BUSY_S
        while True:
            try:
                connection.execute(f"PRAGMA journal_mode={self.mode}")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > give_up_at:
                    raise
            time.sleep(0.02)

    def mend(self) -> None:
        """Set the file aside and begin a new one, if it is damaged still: another process may have done so a moment ago.

        Raises:
            StoreUnusable: that cannot be done.
        """
        self.close()
        try:
            with _alone(self.folder):
                self._begin_anew()
        except (sqlite3.Error, OSError) as error:
            raise unusable(self.path, error) from error

    def _begin_anew(self) -> None:
        try:
            self._connection = self._open()
            if str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]) == "ok":
                return
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
        self.close()
        self._put_aside()
        self._connection = self._open()

    def _put_aside(self) -> None:
        self.set_aside = self.path.with_name(f"runs.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.db")
        for suffix in ("", "-wal", "-shm", "-journal"):
            part = Path(f"{self.path}{suffix}")
            if part.exists():
                part.replace(f"{self.set_aside}{suffix}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Only one process at a time is in here, where the system has file locks."""
    with (folder / ".lock").open("a") as lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield


def is_damage(error: sqlite3.Error) -> bool:
    return any(word in str(error) for word in _DAMAGE)


def unusable(path: Path, error: Exception) -> StoreUnusable:
    """What SQLite says, as a sentence with a remedy."""
    said = str(error)
    if "readonly" in said or "read-only" in said:
        return StoreUnusable(f"The store {path} is read-only.", "Set STC_HOME to a folder that can be written.")
    if "full" in said or getattr(error, "errno", None) == errno.ENOSPC:
        return StoreUnusable(f"The disk that holds the store {path} is full.", "Free some space, or `stc rm` old runs.")
    if "locked" in said or "busy" in said:
        return StoreUnusable(
            f"The store {path} has been locked for over {BUSY_S:g} s.", "Close what holds it and try again."
        )
    return StoreUnusable(
        f"The store {path} cannot be used: {said}.", "`stc doctor` tells more; STC_HOME chooses another folder."
    )
