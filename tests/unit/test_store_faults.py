"""The store in bad times: killed writers, full disks, read-only folders, damage. The training never notices; what was written stays."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.stores import a_finished_run, a_run, drained, ended, first_line, process, step, steps_of, until
from stc.errors import StoreUnusable
from stc.record import writer as writer_module
from stc.record.database import Database
from stc.record.events import BreakSeen
from stc.record.store import Store
from stc.record.types import Break


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    yield from _mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=1m", "tmpfs")


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A store with one finished run on a file system that cannot be written, also not by root; and the run's id."""
    folder = tmp_path / "store"
    store = Store.open(folder)
    run_id = a_finished_run(store, "kept", text="code")
    store.close()
    for _ in _mounted(folder, "--bind", str(folder), remount="remount,ro,bind"):
        yield folder, run_id


def _mounted(point: Path, *arguments: str, remount: str | None = None) -> Iterator[Path]:
    point.mkdir(exist_ok=True)
    commands = [["mount", *arguments, str(point)]]
    if remount is not None:
        commands.append(["mount", "-o", remount, str(point)])
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            pytest.skip(f"there is no mount here: {error}")
        if done.returncode:
            pytest.skip(f"file systems cannot be mounted here: {done.stderr.strip()}")
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", str(point)], check=False)


def test_a_run_whose_process_is_killed_is_lost_with_its_events_kept(stc_home: Path) -> None:
    # Given a process that writes a run
    killed = process(stc_home, "for n in range(20_000): writer.write(step(n)); time.sleep(0.001)")
    run_id = first_line(killed)
    store = Store.open(stc_home)
    until(lambda: len(steps_of(store, run_id)) > 100)
    assert store.run(run_id).status == "running"
    # When it is killed in the middle
    killed.send_signal(signal.SIGKILL)
    until(lambda: store.run(run_id).status == "lost")
    killed.wait()
    # Then the run is shown as lost, with why, and with a run of steps without a hole
    report = store.folded(run_id)
    assert (report.run.status, report.run.partial, report.run.progress) == ("lost", True, None)
    assert "ended without finishing" in (report.run.partial_reason or "")
    assert report.steps.series.index == list(range(len(report.steps.series.index)))
    assert len(report.steps.series.index) > 100
    # and the store goes on as before
    assert steps_of(store, a_finished_run(store)) == [0, 1]


def test_a_run_that_had_ended_when_its_process_was_killed_is_not_lost(stc_home: Path) -> None:
    from_there = "from fixtures.stores import ended\nwriter.write(ended('failed'))\ntime.sleep(30)"
    killed = process(stc_home, from_there)
    run_id = first_line(killed)
    store = Store.open(stc_home)
    until(lambda: store.run(run_id).status == "failed")
    killed.kill()
    killed.wait()
    assert store.run(run_id).status == store.folded(run_id).run.status == "failed"


def test_a_run_on_another_host_is_lost_once_it_shows_no_sign_of_life(stc_home: Path) -> None:
    store = Store.open()
    run = a_run()
    store.begin(run).close()
    database = Database(stc_home)
    for age, status in ((5.0, "running"), (120.0, "lost")):
        database.connection.execute("UPDATE runs SET host = 'elsewhere', last_seen_at = ?", (time.time() - age,))
        assert store.run(run.id).status == status


def test_a_full_disk_stops_neither_the_training_nor_the_record_once_there_is_space(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a run whose disk has filled up
    monkeypatch.setattr(writer_module, "RETRY_EVERY_S", 0.1)
    store = Store.open(small_disk / "stc")
    run = a_run()
    writer = store.begin(run)
    writer.write(step(0))
    until(lambda: steps_of(store, run.id) == [0])
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    # When the training goes on
    for number in range(1, 3000):
        began = time.perf_counter()
        writer.write(step(number))
        assert time.perf_counter() - began < 0.5  # the disk is never waited for
    until(lambda: writer.problem is not None)
    # Then the problem is known in words, and what was written before can be read
    assert "full" in str(writer.problem)
    assert steps_of(store, run.id)[0] == 0
    # and nothing is missing once there is space again
    ballast.unlink()
    writer.write(ended())
    assert writer.close()
    assert writer.problem is None
    assert steps_of(store, run.id) == list(range(3000))
    assert store.run(run.id).status == "completed"


def test_a_disk_that_stays_full_is_told_when_the_run_closes(small_disk: Path) -> None:
    store = Store.open(small_disk / "stc")
    run = a_run()
    writer = store.begin(run)
    writer.artefact("large.txt", "x" * 3_000_000)
    writer.write(ended())
    began = time.monotonic()
    assert writer.close(timeout_s=10) is False
    assert time.monotonic() - began < 10
    assert isinstance(writer.problem, StoreUnusable)
    assert "full" in str(writer.problem)
    assert store.run(run.id).name == "a run"


def test_a_limit_on_file_size_stops_neither_training_nor_reading(stc_home: Path) -> None:
    body = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))\n"
        "for n in range(20_000): writer.write(step(n))\n"
        "print(writer.close(timeout_s=8), type(writer.problem).__name__)"
    )
    limited = process(stc_home, body)
    run_id = first_line(limited)
    assert limited.stdout is not None
    assert limited.stdout.read().strip() == "False StoreUnusable"
    assert limited.wait(60) == 0
    assert Store.open(stc_home).run(run_id).status == "lost"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000


def test_events_beyond_what_memory_may_hold_are_dropped_and_counted(
    stc_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a store that is locked by somebody for a while
    monkeypatch.setattr(writer_module, "MOST_WAITING", 100)
    store = Store.open()
    run = a_run()
    writer = store.begin(run)
    writer.write(step(0))
    until(lambda: drained(writer))
    lock = sqlite3.connect(stc_home / "runs.db", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    # When more comes than may wait, and in the end something that a report cannot do without
    for number in range(1, 1000):
        writer.write(step(number))
    writer.write(BreakSeen(graph_break=Break(id="b", reason="print")))
    lock.execute("ROLLBACK")
    lock.close()
    writer.write(ended())
    assert writer.close(timeout_s=30)
    # Then the report has what it cannot do without, and says how much is missing
    report = store.folded(run.id)
    (gap,) = report.compile.gaps
    assert gap.part == "store"
    assert gap.count + len(report.steps.series.index) == 1000
    assert [b.id for b in report.compile.breaks] == ["b"]
    assert report.run.status == "completed"


def test_an_event_that_cannot_be_written_does_not_hold_up_the_others(stc_home: Path) -> None:
    store = Store.open()
    run = a_run()
    writer = store.begin(run)
    writer.write(BreakSeen(graph_break=Break(id="b", reason="half a pair: \ud800")))
    writer.write(step(1))
    writer.write(ended())
    assert writer.close()
    report = store.folded(run.id)
    assert report.steps.series.index == [1]
    assert [(g.part, g.count) for g in report.compile.gaps] == [("store", 1)]
    assert report.run.status == "completed"


def test_a_store_that_cannot_be_made_says_so_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match="cannot be created") as refusal:
        Store.open(tmp_path / "file" / "store")
    assert "STC_HOME" in refusal.value.remedy


def test_a_read_only_store_can_be_read_and_refuses_to_be_written(read_only: tuple[Path, str]) -> None:
    folder, run_id = read_only
    store = Store.open(folder)
    assert store.mode == "read-only"
    assert [r.name for r in store.runs()] == ["kept"]
    assert steps_of(store, run_id) == [0, 1]
    assert store.artefact(run_id, "graph.py") == "code"
    for change in (lambda: store.begin(a_run()), lambda: store.rename(run_id, "x"), lambda: store.delete(run_id)):
        with pytest.raises(StoreUnusable, match="read-only"):
            change()
    assert store.artefact(run_id, "graph.py") == "code"
    assert store.problem() is not None


@pytest.mark.parametrize("damage", ["all of it", "the head", "the middle", "cut short"])
def test_a_damaged_file_is_set_aside_and_a_new_store_begun(stc_home: Path, damage: str) -> None:
    # Given a store with some runs, whose file is then damaged
    store = Store.open()
    for _ in range(30):
        a_finished_run(store)
    store.close()
    file = stc_home / "runs.db"
    data = bytearray(file.read_bytes())
    if damage == "all of it":
        data[:] = os.urandom(len(data))
    elif damage == "the head":
        data[:100] = b"\0" * 100
    elif damage == "the middle":
        data[4096:] = os.urandom(len(data) - 4096)
    else:
        del data[5000:]
    file.write_bytes(data)
    # When it is used again
    store = Store.open()
    store.runs()
    new = a_finished_run(store, "after")
    # Then the new run is recorded, and the damaged file is kept and named
    assert [r.id for r in store.runs()] == [new]
    assert steps_of(store, new) == [0, 1]
    assert store.set_aside is not None
    assert store.set_aside.read_bytes()[:5000] == bytes(data[:5000])
    assert store.problem() is None


def test_damage_that_is_met_while_the_store_is_open_is_set_aside_then(
    stc_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # Given an open store whose events' pages are damaged, but not its first ones
    store = Store.open()
    run_id = a_finished_run(store, text=None)
    run = a_run()
    writer = store.begin(run)
    for number in range(5000):
        writer.write(step(number))
    assert writer.close()
    store.close()
    file = stc_home / "runs.db"
    data = bytearray(file.read_bytes())
    quarter = len(data) // 4 // 4096 * 4096
    data[quarter : -2 * quarter] = os.urandom(len(data) - 3 * quarter)
    file.write_bytes(data)
    store = Store.open()
    # When they are read
    for one in (run_id, run.id):
        try:
            store.events(one)
        except Exception:
            continue
    # Then the file has been set aside, which is told, and the store can be used
    assert store.set_aside is not None
    assert "is damaged" in caplog.text
    assert steps_of(store, a_finished_run(store)) == [0, 1]


def test_two_processes_that_meet_the_damage_at_once_begin_one_new_store(stc_home: Path) -> None:
    (stc_home / "runs.db").write_bytes(os.urandom(20_000))
    body = "writer.write(step(1)); assert writer.close(timeout_s=30)"
    both = [process(stc_home, body) for _ in range(3)]
    ids = {first_line(one) for one in both}
    assert [one.wait(60) for one in both] == [0, 0, 0]
    assert {r.id for r in Store.open().runs()} == ids
    assert len(list(stc_home.glob("runs.damaged-*.db"))) == 1


def test_a_store_of_a_newer_layout_is_left_alone(stc_home: Path) -> None:
    Store.open().close()
    with sqlite3.connect(stc_home / "runs.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    before = (stc_home / "runs.db").read_bytes()
    with pytest.raises(StoreUnusable, match="newer version of STC"):
        Store.open()
    assert (stc_home / "runs.db").read_bytes() == before


@pytest.mark.parametrize("fate", ["damaged", "removed"])
def test_a_store_that_goes_while_a_run_is_written_gets_the_rest_of_the_run(
    stc_home: Path, monkeypatch: pytest.MonkeyPatch, fate: str
) -> None:
    # Given a run that is being written, and a reader
    monkeypatch.setattr(writer_module, "RETRY_EVERY_S", 0.1)
    store = Store.open()
    run = a_run("the run")
    writer = store.begin(run)
    writer.write(step(0))
    until(lambda: steps_of(store, run.id) == [0])
    # When the store's file is removed with all it holds, or set aside by another process that met damage in it
    for file in stc_home.glob("runs.db*"):
        if fate == "removed":
            file.unlink()
        else:
            file.rename(stc_home / f"runs.damaged-1.db{file.name.removeprefix('runs.db')}")
    # Then the rest of the run is in the new one, which says that something is missing
    for number in range(1, 5):
        writer.write(step(number))
        time.sleep(0.15)
    writer.write(ended())
    assert writer.close()
    report = store.folded(run.id)
    assert (report.run.name, report.run.status) == ("the run", "completed")
    assert report.steps.series.index[-1] == 4
    assert [gap.part for gap in report.compile.gaps] == ["store"]


def test_damage_that_a_writer_meets_costs_what_was_there_but_not_what_comes(
    stc_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a run that is being written, whose file is overwritten beyond its first pages
    monkeypatch.setattr(writer_module, "RETRY_EVERY_S", 0.1)
    run = a_run()
    writer = Store.open().begin(run)
    for number in range(3000):
        writer.write(step(number))
    until(lambda: drained(writer))
    database = Database(stc_home)
    database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    with (stc_home / "runs.db").open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    # When the training goes on
    for number in range(3000, 3010):
        writer.write(step(number))
        time.sleep(0.05)
    writer.write(ended())
    # Then a new store has the end of the run, and the damaged file is kept
    assert writer.close()
    store = Store.open()
    assert store.folded(run.id).run.status == "completed"
    assert steps_of(store, run.id)[-1] == 3009
    assert len(list(stc_home.glob("runs.damaged-*.db"))) == 1
