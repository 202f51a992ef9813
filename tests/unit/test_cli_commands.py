"""The command ``stc`` as a user has it: a process of its own, its output, its error in a sentence, its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import pytest

from fixtures.made import REPORTS, example
from fixtures.stores import a_finished_run, a_run, ended, step
from stc import __version__
from stc.analyse import summarise
from stc.record.database import Database
from stc.record.events import GraphSeen, SourceSeen
from stc.record.store import Store
from stc.record.types import SCHEMA_VERSION


def stc(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stc.cli", *words], capture_output=True, text=True, encoding="utf-8", timeout=120, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that an error of the user's gives."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("stc: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def store(stc_home: Path) -> Store:
    return Store.open()


@pytest.fixture
def recorded(store: Store) -> str:
    """A run with the graphs, sources and code of the example of a healthy one."""
    report = example("healthy")
    run = a_run("digits")
    writer = store.begin(run)
    for source in report.sources:
        writer.write(SourceSeen(source=source))
    for graph in report.compile.graphs:
        writer.write(GraphSeen(graph=graph))
    for name in report.artefacts:
        writer.artefact(name, (REPORTS / "artefacts" / "healthy" / name).read_text())
    writer.write(step(0))
    writer.write(ended())
    assert writer.close()
    return run.id


def test_help_needs_neither_torch_nor_ipython_nor_sqlite() -> None:
    code = (
        "import sys; from stc.cli import main; main(['--help']); main(['show', '--help'])\n"
        "print(sorted({'torch', 'IPython', 'sqlite3', 'ipywidgets', 'pygments', 'psutil'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for command in ("run", "runs", "show", "export", "rm", "rename", "doctor", "version"):
        assert f"\n    {command} " in done.stdout


def test_without_a_command_it_shows_its_help() -> None:
    done = stc()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: stc")


def test_the_version() -> None:
    assert stc("version").stdout == stc("--version").stdout == f"stc {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnus"], "There is no command 'rnus'. Did you mean `stc runs`?"),
        (["runs", "--jsn"], "Unrecognized arguments: --jsn. `stc"),
        (["rename", "x"], "required: NAME. `stc rename --help`"),
        (["show", "nope"], "There is no run 'nope'. `stc runs` lists them."),
        (["show"], "There are no runs yet."),
        (["rm", "nope"], "There is no run 'nope'."),
        (["export", "../../etc"], "There is no run '../../etc'."),
        (["rm"], "required: RUN."),
    ],
)
def test_an_error_of_the_users_is_one_sentence_with_a_remedy(stc_home: Path, words: list[str], said: str) -> None:
    assert said in refused(stc(*words))


def test_runs_are_listed_newest_first(store: Store) -> None:
    old, new = a_finished_run(store, "old", started_at=1_700_000_000), a_finished_run(store, "new")
    lines = stc("runs").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["id", new, old]
    document = json.loads(stc("runs", "--json").stdout)
    assert document["schema_version"] == SCHEMA_VERSION
    assert [line["run"]["name"] for line in document["runs"]] == ["new", "old"]
    assert all(line["headline"] for line in document["runs"])


def test_an_empty_store_says_how_to_begin(stc_home: Path) -> None:
    assert "No runs yet." in stc("runs").stdout
    assert json.loads(stc("runs", "--json").stdout)["runs"] == []


@pytest.mark.parametrize("words", [[], ["last"], ["digits"]])
def test_shows_a_run(recorded: str, words: list[str]) -> None:
    done = stc("show", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"digits  ({recorded})")
    assert "\nGraph 0/0:forward" in done.stdout
    assert "\nFindings" in done.stdout


def test_shows_a_run_as_one_document(recorded: str) -> None:
    document = json.loads(stc("show", recorded[:18], "--json").stdout)
    assert {"schema_version", "run", "compile", "steps", "findings"} <= document.keys()
    assert document["run"]["id"] == recorded
    assert document["compile"]["graphs"][0]["kernels"][0]["ops"]


def test_writes_the_page_and_the_document_to_files(recorded: str, tmp_path: Path) -> None:
    page, report = tmp_path / "page.html", tmp_path / "report.json"
    done = stc("show", "--html", str(page), "--report", str(report))
    assert done.returncode == 0
    assert str(page) in done.stdout
    assert page.read_text().startswith("<!doctype html>")
    assert "extern" in page.read_text()  # the generated code is in it
    assert json.loads(report.read_text())["run"]["id"] == recorded
    assert sorted(f.name for f in tmp_path.iterdir() if f.is_file()) == ["page.html", "report.json"]


def test_what_is_said_beside_a_document_goes_to_the_error_stream(recorded: str, tmp_path: Path) -> None:
    done = stc("show", "--json", "--html", str(tmp_path / "page.html"))
    assert json.loads(done.stdout)["run"]["id"] == recorded
    assert "page.html" in done.stderr


def test_a_file_that_cannot_be_written_is_an_error_of_the_users(recorded: str, tmp_path: Path) -> None:
    for words in (["show", "--html"], ["show", "--report"], ["export", "last"]):
        for file in (str(tmp_path), str(tmp_path / "no" / "where")):
            assert "cannot be written" in refused(stc(*words, file))


def test_exports_a_run_with_its_artefacts(recorded: str, tmp_path: Path) -> None:
    file = tmp_path / "run.zip"
    assert stc("export", "digits", str(file)).returncode == 0
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        assert json.loads(archive.read("report.json"))["run"]["id"] == recorded
        assert {f"artefacts/{n}" for n in example("healthy").artefacts} | {"report.json"} == names
        assert "extern" in archive.read("artefacts/graph-0_0-forward.py").decode()


def test_a_report_of_a_newer_version_is_printed_as_it_was_saved(store: Store, recorded: str, stc_home: Path) -> None:
    saved = json.loads(msgspec.json.encode(store.folded(recorded))) | {"schema_version": 99, "energy": {"joules": 3}}
    database = Database(stc_home)
    database.connection.execute("UPDATE runs SET report = ?", (json.dumps(saved).encode(),))
    database.close()
    assert json.loads(stc("show", "--json").stdout) == saved


def test_removes_runs(store: Store) -> None:
    first, second, third = (a_finished_run(store, name) for name in ("a", "b", "c"))
    done = stc("rm", "a", second, "a")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [f"Removed {first}  a", f"Removed {second}  b"]
    assert [r.id for r in store.runs()] == [third]


def test_removes_nothing_where_one_of_them_is_not_there(store: Store) -> None:
    a_finished_run(store, "a")
    assert "There is no run 'b'" in refused(stc("rm", "a", "b"))
    assert len(store.runs()) == 1


def test_removes_a_running_run_only_by_force(store: Store) -> None:
    run = a_run("going")
    writer = store.begin(run)
    assert "is still running; nothing has been removed" in refused(stc("rm", "going"))
    assert len(store.runs()) == 1
    assert stc("rm", "going", "--force").returncode == 0
    assert store.runs() == []
    writer.close()


def test_a_name_that_several_runs_have_is_enough_to_look_but_not_to_change(store: Store) -> None:
    old, new = a_finished_run(store, "same", started_at=1_700_000_000), a_finished_run(store, "same")
    shown = stc("show", "same")
    assert new in shown.stdout
    assert "2 runs are named 'same'; this is the newest" in shown.stderr
    for words in (["rm", "same"], ["rename", "same", "other"]):
        said = refused(stc(*words))
        assert old in said and new in said
    assert stc("rm", old).returncode == 0


def test_renames_a_run(store: Store) -> None:
    run_id = a_finished_run(store, "before")
    assert stc("rename", "last", "after <b>").returncode == 0
    assert store.run(run_id).name == "after <b>"
    assert "1 to 200 characters" in refused(stc("rename", "last", "  "))


def test_damage_is_told_and_the_command_goes_on(stc_home: Path) -> None:
    (stc_home / "runs.db").write_bytes(b"no database " * 1000)
    done = stc("runs")
    assert done.returncode == 0
    assert "The store was damaged. It has been set aside as " in done.stderr
    assert "No runs yet." in done.stdout


def test_a_store_that_cannot_be_made_is_an_error_of_the_users(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be created" in refused(stc("runs", STC_HOME=str(tmp_path / "file" / "store")))


def test_a_reader_that_has_gone_is_no_fault(recorded: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "stc.cli", "show"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_terminal_that_lacks_a_character_shows_another(recorded: str) -> None:
    done = stc("show", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(stc("show", "--json", PYTHONIOENCODING="ascii").stdout)["run"]["id"] == recorded


def test_the_summary_that_was_kept_is_what_the_list_shows(store: Store) -> None:
    run = a_run("kept")
    writer = store.begin(run)
    writer.write(ended())
    report = msgspec.structs.replace(store.folded(run.id), headline="Trains 2.00× faster.")
    assert writer.close(report, summarise(report))
    assert "Trains 2.00× faster." in stc("runs", COLUMNS="200").stdout
