"""Names, reasons and code that look like HTML are text everywhere in the panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from fixtures.lab import Lab, put, shown
from fixtures.made import example
from stc.record.types import Report

Open = Callable[..., Page]
MARKUP = "<img src=x onerror=\"window.hurt='yes'\"><b>bold</b>&lt;%s"
# Fields whose text is the user's or torch's.
FREE = {
    "name", "type", "text", "file", "notebook", "reason", "guard", "before", "after", "function", "detail", "hints",
    "notes", "label", "value", "source", "partial_reason", "definition", "buffers", "unit", "message", "cpu", "host",
}  # fmt: skip


def marked_up(value: Any, key: str = "") -> Any:
    """The same with markup at the end of every line of free text."""
    if isinstance(value, dict):
        return {k: marked_up(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [marked_up(one, key) for one in value]
    if isinstance(value, str) and key in FREE:
        marked = "\n".join(f"{line}{MARKUP}" for line in value.split("\n"))
        return marked.replace("aten.", "aten.<b>")  # of an operation the word after the dot is shown
    return value


@pytest.fixture
def run_name(lab: Lab) -> Iterator[str]:
    report = msgspec.convert(marked_up(msgspec.to_builtins(example("troubled"))), Report)
    store = lab.opened()
    identity = put(store, report, {})
    yield report.run.name
    store.delete(identity)


def test_what_looks_like_html_is_shown_as_it_is_written(open_panel: Open, run_name: str) -> None:
    # given a run in whose names, reasons, guards, files and lines there is markup
    page = open_panel(wide=True, run_name=run_name)
    panel = shown(page)
    unharmed = "() => window.hurt === undefined && document.querySelector('img[src=x], .stc-Panel b') === null"
    # then the list, the overview, a tooltip and the recorded source show it as text
    expect(panel.locator(".stc-Runs-name")).to_have_text(run_name)
    panel.locator(".stc-Findings + button").click()
    expect(panel.locator(".stc-Findings")).to_contain_text(MARKUP)
    panel.locator(".stc-Finding .stc-Chip").first.click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text(MARKUP)
    page.keyboard.press("Escape")
    assert page.evaluate(unharmed)
    # and so do the lens, the tables and a kernel
    panel.get_by_role("tab", name="Fusion").click()
    expect(panel.locator(".stc-Lens")).to_contain_text(MARKUP)
    kernels = panel.locator("[aria-label=Kernels] [role=row][data-id]")
    expect(kernels.first).to_contain_text("<img")
    kernels.first.click()
    expect(panel.locator(".stc-Kernel-full")).to_contain_text(MARKUP)
    expect(panel.locator(".stc-Op").first).to_have_text("<b>addmm")
    expect(panel.locator(".stc-Neighbours")).to_contain_text(MARKUP)
    assert page.evaluate(unharmed)
    # and breaks, guards and the timeline
    panel.get_by_role("tab", name="Breaks").click()
    expect(panel.locator(".stc-Event").first).to_contain_text(MARKUP)
    row = panel.locator("[aria-label=Recompilations] [role=row][data-id]").first
    expect(row).to_contain_text(MARKUP)
    row.click()
    panel.locator("g.stc-Timeline-mark").first.hover()
    assert page.evaluate(unharmed)
