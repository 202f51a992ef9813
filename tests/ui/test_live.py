"""A run seen while it goes on: a real kernel trains in a notebook, and the panel beside it tells of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from fixtures.lab import Lab, open_notebook, run, shown, visit
from stc.record.store import Store

MODEL = """
import time, torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
    def forward(self, x):
        return torch.relu(self.lin(x)).sum()
model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(4, 8)
"""
TRAIN = """
%%stc_compile --plan inductor --name {name}
for step in range({steps}):
    opt.zero_grad()
    model(x).backward()
    opt.step()
    time.sleep({pause})
"""


def notebook(lab: Lab, name: str, *cells: str) -> str:
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    made.cells = [nbformat.v4.new_code_cell(cell.strip()) for cell in cells]
    nbformat.write(made, lab.work / f"{name}.ipynb")
    return f"{name}.ipynb"


def run_all(page: Page) -> None:
    """Start all cells; does not wait for them."""
    page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-all-cells'); }")


@pytest.fixture
def page(context: BrowserContext, lab: Lab) -> Iterator[Page]:
    page = visit(context, lab)
    yield page
    page.evaluate("async () => { await window.jupyterapp.serviceManager.sessions.shutdownAll(); }")


def test_a_run_is_followed_live_and_its_end_is_announced(page: Page, lab: Lab) -> None:
    # given a notebook that trains for some seconds, with the panel open beside it
    open_notebook(
        page, notebook(lab, "live", MODEL, "%load_ext stc", TRAIN.format(name="followed", steps=250, pause=0.02))
    )
    run(page, "stc:open")
    panel = shown(page)
    # when its cells run
    run_all(page)
    # then the panel turns to the run by itself, with a pulse, and so does the status bar
    expect(panel.locator(".stc-Runs-name")).to_have_text("followed", timeout=60_000)
    expect(panel.locator(".stc-Runs-toggle .stc-mod-running")).to_be_visible()
    expect(page.locator(".stc-Status-button")).to_contain_text("STC: ")
    # and counts its steps while it goes on
    steps = panel.locator(".stc-Figures > div").filter(has=page.get_by_text("Steps", exact=True)).locator("dd")
    expect(steps).to_have_text(re.compile(r"^\d+$"), timeout=60_000)
    first = int(steps.inner_text())
    expect(panel.locator(".stc-Headline-says")).to_contain_text("Running, step", timeout=60_000)
    page.wait_for_function(
        """([selector, before]) => [...document.querySelectorAll(selector)].some(e => e.offsetParent && +e.textContent > before)""",
        arg=[".stc-Figures > div dd", first + 20],
        timeout=60_000,
    )
    # and when it has ended, says how it went, once for those who cannot see it
    expect(panel.locator(".stc-Runs-toggle .stc-mod-completed")).to_be_visible(timeout=60_000)
    expect(steps).to_have_text("250")
    expect(panel.locator("[role=status][aria-live=polite]").last).to_contain_text("followed has ended.")
    expect(page.locator(".stc-Status-button")).to_have_count(0)
    report = Store.open(lab.store).find("followed")
    assert report is not None


def test_the_cells_output_leads_to_its_run_and_stays_in_the_saved_notebook(page: Page, lab: Lab) -> None:
    # given a cell that has run, and another run shown in the panel
    path = notebook(
        lab, "output", MODEL, "%load_ext stc", TRAIN.format(name="linked", steps=4, pause=0),
        TRAIN.format(name="newer", steps=4, pause=0),
    )  # fmt: skip
    open_notebook(page, path)
    run(page, "stc:open")
    run_all(page)
    expect(shown(page).locator(".stc-Runs-name")).to_have_text("newer", timeout=90_000)
    outputs = page.locator(".jp-NotebookPanel:visible .stc-summary")
    expect(outputs).to_have_count(2, timeout=60_000)
    # when its link is followed
    outputs.first.get_by_text("Open in the STC panel").click()
    # then the panel shows that run
    expect(shown(page).locator(".stc-Runs-name")).to_have_text("linked")
    # and when the notebook is saved, its file holds the summary as static HTML, with no progress display left
    run(page, "docmanager:save")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context?.model?.dirty")
    saved = json.loads(Path(lab.work / path).read_text())
    data = [o["data"] for cell in saved["cells"] for o in cell["outputs"] if "data" in o]
    summaries = [d for d in data if d != {"text/plain": []}]  # where progress was shown, nothing is left
    assert [sorted(d) for d in summaries] == [["application/vnd.stc.run+json", "text/html", "text/plain"]] * 2
    html = "".join(summaries[0]["text/html"])
    assert "<script" not in html and "Compiled" in html
    # and reopened, it is there as it was
    run(page, "docmanager:reload")
    expect(page.locator(".jp-NotebookPanel:visible .stc-summary")).to_have_count(2)


def test_a_finished_run_can_be_looked_into_as_a_widget(page: Page, lab: Lab) -> None:
    # given a run, and a cell that shows it for notebooks without the panel
    cells = [MODEL, "%load_ext stc", TRAIN.format(name="shown", steps=4, pause=0), "import stc; stc.show('shown')"]
    open_notebook(page, notebook(lab, "widget", *cells))
    run_all(page)
    # then graphs, kernels and findings are there to be chosen
    output = page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output").last
    expect(output.get_by_role("tab", name="Graphs and kernels")).to_be_visible(timeout=90_000)
    chooser = output.locator("select").first
    expect(chooser.locator("option").first).to_contain_text("forward of Net.forward")
    kernels = output.locator("select").nth(1)
    expect(kernels.locator("option").first).to_contain_text("F1")
    kernels.select_option(index=1)
    expect(output.locator("b").filter(has_text="F2").first).to_be_visible()
    output.get_by_role("tab", name="Findings").click()
    expect(output.get_by_text("None: nothing stood out.")).to_be_visible()
