"""One browser and one lab for the session."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from fixtures.lab import REPORTS, Lab, choose, run, seed, start_lab, stop, visit
from stc.record.codec import decode


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
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
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


# What JupyterLab itself complains of: its theme manager removes a style sheet twice when the theme changes.
NOT_OURS = [r"NotFoundError: Failed to execute 'removeChild' on 'Node'"]


@pytest.fixture
def expected() -> list[str]:
    """Patterns of what a test makes the browser complain of on purpose; a test appends to it."""
    return list(NOT_OURS)


def watched(browser: Browser, complaints: list[str]) -> BrowserContext:
    """A browser context that notes what is thrown or logged as an error in it."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.on("weberror", lambda e: complaints.append(f"thrown: {getattr(e.error, 'stack', None) or e.error}"))
    context.on(
        "console",
        lambda m: complaints.append(f"{m.text} ({m.location.get('url', '')})") if m.type == "error" else None,
    )
    return context


def unexpected(complaints: list[str], expected: list[str]) -> list[str]:
    return [c for c in complaints if not any(re.search(pattern, c) for pattern in expected)]


@pytest.fixture
def context(browser: Browser, expected: list[str]) -> Iterator[BrowserContext]:
    """A browser of a test's own, in which nothing may be thrown or logged as an error."""
    complaints: list[str] = []
    context = watched(browser, complaints)
    yield context
    context.close()
    assert unexpected(complaints, expected) == []


@pytest.fixture(scope="module")
def kept(browser: Browser, lab: Lab) -> Iterator[tuple[Page, list[str]]]:
    """A lab with the panel in a tab, for tests that change nothing outside of the panel, and what it complained of."""
    complaints: list[str] = []
    context = watched(browser, complaints)
    page = visit(context, lab)
    run(page, "stc:open-tab")
    page.get_by_role("button", name="Choose a run").first.wait_for()
    yield page, complaints
    context.close()


@pytest.fixture
def tab_on(kept: tuple[Page, list[str]], expected: list[str]) -> Iterator[Callable[[str], Page]]:
    """A function that shows a run in the panel's tab, with nothing left of what another test has done in it."""
    page, complaints = kept
    complaints.clear()

    def on(run_name: str) -> Page:
        page.mouse.move(0, 0)
        choose(page, "tiny")  # views begin anew with each run
        choose(page, run_name)
        return page

    yield on
    assert unexpected(complaints, expected) == []


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
