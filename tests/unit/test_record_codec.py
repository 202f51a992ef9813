"""What is read from a record: of this version, of a newer one, and of a damaged one."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from fixtures.made import example
from fixtures.stores import a_finished_run, a_run, ended, step
from stc.record.codec import decode, decode_event, encode, encode_event, understood
from stc.record.database import Database
from stc.record.events import EVENTS, RunStarted
from stc.record.fold import MOST_STEPS, fold
from stc.record.ids import is_artefact_name, is_run_id, new_run_id
from stc.record.paths import file_system, is_network
from stc.record.schema import FILE, text
from stc.record.store import Store

MOUNTS = r"""
/dev/vda / ext4 rw,relatime 0 0
tmpfs /dev/shm tmpfs rw 0 0
filer:/export/home /home nfs4 rw,vers=4.2 0 0
//filer/share /mnt/team\040share cifs rw 0 0
bucket /mnt/bucket fuse.s3fs rw 0 0
/dev/vdb /home/local ext4 rw 0 0
"""


def newer() -> dict[str, object]:
    """A report as a version after this one may write it."""
    document = json.loads(msgspec.json.encode(example("healthy")))
    document["schema_version"] = 2
    document["energy"] = {"joules": 12.5}
    document["run"]["cost"] = {"amount": 1.25}
    document["compile"]["graphs"][0]["flops"] = 10**9
    document["compile"]["graphs"][0]["kernels"][0]["occupancy"] = 0.5
    return document


def test_unknown_fields_survive_reading_and_writing_at_every_depth() -> None:
    before = newer()
    document = decode(json.dumps(before).encode())
    assert document.report.run.name == example("healthy").run.name
    assert json.loads(encode(document)) == before


def test_what_is_changed_in_a_document_is_written_and_the_unknown_kept_beside_it() -> None:
    document = decode(json.dumps(newer()).encode())
    changed = msgspec.structs.replace(document.report, headline="Another.")
    written = json.loads(encode(type(document)(changed, document.raw)))
    assert written["headline"] == "Another."
    assert written["run"]["cost"] == {"amount": 1.25}


@pytest.mark.parametrize("data", [b"", b"nothing", b"[]", b'{"schema_version": "one"}', b"\xff\xfe"])
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        decode(data)


def test_every_kind_of_event_has_a_name_of_its_own() -> None:
    names = [kind.__struct_config__.tag for kind in EVENTS]
    assert len(set(names)) == len(names)


def test_an_event_reads_as_it_was_written() -> None:
    for event in (step(3), ended("failed"), RunStarted(run=a_run("<b>&é"))):
        assert decode_event(*encode_event(event)) == event


def test_an_event_of_an_unknown_kind_or_a_damaged_one_is_left_out() -> None:
    kind, payload = encode_event(step(3))
    assert decode_event("energy-measured", b'{"event": "energy-measured", "joules": 3}') is None
    assert decode_event(kind, payload[:-5]) is None
    assert decode_event(kind, b"\xff") is None


def test_a_store_with_a_newer_versions_events_and_fields_gives_what_is_understood_of_it(stc_home: Path) -> None:
    # Given a run to which a newer version has added an event, fields, and a status that is not known here
    store = Store.open()
    run_id = a_finished_run(store, "of the future")
    database = Database(stc_home)
    row = json.loads(database.connection.execute("SELECT run FROM runs").fetchone()[0])
    row |= {"status": "paused", "cost": {"amount": 1}}
    row["origin"]["kind"] = "pipeline"
    database.connection.execute("UPDATE runs SET run = ?", (json.dumps(row).encode(),))
    database.connection.execute(
        "INSERT INTO events(run_id, at, kind, payload) VALUES(?, 0, 'energy-measured', ?)", (run_id, b'{"joules": 3}')
    )
    database.close()
    # When it is read, then it is in the list, says what is not known, and has its steps
    (run,) = store.runs()
    assert (run.id, run.name) == (run_id, "of the future")
    assert "paused" in (run.partial_reason or "")
    report = store.folded(run_id)
    assert (report.steps.series.index, report.run.partial_reason) == ([0, 1], run.partial_reason)


@pytest.mark.parametrize(
    ("saved", "version"),
    [(b'{"schema_version": 7, "energy": 3}', 7), (b'{"schema_version": 0}', 1), (b"{", 1), (None, 1)],
)
def test_a_report_names_the_schema_version_of_its_writer_where_that_is_newer(
    stc_home: Path, saved: bytes | None, version: int
) -> None:
    store = Store.open()
    run_id = a_finished_run(store, "of the future")
    database = Database(stc_home)
    database.connection.execute("UPDATE runs SET report = ?", (saved,))
    database.close()
    assert store.folded(run_id).schema_version == version


def test_of_a_run_that_is_hardly_one_the_rest_is_unknown() -> None:
    run = understood(b'{"id": "x", "started_at": "yesterday", "environment": 3}')
    assert (run.id, run.name, run.status, run.environment.python) == ("x", "unknown", "lost", "unknown")
    with pytest.raises(msgspec.MsgspecError):
        understood(b"[]")


def test_any_beginning_of_a_runs_events_gives_a_report() -> None:
    events = [RunStarted(run=a_run()), *(step(n) for n in range(10)), ended()]
    for length in range(len(events) + 1):
        report = fold(events[:length])
        assert report.run.status == ("lost" if length == 0 else "completed" if length == len(events) else "running")
        assert len(report.steps.series.index) == min(max(length - 1, 0), 10)


def test_a_long_series_is_thinned_evenly_and_says_so() -> None:
    report = fold([RunStarted(run=a_run()), *(step(n) for n in range(3 * MOST_STEPS))])
    series = report.steps.series
    assert series.decimated
    assert len(series.index) == len(series.kind) == MOST_STEPS
    assert series.index[:3] == [0, 3, 6]


def test_run_ids_sort_by_time_and_hold_nothing_that_leads_elsewhere() -> None:
    assert new_run_id(1_700_000_000) < new_run_id(1_700_000_001)
    assert is_run_id(new_run_id())
    for other in ("", "..", "last", new_run_id() + "/..", new_run_id() + "\n", "٢٠٢٥١٢٠١-٠٠٠٠٠٠-abcdef"):
        assert not is_run_id(other)
    for other in ("a\n", "..", "/a", "a/../b", "-rf", "é"):
        assert not is_artefact_name(other)
    assert is_artefact_name("graph-0_0-forward.py")


@pytest.mark.parametrize(
    ("path", "kind", "network"),
    [
        ("/home/ada/.local/share/stc", "nfs4", True),
        ("/home/local/stc", "ext4", False),
        ("/homely/stc", "ext4", False),
        ("/mnt/team share/stc", "cifs", True),
        ("/mnt/bucket", "fuse.s3fs", True),
        ("/dev/shm/stc", "tmpfs", False),
    ],
)
def test_tells_a_network_file_system_from_a_local_one(path: str, kind: str, network: bool) -> None:
    assert file_system(Path(path), MOUNTS) == kind
    assert is_network(kind) is network


def test_a_file_system_that_cannot_be_told_counts_as_local() -> None:
    assert file_system(Path("/anywhere"), "") is None
    assert file_system(Path("/anywhere"), "garbage\n\nx y") is None
    assert is_network(None) is False


def test_a_store_on_a_network_file_system_does_without_the_shared_memory_log(
    stc_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stc.record.database.file_system", lambda folder: "nfs4")
    store = Store.open()
    run_id = a_finished_run(store)
    assert store.mode == "delete"
    assert store.folded(run_id).run.status == "completed"
    assert not (stc_home / "runs.db-wal").exists()


def test_the_committed_schema_is_that_of_the_structs() -> None:
    assert FILE.read_text() == text()
