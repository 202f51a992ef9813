"""The panel without a mouse and without sight: names, roles, the order of the keyboard, and a focus that can be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from fixtures.lab import Lab, choose, run, seed, shown, visit

Open = Callable[..., Page]
UNNAMED = (Path(__file__).parent / "unnamed.js").read_text()
VIEWS = ("Overview", "Fusion", "Breaks")
# Whether the focused element looks other than without the focus, and where it is.
FOCUS = """
() => {
  const element = document.activeElement;
  const panel = element?.closest('.stc-Panel');
  if (!panel) {
    return null;
  }
  const looks = () => [element, ...element.querySelectorAll('*')].slice(0, 4).map(e => {
    const style = getComputedStyle(e);
    const outline = style.outlineStyle === 'none' || parseFloat(style.outlineWidth) === 0 ? '' : style.outline;
    return [outline, style.boxShadow, style.borderColor, style.backgroundColor, style.stroke].join();
  }).join();
  const focused = looks();
  const where = `${element.tagName.toLowerCase()}.${element.getAttribute('class')} ${(element.textContent ?? '').slice(0, 30)}`;
  const box = element.getBoundingClientRect();
  const seen = element.matches(':focus-visible') && box.width > 0 && box.height > 0;
  element.blur();
  const differs = looks() !== focused;
  element.focus({ preventScroll: true });
  return { where, seen: seen && differs };
}
"""


@pytest.mark.parametrize("wide", [True, False], ids=["tab", "side bar"])
def test_everything_has_a_name_and_its_place(open_panel: Open, wide: bool) -> None:
    page = open_panel(wide=wide, run_name="digits")
    assert page.evaluate(UNNAMED) == []
    shown(page).get_by_role("button", name="Choose a run").click()
    assert page.evaluate(UNNAMED) == []
    page.keyboard.press("Escape")
    for name in ("digits", "regressor"):
        choose(page, name)
        for view in VIEWS:
            shown(page).get_by_role("tab", name=view).click()
            page.wait_for_timeout(200)
            assert page.evaluate(UNNAMED) == [], (name, view)
    choose(page, "digits")
    shown(page).get_by_role("tab", name="Fusion").click()
    shown(page).locator("[aria-label=Kernels] [role=row][data-id]").nth(2).click()
    expect(shown(page).locator(".stc-Listing-line").first).to_be_visible()
    assert page.evaluate(UNNAMED) == []


def test_tabs_are_one_stop_and_arrows_go_between_them(tab_on: Callable[[str], Page]) -> None:
    page = tab_on("digits")
    tabs = shown(page).get_by_role("tablist", name="Views of the run").get_by_role("tab")
    shown(page).get_by_role("tab", name="Overview").focus()
    for key, selected in (
        ("ArrowRight", "Fusion"),
        ("End", "Breaks"),
        ("ArrowRight", "Overview"),
        ("ArrowLeft", "Breaks"),
    ):
        page.keyboard.press(key)
        expect(tabs.and_(page.locator("[aria-selected=true]"))).to_have_count(1)
        current = shown(page).get_by_role("tab", name=selected)
        expect(current).to_be_focused()
        expect(current).to_have_attribute("aria-selected", "true")
        expect(shown(page).get_by_role("tabpanel", name=selected)).to_be_visible()
        expect(tabs.and_(page.locator("[tabindex='0']"))).to_have_count(1)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_tab_goes_through_the_panel_and_out_of_it_and_the_focus_can_always_be_seen(
    open_panel: Open, dark: bool
) -> None:
    page = open_panel(run_name="regressor", dark=dark)
    page.wait_for_load_state("networkidle")  # JupyterLab gives the focus to its launcher some time after its start
    for view in VIEWS:
        shown(page).get_by_role("tab", name=view).click()
        shown(page).get_by_role("button", name="Choose a run").focus()
        stops = []
        for _ in range(80):
            page.keyboard.press("Tab")
            stop = page.evaluate(FOCUS)
            if stop is None:
                break
            stops.append(stop)
        else:
            pytest.fail(f"no way out of {view}: {stops[-5:]}")
        assert len(stops) > 4, view
        assert [stop["where"] for stop in stops if not stop["seen"]] == [], view


def test_a_table_is_walked_with_the_arrow_keys_and_enter_opens(tab_on: Callable[[str], Page]) -> None:
    page = tab_on("digits")
    shown(page).get_by_role("tab", name="Fusion").click()
    table = shown(page).get_by_role("grid", name="Kernels")
    count = int(table.get_attribute("aria-rowcount") or 0) - 1
    rows = table.locator("[role=row][data-id]")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("End")
    expect(rows.nth(count - 1)).to_be_focused()
    page.keyboard.press("Home")
    expect(rows.first).to_be_focused()
    expect(rows.and_(page.locator("[tabindex='0']"))).to_have_count(1)
    page.keyboard.press("Enter")
    expect(shown(page).locator(".stc-Kernel-title")).to_be_focused()


def test_nothing_moves_for_people_who_ask_for_that(context: BrowserContext, empty_lab: Lab) -> None:
    store = empty_lab.opened()
    live = seed(store, "running")
    page = visit(context, empty_lab)
    run(page, "stc:open")
    ring = shown(page).locator(".stc-Runs-toggle .stc-Mark-ring")
    moving = "e => e.getAnimations().filter(a => a.playState === 'running').length"
    expect(ring).to_be_attached()
    assert ring.evaluate(moving) == 1
    page.emulate_media(reduced_motion="reduce")
    assert ring.evaluate(moving) == 0
    assert store.run(live).status == "running"
