"""A real JupyterLab with the panel in a real Chromium, over a store that holds the example reports as if they had been run."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import nbformat
import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from stc.analyse import judge, summarise
from stc.record import events as ev
from stc.record.codec import decode
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Report

ROOT = Path(__file__).resolve().parents[2]
REPORTS = ROOT / "tests" / "fixtures" / "reports"
SHOTS = ROOT / "test-results"
TOKEN = "token-of-these-tests"
QUIET = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": False},
}


def events_of(report: Report) -> list[ev.Event]:
    """Events that fold to this report."""
    compile_ = report.compile
    found: list[ev.Event] = [ev.SourceSeen(source=s) for s in report.sources]
    found += [ev.UnitSeen(unit=u) for u in compile_.units]
    found += [ev.GraphSeen(graph=g) for g in compile_.graphs]
    found += [ev.BreakSeen(graph_break=b) for b in compile_.breaks]
    found += [ev.RecompilationSeen(recompilation=r) for r in compile_.recompilations]
    found += [ev.LimitReached(limit=limit) for limit in compile_.limits]
    found += [ev.GapSeen(gap=g) for g in compile_.gaps]
    found += [ev.OptionIgnored(option=o, reason=r) for o, r in compile_.ignored_options.items()]
    if compile_.decision is not None:
        found.append(ev.DecisionMade(decision=compile_.decision))
    if compile_.total_s is not None:
        found.append(ev.PhasesMeasured(phases=compile_.phases, total_s=compile_.total_s))
    found.append(ev.StepsTaken(series=report.steps.series))
    found.append(ev.StepsMeasured(steps=report.steps))
    return found


def seed(store: Store, name: str) -> str:
    """Put an example report into the store as its run would have; returns the run's id."""
    report = decode((REPORTS / f"{name}.json").read_bytes()).report
    run = replace(report.run, id=new_run_id(report.run.started_at), status="running", progress=None)
    run = replace(run, origin=replace(run.origin, pid=os.getpid()))
    writer = store.begin(run)
    for event in events_of(report):
        writer.write(event)
    for artefact in report.artefacts:
        writer.artefact(artefact, (REPORTS / "artefacts" / name / artefact).read_text())
    ended = report.run
    if ended.status == "running":
        writer.write(ev.RunProgress(progress=ended.progress))
        return run.id  # goes on: this process lives
    writer.write(
        ev.RunEnded(
            status=ended.status, ended_at=ended.ended_at or ended.started_at, wall_s=ended.wall_s or 0.0,
            partial=ended.partial, partial_reason=ended.partial_reason, failure=ended.failure,
        )
    )  # fmt: skip
    finished = judge(replace(report, run=replace(ended, id=run.id)))
    assert writer.close(finished, summarise(finished))
    return run.id


@dataclass
class Lab:
    """A running JupyterLab."""

    url: str
    work: Path
    store: Path
    process: subprocess.Popen[bytes]

    def opened(self) -> Store:
        return Store.open(self.store)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_lab(folder: Path) -> Lab:
    """JupyterLab on a free port of 127.0.0.1, with folders of its own under ``folder`` and the token on."""
    work, home, config = folder / "work", folder / "store", folder / "config"
    for path in (work, home, config / "labconfig"):
        path.mkdir(parents=True, exist_ok=True)
    (config / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(QUIET))
    port = free_port()
    environment = {
        **os.environ,
        "STC_HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
    }
    log = (folder / "lab.log").open("wb")
    process = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}",
            "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={work}",
            "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True", "--ServerApp.terminals_enabled=False",
        ],
        env=environment, stdout=log, stderr=log,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 90
    while True:
        try:
            urllib.request.urlopen(f"{url}/api?token={TOKEN}", timeout=2)
            return Lab(url, work, home, process)
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((folder / "lab.log").read_text()) from None
            time.sleep(0.2)


def stop(lab: Lab) -> None:
    lab.process.terminate()
    try:
        lab.process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        lab.process.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One lab for the session, with every example report and a notebook whose cells they name."""
    lab = start_lab(tmp_path_factory.mktemp("lab"))
    store = lab.opened()
    for name in ("empty", "left_eager", "troubled", "healthy"):
        seed(store, name)
    healthy = decode((REPORTS / "healthy.json").read_bytes()).report
    notebook = nbformat.v4.new_notebook()
    for source in healthy.sources:
        cell = nbformat.v4.new_code_cell(source.text, execution_count=source.cell)
        cell.id = source.cell_id or cell.id
        notebook.cells.append(cell)
    nbformat.write(notebook, lab.work / "digits.ipynb")
    yield lab
    stop(lab)


@pytest.fixture(scope="session")
def empty_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab whose store holds nothing."""
    lab = start_lab(tmp_path_factory.mktemp("empty-lab"))
    yield lab
    stop(lab)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


def visit(context: BrowserContext, lab: Lab, path: str = "lab", *, dark: bool = False) -> Page:
    """JupyterLab opened and ready, in a workspace of its own."""
    page = context.new_page()
    page.goto(f"{lab.url}/{path}?token={TOKEN}&reset")
    page.wait_for_function("() => window.jupyterapp !== undefined", timeout=60_000)
    page.evaluate("async () => { await window.jupyterapp.restored; }")
    # The lab keeps the theme of the visit before.
    light = str(not dark).lower()
    if page.get_attribute("body", "data-jp-theme-light") != light:
        run(page, "apputils:change-theme", {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"})
        page.wait_for_selector(f"body[data-jp-theme-light='{light}']", state="attached")
    return page


def run(page: Page, command: str, arguments: dict[str, object] | None = None) -> None:
    """Execute a command; its result stays in the page, since widgets cannot leave it."""
    page.evaluate("async ([c, a]) => { await window.jupyterapp.commands.execute(c, a); }", [command, arguments or {}])


@pytest.fixture
def open_panel(context: BrowserContext, lab: Lab) -> Callable[..., Page]:
    """A function that opens the lab with the panel, wide (a tab) or narrow (the side bar)."""

    def opened(*, wide: bool = False, dark: bool = False, run_name: str | None = None) -> Page:
        page = visit(context, lab, dark=dark)
        run(page, "stc:open-tab" if wide else "stc:open")
        page.get_by_role("button", name="Choose a run").first.wait_for()
        if run_name is not None:
            choose(page, run_name)
        return page

    return opened


def choose(page: Page, name: str) -> None:
    """Pick a run in the visible panel by its name."""
    panel = shown(page)
    panel.get_by_role("button", name="Choose a run").click()
    panel.get_by_role("searchbox", name="Filter runs").fill(name)
    panel.locator(".stc-Run-open").first.click()
    panel.get_by_role("tab", name="Overview").wait_for()


def shown(page: Page):  # type: ignore[no-untyped-def]
    """The panel that can be seen."""
    return page.locator(".stc-Panel:visible").first


def side_width(page: Page, pixels: int) -> None:
    """Give the side bar this width."""
    page.evaluate(
        """pixels => {
          const shell = window.jupyterapp.shell;
          const split = [...document.querySelectorAll('#jp-main-split-panel')][0];
          const handle = shell._hsplitPanel ?? shell.hsplitPanel;
          const total = split.clientWidth;
          const left = shell.leftCollapsed ? 0 : 250;
          handle.setRelativeSizes([left, total - left - pixels, pixels]);
        }""",
        pixels,
    )
    page.wait_for_timeout(300)


def shot(page: Page, name: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


__all__ = ["Lab", "choose", "msgspec", "run", "seed", "shot", "shown", "side_width", "visit"]
