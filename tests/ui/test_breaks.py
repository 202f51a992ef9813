"""Breaks and recompilations: when they were, what they read before and after, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fixtures.lab import rows, view
from fixtures.made import example

On = Callable[[str], Page]


@pytest.fixture
def panel(tab_on: On) -> Locator:
    return view(tab_on("regressor"), "Breaks")


def test_the_limit_leads_and_every_break_has_its_line_and_next_step(panel: Locator) -> None:
    events = panel.locator(".stc-Event")
    expect(events.first).to_contain_text("is not compiled any more from call 9 on")
    breaks = [b for b in example("troubled").compile.breaks if not b.benign]
    expect(panel.locator(".stc-Event:not(.stc-mod-limit)").filter(has_text="What to do")).to_have_count(len(breaks))
    for broken in breaks:
        assert broken.location is not None
        expect(panel).to_contain_text((broken.location.text or "").strip())


def test_a_guard_shows_its_value_before_and_after(panel: Locator) -> None:
    found = [r for r in example("troubled").compile.recompilations if not r.benign]
    first = rows(panel, "Recompilations").first
    expect(first).to_contain_text(found[0].guard)
    expect(first).to_contain_text(f"{found[0].before} → {found[0].after}")
    first.click()
    expect(panel.locator(".stc-Table-details").first).to_contain_text(found[0].reason[:30])


def test_the_timeline_narrows_to_the_events_of_a_step(panel: Locator) -> None:
    moment = panel.locator("g.stc-Timeline-mark.stc-mod-octagon").first
    moment.click()
    chip = panel.get_by_role("button", name="Show the events of all steps")
    expect(chip).to_contain_text("Step 9")
    expect(panel.locator(".stc-Event:visible")).to_have_count(1)
    chip.click()
    expect(panel.locator(".stc-Event:visible")).to_have_count(3)


@pytest.mark.parametrize(
    ("run_name", "says"), [("digits", "No breaks, nothing compiled twice"), ("tiny", "Left eager"), ("notes", "no model was called")]
)  # fmt: skip
def test_where_there_is_nothing_it_says_why(tab_on: On, run_name: str, says: str) -> None:
    panel = view(tab_on(run_name), "Breaks")
    expect(panel.locator(".stc-Empty")).to_contain_text(says)
