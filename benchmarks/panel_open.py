"""Opening a report with 200 graphs and 10,000 kernels in the panel: under 1 s from the click to the kernels on the screen.

A real JupyterLab and a real Chromium; each time in a fresh page, since the panel keeps what it has once loaded.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright
from tests.fixtures.lab import choose, seed, shown, start_lab, stop, visit
from tests.fixtures.lab import run as command

from stc.analyse import summarise

from .paired import Result, fresh_folder
from .report_open import GRAPHS, KERNELS, begin

TIMES = 5
# From the click on the run in the list until its kernels have been painted, in milliseconds.
OPEN = """
async count => {
  const panel = [...document.querySelectorAll('.stc-Panel')].find(e => e.offsetParent !== null);
  const wanted = [...panel.querySelectorAll('.stc-Run-open')].find(e => e.textContent.includes('large'));
  const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
  const there = () =>
    [...panel.querySelectorAll('.stc-Count')].some(e => e.textContent === count) &&
    panel.querySelectorAll("[aria-label='Kernels'] [role=row][data-id]").length > 5;
  const began = performance.now();
  wanted.click();
  while (!there()) {
    await frame();
  }
  await frame();
  return performance.now() - began;
}
"""


def run() -> list[Result]:
    folder = Path(fresh_folder())
    lab = start_lab(folder)
    try:
        store = lab.opened()
        writer, report = begin(store)
        writer.close(report, summarise(report), timeout_s=60)
        seed(store, "healthy")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium") or shutil.which("google-chrome"),
                args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
            )
            taken = []
            for _ in range(TIMES):
                context = browser.new_context(viewport={"width": 1400, "height": 900})
                page = visit(context, lab)
                command(page, "stc:open-tab")
                page.get_by_role("button", name="Choose a run").first.wait_for()
                choose(page, "digits")
                shown(page).get_by_role("tab", name="Fusion").click()
                page.wait_for_timeout(1000)
                shown(page).get_by_role("button", name="Choose a run").click()
                taken.append(page.evaluate(OPEN, f"{GRAPHS * KERNELS:,}"))
                context.close()
            browser.close()
    finally:
        stop(lab)
        shutil.rmtree(folder, ignore_errors=True)
    name = "the same in the panel, from click to kernels"
    return [Result(name, f"{median(taken):.0f} ms", "< 1 s", median(taken) < 1000, TIMES)]
