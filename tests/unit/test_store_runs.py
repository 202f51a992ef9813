"""The store in good times: what is begun, written, found, renamed, counted and removed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec
import pytest

from fixtures.stores import a_finished_run, a_run, ended, first_line, process, step, steps_of, until
from stc.errors import RunNotFound
from stc.record.retention import Retention
from stc.record.store import Store
from stc.record.types import Report, RunSummary


@pytest.fixture
def store(stc_home: Path) -> Store:
    return Store.open()


def test_a_run_is_there_from_its_beginning_and_its_events_in_order(store: Store) -> None:
    run = a_run("first")
    writer = store.begin(run)
    assert [r.id for r in store.runs()] == [run.id]
    for number in range(50):
        writer.write(step(number))
    writer.write(ended())
    assert writer.close()
    assert steps_of(store, run.id) == list(range(50))
    assert store.run(run.id).status == "completed"
    assert store.folded(run.id).run.status == "completed"


def test_another_process_reads_what_this_one_writes_while_it_writes(store: Store) -> None:
    run = a_run()
    writer = store.begin(run)
    writer.write(step(7))
    reader = Store.open()
    until(lambda: steps_of(reader, run.id) == [7])
    assert reader.run(run.id).status == "running"
    writer.close()


def test_two_processes_write_at_once_and_nothing_is_lost(stc_home: Path) -> None:
    # Given two processes that open a new store at the same moment and write 500 events each
    body = "for n in range(500): writer.write(step(n)); time.sleep(0.0005)\nassert writer.close(timeout_s=60)"
    writers = [process(stc_home, body) for _ in range(2)]
    ids = [first_line(w) for w in writers]
    # When both are done
    assert [w.wait(120) for w in writers] == [0, 0]
    # Then each run has all its events, in order
    store = Store.open()
    assert [steps_of(store, run_id) for run_id in ids] == [list(range(500))] * 2


def test_a_forked_child_writes_nothing(store: Store) -> None:
    # Given a run that this process writes
    run = a_run()
    writer = store.begin(run)
    writer.write(step(0))
    # When a child of it, as of a data loader, does what its parent does
    child = os.fork()
    if child == 0:
        status = 1
        try:
            writer.write(step(99))
            writer.artefact("child.txt", "of the child")
            status = 0 if writer.close() is False else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    # Then only the parent's is kept, and the parent goes on
    writer.write(step(1))
    assert writer.close()
    assert steps_of(store, run.id) == [0, 1]
    with pytest.raises(RunNotFound):
        store.artefact(run.id, "child.txt")


def test_finds_a_run_by_id_by_name_by_the_beginning_of_its_id_and_the_last(store: Store) -> None:
    old = a_finished_run(store, "digits", started_at=1_700_000_000)
    new = a_finished_run(store, "digits", started_at=1_700_100_000)
    other = a_finished_run(store, "text", started_at=1_700_200_000)
    assert store.find(old).id == old
    assert store.find(old[:15]).id == old
    assert store.find("digits").id == new
    assert store.find("last").id == store.find(None).id == other
    assert [r.id for r in store.named("digits")] == [new, old]
    with pytest.raises(RunNotFound, match="3 runs begin with '2023'"):
        store.find("2023")
    for nothing in ("", "nope", "../x"):
        with pytest.raises(RunNotFound, match="There is no run"):
            store.find(nothing)


def test_the_last_of_an_empty_store_says_how_to_make_one(store: Store) -> None:
    with pytest.raises(RunNotFound, match=r"There are no runs yet. Put %%stc_compile"):
        store.find("last")


def test_a_name_of_the_users_is_kept_when_the_run_ends(store: Store) -> None:
    run = a_run("made")
    writer = store.begin(run)
    store.rename(run.id, "  given  ")
    writer.write(ended())
    folded = store.folded(run.id)
    writer.close(folded, RunSummary(run=folded.run))
    assert store.run(run.id).name == "given"
    assert store.folded(run.id).run.name == "given"
    assert [line.run.name for _, line in store.summaries() if line is not None] == ["given"]


@pytest.mark.parametrize("name", ["", "   ", "x" * 201])
def test_refuses_what_is_no_name(store: Store, name: str) -> None:
    run_id = a_finished_run(store)
    with pytest.raises(ValueError, match="1 to 200"):
        store.rename(run_id, name)


def test_tells_what_changed_since_a_token(store: Store) -> None:
    first, second = a_finished_run(store), a_finished_run(store)
    token = store.changes_since(None).token
    assert store.changes_since(token).changed == []
    store.rename(first, "renamed")
    store.delete(second)
    changes = store.changes_since(token)
    assert (changes.changed, changes.removed) == ([first], [second])
    assert store.changes_since(changes.token).changed == []


def test_a_token_of_a_store_that_was_replaced_tells_of_every_run(store: Store) -> None:
    run_id = a_finished_run(store)
    assert store.changes_since(10_000).changed == [run_id]


def test_removes_a_run_with_its_files_and_nothing_else(store: Store, tmp_path: Path) -> None:
    # Given two runs with a file each, a file of the user's in the store's folder, and an artefact folder that leads elsewhere
    kept, gone, led_away = (a_finished_run(store, text="code") for _ in range(3))
    (store.folder / "notes.txt").write_text("the user's")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious.txt").write_text("precious")
    folder = store.folder / "artefacts" / led_away
    (folder / "graph.py").unlink()
    folder.rmdir()
    folder.symlink_to(elsewhere)
    # When two are removed
    store.delete(gone)
    store.delete(led_away)
    # Then their events and files are gone, and the rest is as before
    assert [r.id for r in store.runs()] == [kept]
    assert not (store.folder / "artefacts" / gone).exists()
    assert store.artefact(kept, "graph.py") == "code"
    assert (store.folder / "notes.txt").read_text() == "the user's"
    assert (elsewhere / "precious.txt").read_text() == "precious"
    with pytest.raises(RunNotFound):
        store.delete(gone)


@pytest.mark.parametrize("run_id", ["..", "../..", "/etc", "", ".", "20251201-000000-abcdef/../..", "a\0b"])
def test_an_id_that_leads_elsewhere_is_no_run(store: Store, run_id: str) -> None:
    a_finished_run(store, text="code")
    for reach in (store.run, store.events, store.delete, lambda i: store.artefact(i, "graph.py")):
        with pytest.raises(RunNotFound):
            reach(run_id)
    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    "name", ["..", "../runs.db", "/etc/passwd", "a/b", "a\\b", ".hidden", "", "a..b", "x" * 200, "a\0b"]
)
def test_an_artefact_name_that_leads_elsewhere_is_refused(store: Store, name: str) -> None:
    run = a_run()
    writer = store.begin(run)
    with pytest.raises(ValueError, match="not an artefact name"):
        writer.artefact(name, "text")
    with pytest.raises(RunNotFound):
        store.artefact(run.id, name)
    writer.close()


def test_what_is_written_to_a_run_that_was_removed_meanwhile_does_not_bring_it_back(store: Store) -> None:
    run = a_run()
    writer = store.begin(run)
    store.delete(run.id)
    writer.write(step(0))
    writer.artefact("late.py", "late")
    writer.write(ended())
    assert writer.close()
    assert store.runs() == []
    assert not (store.folder / "artefacts" / run.id).exists()


def test_retention_removes_the_oldest_ended_runs_beyond_the_number(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a limit of two runs, one run that goes on and is the oldest, and two that have ended
    monkeypatch.setenv("STC_KEEP_RUNS", "2")
    going = a_run("going", started_at=1_600_000_000)
    writer = store.begin(going)
    ids = [a_finished_run(store, started_at=1_700_000_000 + n) for n in range(4)]
    # When the next begins, then the oldest ended ones have gone; the running one stays
    store.begin(a_run()).close()
    left = {r.id for r in store.runs()}
    assert going.id in left
    assert {ids[2], ids[3]} <= left
    assert not {ids[0], ids[1]} & left
    writer.close()


def test_retention_by_size_and_age(store: Store) -> None:
    now = time.time()
    old = a_finished_run(store, started_at=now - 10 * 86400, text="x" * 200_000)
    large = a_finished_run(store, started_at=now - 60, text="x" * 200_000)
    newest = a_finished_run(store, started_at=now, text="x" * 200_000)
    assert store.prune(Retention(runs=0, bytes=0, days=5)) == [old]
    assert store.prune(Retention(runs=0, bytes=300_000)) == [large]
    assert store.prune(Retention(runs=0, bytes=1)) == []  # the newest is always kept
    assert [r.id for r in store.runs()] == [newest]


def test_retention_settings_that_are_no_numbers_count_as_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STC_KEEP_RUNS", "many"), ("STC_KEEP_GB", "-1"), ("STC_KEEP_DAYS", "7")):
        monkeypatch.setenv(name, value)
    assert Retention.from_environment() == Retention(days=7.0)


def test_a_report_opens_as_it_was_saved(store: Store) -> None:
    run = a_run()
    writer = store.begin(run)
    writer.write(ended())
    report = store.folded(run.id)
    assert writer.close(report, RunSummary(run=report.run, headline="Trains."))
    saved = store.saved_report(run.id)
    assert saved is not None
    assert msgspec.json.decode(saved, type=Report).run.id == run.id
    assert [line.headline for _, line in store.summaries() if line is not None] == ["Trains."]
