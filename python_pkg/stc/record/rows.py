"""A run's row in the store: how it is begun, what it says, and whether the process that writes it still lives."""

from __future__ import annotations

import os
import socket
import sqlite3
import time

import msgspec

from .codec import encode_event, understood
from .database import Database
from .events import RunStarted
from .types import Run, RunSummary

LOST_AFTER_S = 60.0  # without a sign of life, for a run on another host


def insert(database: Database, connection: sqlite3.Connection, run: Run) -> None:
    """Begin a run's record: its row and its first event; only inside `Database.writing`."""
    pid, now = os.getpid(), time.time()
    connection.execute(
        "INSERT INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)",
        (
            run.id, run.name, run.status, run.started_at, now, socket.gethostname(), pid, process_started(pid),
            msgspec.json.encode(run), database.next_revision(),
        ),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO events(run_id, at, kind, payload) VALUES(?, ?, ?, ?)",
        (run.id, now, *encode_event(RunStarted(run=run))),
    )


def readable(run: bytes, summary: bytes | None) -> tuple[Run | None, RunSummary | None]:
    """A row's run and summary. Of what a newer version wrote, what this one understands; None where it is damaged."""
    try:
        return (
            msgspec.json.decode(run, type=Run),
            None if summary is None else msgspec.json.decode(summary, type=RunSummary),
        )
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        return understood(run), None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None, None


def is_lost(seen: float, host: str | None, pid: int | None, started: float | None) -> bool:
    """Whether the process that wrote a row has ended; on another host, whether it has shown no sign of life for long."""
    if host != socket.gethostname() or pid is None:
        return time.time() - seen > LOST_AFTER_S
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    now_started = process_started(pid)
    return started is not None and now_started is not None and abs(now_started - started) > 1.0


def process_started(pid: int) -> float | None:
    try:
        import psutil

        process = psutil.Process(pid)
        # A killed process that its parent has not waited for is dead all the same.
        return -1.0 if process.status() == psutil.STATUS_ZOMBIE else float(process.create_time())
    except Exception:
        return None
