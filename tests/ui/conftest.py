"""One browser and one lab for the session."""

from __future__ import annotations

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


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


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
