"""What the panel says when there is nothing to show, or no server to ask."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from fixtures.lab import Lab, run, seed, shown, start_lab, stop, visit
from stc.record.database import FILE

# What a server extension of another version answers.
OTHER = """
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
class Status(APIHandler):
    def get(self):
        self.finish({"version": "99.0", "schema_version": 99, "store": {"path": "/", "mode": "wal", "ok": True, "reason": None}})
def _jupyter_server_extension_points():
    return [{"module": "stc_other"}]
def _load_jupyter_server_extension(app):
    app.web_app.add_handlers(".*$", [(url_path_join(app.web_app.settings["base_url"], "stc/api/status"), Status)])
"""


Configured = Callable[[dict[str, bool]], Lab]


# Both are asked for before the browser, so that the browser is closed before its server stops.
@pytest.fixture
def own_lab(tmp_path: Path) -> Iterator[Lab]:
    lab = start_lab(tmp_path)
    yield lab
    stop(lab)


@pytest.fixture
def lab_with(tmp_path: Path) -> Iterator[Configured]:
    """A function that starts a lab with these server extensions on or off."""
    started = []

    def start(extensions: dict[str, bool]) -> Lab:
        config = tmp_path / "config"
        config.mkdir()
        settings = {"ServerApp": {"jpserver_extensions": extensions}}
        (config / "jupyter_server_config.json").write_text(json.dumps(settings))
        started.append(start_lab(tmp_path))
        return started[0]

    yield start
    for lab in started:
        stop(lab)


def test_an_empty_store_says_how_a_run_comes_about_and_which_store_it_is(own_lab: Lab, context: BrowserContext) -> None:
    page = visit(context, own_lab)
    run(page, "stc:open")
    expect(shown(page)).to_contain_text("No runs yet")
    expect(shown(page).locator("pre")).to_have_text(["%load_ext stc", "%%stc_compile", "stc run train.py"])
    expect(shown(page)).to_contain_text(str(own_lab.store))


def test_a_run_whose_process_was_killed_is_lost_with_when_it_was_last_seen(
    own_lab: Lab, context: BrowserContext
) -> None:
    # given a process that is killed while its run goes on
    writer = (
        "import os, signal, sys; from fixtures.lab import seed; from stc.record.store import Store\n"
        "from pathlib import Path; store = Store.open(Path(sys.argv[1])); print(seed(store, 'running'), flush=True)\n"
        "import time; time.sleep(1.0); os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", writer, str(own_lab.store)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    page = visit(context, own_lab)
    run(page, "stc:open")
    # then it is told as lost, and what it had recorded is there
    expect(shown(page).locator(".stc-Runs-toggle .stc-mod-lost")).to_be_visible()
    expect(shown(page).locator(".stc-Headline-says")).to_contain_text(
        "Lost: the process ended without finishing the run"
    )
    expect(shown(page).locator(".stc-Figures")).to_be_visible()


def test_a_partial_run_says_why(own_lab: Lab, context: BrowserContext) -> None:
    # given a run whose cell was interrupted
    reason = "The cell was interrupted in step 41; what had been recorded until then is kept."
    seed(own_lab.opened(), "troubled", status="interrupted", partial=True, partial_reason=reason)
    page = visit(context, own_lab)
    run(page, "stc:open")
    # then its mark, its note and its finding say so
    expect(shown(page).locator(".stc-Runs-toggle .stc-mod-interrupted")).to_be_visible()
    expect(shown(page).locator(".stc-Headline .stc-Note").first).to_have_text(reason)
    shown(page).locator(".stc-Findings + button").click()
    expect(shown(page).locator(".stc-Finding").filter(has_text="The run was interrupted")).to_have_count(1)


def test_a_record_of_a_newer_version_is_shown_as_far_as_it_is_understood_and_says_so(
    own_lab: Lab, context: BrowserContext
) -> None:
    # given a run to which a newer version has added events, fields and a status
    store = own_lab.opened()
    identity = seed(store, "healthy")
    with closing(sqlite3.connect(own_lab.store / FILE)) as database:
        row, report = (json.loads(v) for v in database.execute("SELECT run, report FROM runs").fetchone())
        row |= {"status": "paused", "cost": {"amount": 1}}
        report |= {"schema_version": 2, "energy": {"joules": 12.5}}
        database.execute("UPDATE runs SET run = ?, report = ?", [json.dumps(row).encode(), json.dumps(report).encode()])
        database.execute(
            "INSERT INTO events(run_id, at, kind, payload) VALUES(?, 0, 'energy-measured', '{\"joules\": 3}')",
            (identity,),
        )
        database.commit()
    page = visit(context, own_lab)
    run(page, "stc:open")
    # then what is known of it is there, and what is not is named
    expect(shown(page)).to_contain_text("This run was recorded by a newer version")
    expect(shown(page).locator(".stc-Headline .stc-Note")).to_contain_text("paused")
    shown(page).get_by_role("tab", name="Fusion").click()
    expect(shown(page).locator("[aria-label=Kernels] [role=row][data-id]")).not_to_have_count(0)


def test_a_server_without_the_extension_is_told_with_what_to_install(
    lab_with: Configured, context: BrowserContext, expected: list[str]
) -> None:
    expected.append(r"404 .*stc/api/status")
    page = visit(context, lab_with({"stc_server": False}))
    run(page, "stc:open")
    expect(shown(page)).to_contain_text("The server extension is missing")
    expect(shown(page).locator("pre")).to_contain_text("pip install jupyterlab-stc")
    expect(shown(page).get_by_role("button", name="Try again")).to_be_visible()


def test_an_extension_of_another_version_is_told_with_both_versions(
    tmp_path: Path, lab_with: Configured, context: BrowserContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stc_other.py").write_text(OTHER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    page = visit(context, lab_with({"stc_server": False, "stc_other": True}))
    run(page, "stc:open")
    expect(shown(page)).to_contain_text("The server extension has another version")
    expect(shown(page)).to_contain_text("the server extension 99.0")


def test_a_server_that_stops_is_told_and_found_again_when_it_is_back(
    own_lab: Lab, context: BrowserContext, tmp_path: Path, expected: list[str]
) -> None:
    expected.append("ERR_CONNECTION_REFUSED|WebSocket connection")
    expected.append(r"TypeError: Failed to fetch(?![\s\S]*jupyterlab-stc)")  # JupyterLab asks for its kernels, too
    # given the panel on a run
    seed(own_lab.opened(), "left_eager")
    page = visit(context, own_lab)
    run(page, "stc:open")
    expect(shown(page).locator(".stc-Headline-says")).to_contain_text("Left eager")
    # when the server stops
    stop(own_lab)
    # then that is said, and what was there stays
    expect(shown(page)).to_contain_text("No connection to the server", timeout=60_000)
    expect(shown(page).locator(".stc-Headline-says")).to_contain_text("Left eager")
    # and when it is back, the panel finds it by itself
    again = start_lab(tmp_path, port=int(own_lab.url.rpartition(":")[2]))
    try:
        expect(shown(page).get_by_text("No connection to the server")).to_have_count(0, timeout=60_000)
        seed(again.opened(), "troubled")
        page.get_by_role("button", name="Choose a run").click()
        expect(shown(page).locator(".stc-Run-name")).to_have_text(["regressor.ipynb In[3]", "tiny.ipynb In[2]"])
    finally:
        stop(again)
