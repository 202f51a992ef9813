"""The panel's frame: the list of runs, the overview, what leads into it and out of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from fixtures.lab import Lab, choose, open_notebook, run, seed, shot, shown, side_width, visit
from stc.analyse import summaries

Open = Callable[..., Page]
On = Callable[[str], Page]


def names(page: Page) -> list[str]:
    """Names in the open list of runs, from top to bottom."""
    return shown(page).locator(".stc-Run-name").all_inner_texts()


def listed(page: Page) -> None:
    shown(page).get_by_role("button", name="Choose a run").click()
    shown(page).locator(".stc-Run-name").first.wait_for()


class TestTheListOfRuns:
    def test_the_newest_run_is_on_top_and_runs_are_grouped_by_notebook(self, open_panel: Open) -> None:
        page = open_panel()
        listed(page)
        kept = [
            n
            for n in names(page)
            if n.partition(" ")[0] in ("regressor.ipynb", "digits.ipynb", "tiny.ipynb", "notes.ipynb")
        ]
        assert kept == ["regressor.ipynb In[3]", "digits.ipynb In[2]", "tiny.ipynb In[2]", "notes.ipynb In[4]"]
        expect(shown(page).get_by_role("region", name="regressor.ipynb")).to_be_visible()

    def test_a_live_run_is_above_all_others_with_a_pulse(self, empty_lab: Lab, context: BrowserContext) -> None:
        # given a finished run and one that goes on
        store = empty_lab.opened()
        finished, live = seed(store, "troubled"), seed(store, "running")
        page = visit(context, empty_lab)
        run(page, "stc:open")
        listed(page)
        # then the live one is first
        group = shown(page).locator(".stc-Runs-list section").first
        expect(group.locator(".stc-Runs-group")).to_have_text("Running")
        expect(group.locator(".stc-Mark.stc-mod-running .stc-Mark-ring").first).to_be_attached()
        # and cannot be deleted
        expect(group.get_by_role("button", name="Delete digits").first).to_be_disabled()
        store.delete(finished)
        assert store.run(live).status == "running"

    def test_a_filter_finds_and_says_where_nothing_does(self, open_panel: Open) -> None:
        page = open_panel()
        listed(page)
        field = shown(page).get_by_role("searchbox", name="Filter runs")
        expect(field).to_be_focused()
        field.fill("regr")
        expect(shown(page).locator(".stc-Run-name")).to_have_text(["regressor.ipynb In[3]"])
        field.fill("<b>nothing</b>")
        expect(shown(page).get_by_text("No run matches “<b>nothing</b>”.")).to_be_visible()

    def test_the_keyboard_goes_through_it(self, open_panel: Open) -> None:
        page = open_panel(run_name="digits")
        listed(page)
        shown(page).get_by_role("searchbox", name="Filter runs").fill(".ipynb In")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        chosen = page.evaluate("() => document.activeElement.querySelector('.stc-Run-name')?.textContent")
        page.keyboard.press("Enter")
        expect(shown(page).locator(".stc-Runs-name")).to_have_text(chosen)
        listed(page)
        page.keyboard.press("Escape")
        expect(shown(page).locator(".stc-Runs-list")).to_have_count(0)
        expect(shown(page).get_by_role("button", name="Choose a run")).to_be_focused()

    def test_a_run_gets_another_name_in_the_store(self, open_panel: Open, lab: Lab) -> None:
        identity = seed(lab.opened(), "left_eager")
        lab.opened().rename(identity, "to be renamed")
        page = open_panel()
        listed(page)
        row = shown(page).locator(".stc-Run").filter(has_text="to be renamed")
        row.hover()
        row.get_by_role("button", name="Rename to be renamed").click()
        page.keyboard.type("<i>new</i> name")
        page.keyboard.press("Enter")
        expect(shown(page).locator(".stc-Run-name").filter(has_text="<i>new</i> name")).to_be_visible()
        assert lab.opened().run(identity).name == "<i>new</i> name"
        lab.opened().delete(identity)

    def test_only_the_run_that_was_confirmed_is_deleted(self, open_panel: Open, lab: Lab) -> None:
        identity = seed(lab.opened(), "left_eager")
        lab.opened().rename(identity, "to be deleted")
        before = {r.id for r in lab.opened().runs()}
        page = open_panel()
        listed(page)
        row = shown(page).locator(".stc-Run").filter(has_text="to be deleted")
        # when it is called off, nothing happens
        row.hover()
        row.get_by_role("button", name="Delete to be deleted").click()
        page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        assert {r.id for r in lab.opened().runs()} == before
        # when it is confirmed, that one goes
        if not row.is_visible():
            listed(page)
        row.hover()
        row.get_by_role("button", name="Delete to be deleted").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)
        assert {r.id for r in lab.opened().runs()} == before - {identity}


class TestTheOverview:
    def test_it_begins_with_the_headline_that_every_other_face_has(self, tab_on: On, lab: Lab) -> None:
        page = tab_on("digits")
        identity = next(r.id for r in lab.opened().runs() if r.name == "digits.ipynb In[2]")
        said = next(s.headline for s in summaries(lab.opened()) if s.run.id == identity)
        expect(shown(page).locator(".stc-Headline-says")).to_have_text(said)

    def test_every_figure_has_a_definition_on_focus(self, tab_on: On) -> None:
        page = tab_on("digits")
        figures = shown(page).locator(".stc-Figures .stc-Figure")
        assert figures.count() >= 8
        for position in range(figures.count()):
            figures.nth(position).focus()
            tip = page.get_by_role("tooltip")
            expect(tip).to_be_visible()
            assert len(tip.inner_text()) > 30
        page.keyboard.press("Escape")
        expect(page.get_by_role("tooltip")).to_have_count(0)

    def test_findings_are_worst_first_and_the_rest_is_folded_with_a_count(self, tab_on: On) -> None:
        page = tab_on("regressor")
        cards = shown(page).locator(".stc-Finding")
        expect(cards).to_have_count(3)
        rank = {"error": 0, "warning": 1, "info": 2}
        shown(page).get_by_role("button", name="Show 5 more").click()
        expect(cards).to_have_count(8)
        kinds = [next(k for k in rank if f"stc-mod-{k}" in (c or "")) for c in
                 (cards.nth(i).get_attribute("class") for i in range(8))]  # fmt: skip
        assert [rank[k] for k in kinds] == sorted(rank[k] for k in kinds)

    def test_phases_are_one_bar_whose_parts_have_figures(self, tab_on: On) -> None:
        page = tab_on("digits")
        parts = shown(page).locator(".stc-Phases-bar > span")
        rows = shown(page).locator(".stc-Phases-legend tr:has(td)")
        assert parts.count() == rows.count() >= 5
        bar = shown(page).locator(".stc-Phases-bar").bounding_box()
        assert bar is not None
        widths = [(parts.nth(i).bounding_box() or {"width": 0})["width"] for i in range(parts.count())]
        assert sum(widths) == pytest.approx(bar["width"], abs=4)
        shares = [float(t.split()[0]) for t in rows.locator("td:last-child").all_inner_texts()]
        assert sum(shares) == pytest.approx(100, abs=3)
        # as wide as their share
        largest = max(range(len(shares)), key=lambda i: shares[i])
        assert widths[largest] / bar["width"] == pytest.approx(shares[largest] / 100, abs=0.02)

    def test_the_chart_has_units_on_both_axes(self, tab_on: On) -> None:
        page = tab_on("digits")
        expect(shown(page).locator(".ytitle")).to_have_text("Time of a step (ms)")
        expect(shown(page).locator(".xtitle")).to_have_text("Step")


class TestLocations:
    def test_a_chip_opens_the_notebook_scrolls_to_the_cell_and_marks_the_line(self, open_panel: Open) -> None:
        # given the notebook that the run was in, open
        page = open_panel(run_name="digits")
        open_notebook(page, "digits.ipynb")
        # when the chip of the optimizer is pressed
        chip = shown(page).locator(".stc-Units .stc-Chip").last
        expect(chip).to_have_text("In[2] : 25")
        chip.focus()
        page.keyboard.press("Enter")
        # then its line is selected in the cell's editor
        page.wait_for_function("() => window.getSelection().toString().includes('opt.step()')")
        assert page.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCell.model.executionCount") == 2

    def test_where_the_notebook_is_not_open_it_is_offered_with_the_recorded_source(self, open_panel: Open) -> None:
        page = open_panel(run_name="digits")
        shown(page).locator(".stc-Units .stc-Chip").last.click()
        box = page.get_by_role("dialog", name="Recorded source of In[2]")
        expect(box).to_contain_text("The notebook is not open.")
        expect(box.locator("[aria-current=location]")).to_contain_text("opt.step()")
        box.get_by_role("button", name="Open the notebook").click()
        page.wait_for_function("() => window.getSelection().toString().includes('opt.step()')")

    def test_a_cell_that_is_gone_shows_the_recorded_source(self, open_panel: Open) -> None:
        page = open_panel(run_name="regressor")
        chip = shown(page).locator(".stc-Finding .stc-Chip").first
        chip.click()
        box = page.get_by_role("dialog")
        expect(box.locator("[aria-current=location]")).to_be_visible()
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        expect(chip).to_be_focused()


class TestWhatLeadsToIt:
    def test_palette_menu_and_launcher_have_it(self, context: BrowserContext, lab: Lab) -> None:
        page = visit(context, lab)
        commands = page.evaluate("() => window.jupyterapp.commands.listCommands().filter(c => c.startsWith('stc:'))")
        assert sorted(commands) == ["stc:open", "stc:open-run", "stc:open-tab", "stc:show"]
        run(page, "launcher:create")
        page.locator(".jp-LauncherCard:visible").filter(has_text="STC").first.click()
        expect(page.locator(".jp-MainAreaWidget .stc-Panel:visible")).to_be_visible()
        page.get_by_role("menuitem", name="View", exact=True).click()
        expect(page.get_by_role("menuitem", name="Open the STC panel")).to_be_visible()
        page.keyboard.press("Escape")
        run(page, "apputils:activate-command-palette")
        page.locator(".jp-ModalCommandPalette input").fill("open the stc panel")
        page.locator(".jp-ModalCommandPalette .lm-CommandPalette-item:visible").first.click()
        expect(page.locator("#jp-right-stack .stc-Panel")).to_be_visible()

    def test_a_tab_comes_back_after_a_reload(self, open_panel: Open) -> None:
        page = open_panel(wide=True, run_name="digits")
        page.wait_for_timeout(1500)  # JupyterLab saves its layout a moment later
        page.goto(page.url.split("?")[0])
        expect(page.locator(".jp-MainAreaWidget .stc-Panel:visible")).to_be_visible(timeout=60_000)

    def test_a_link_opens_the_panel_at_its_run(self, context: BrowserContext, lab: Lab) -> None:
        # given a panel that is closed
        page = visit(context, lab)
        expect(page.locator(".stc-Panel:visible")).to_have_count(0)
        wanted = next(r for r in lab.opened().runs() if r.name == "tiny.ipynb In[2]")
        # when a run that is not the newest is asked for
        run(page, "stc:open-run", {"run": wanted.id})
        # then that one is shown
        expect(shown(page).locator(".stc-Runs-name")).to_have_text(wanted.name)
        expect(shown(page).locator(".stc-Headline-says")).to_contain_text("Left eager")

    def test_a_link_to_a_run_that_was_deleted_says_so(
        self, context: BrowserContext, lab: Lab, expected: list[str]
    ) -> None:
        expected.append("404 .*stc/api/runs/20200101-000000-gone")
        page = visit(context, lab)
        run(page, "stc:open-run", {"run": "20200101-000000-gone-0000"})
        expect(shown(page).get_by_role("alert")).to_contain_text("There is no run '20200101-000000-gone-0000'.")
        # and the others are still there to be chosen
        choose(page, "digits")
        expect(shown(page).locator(".stc-Headline-says")).to_be_visible()

    def test_its_settings_are_honoured(self, context: BrowserContext, lab: Lab) -> None:
        # given the Fusion tab as the first one, and no status item, while a run goes on
        live = seed(lab.opened(), "running")
        page = visit(context, lab)
        expect(page.locator(".stc-Status-button")).to_be_visible()
        save = "s => window.jupyterapp.serviceManager.settings.save('jupyterlab-stc:plugin', s)"
        page.evaluate(save, '{"tab": "fusion", "statusItem": false}')
        try:
            # when JupyterLab is opened
            page = visit(context, lab)
            run(page, "stc:open")
            # then Fusion is shown and the status bar is quiet
            expect(shown(page).get_by_role("tab", name="Fusion")).to_have_attribute("aria-selected", "true")
            expect(shown(page).locator(".stc-Runs-toggle .stc-mod-running")).to_be_visible()
            expect(page.locator(".stc-Status-button")).to_be_hidden()
        finally:
            page.evaluate(save, "{}")
            lab.opened().delete(live)


class TestEveryWidthAndTheme:
    VIEWS = ("Overview", "Fusion", "Breaks")

    @pytest.mark.parametrize("width", [280, 420, None], ids=["280px", "420px", "tab"])
    def test_nothing_is_cut_off_and_nothing_scrolls_sideways(self, open_panel: Open, width: int | None) -> None:
        page = open_panel(wide=width is None)
        if width is not None:
            side_width(page, width)
        for name in ("digits", "regressor", "tiny", "notes"):
            choose(page, name)
            for view in self.VIEWS:
                self.see_all_of(page, view)
                shot(page, f"{name}-{width or 'tab'}-light-{view.lower()}")
                assert cut_off(page) == [], (name, view)
        self.see_a_kernel(page)
        assert cut_off(page) == []

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_text_stands_out_from_what_is_behind_it(self, open_panel: Open, dark: bool) -> None:
        page = open_panel(wide=True, dark=dark)
        for name in ("digits", "regressor"):
            choose(page, name)
            for view in self.VIEWS:
                self.see_all_of(page, view)
                shot(page, f"{name}-tab-{'dark' if dark else 'light'}-{view.lower()}")
                assert faint(page) == [], (name, view)
        self.see_a_kernel(page)
        assert faint(page) == []

    def see_all_of(self, page: Page, view: str) -> None:
        """Go to a view and unfold what is folded in it, of the rows the first."""
        shown(page).get_by_role("tab", name=view).click()
        page.wait_for_timeout(200)
        click = "all => all.forEach(one => one.click())"
        shown(page).locator(".stc-Findings + button[aria-expanded=false]").evaluate_all(click)
        shown(page).locator("[data-index='0'] .stc-Fold[aria-expanded=false]").evaluate_all(click)
        shown(page).locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        page.wait_for_timeout(100)

    def see_a_kernel(self, page: Page) -> None:
        choose(page, "digits")
        shown(page).get_by_role("tab", name="Fusion").click()
        shown(page).locator("[aria-label=Kernels] [role=row][data-index='2']").focus()
        page.keyboard.press("Enter")
        expect(shown(page).locator(".stc-Listing-line").first).to_be_visible()
        shown(page).locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")


def cut_off(page: Page) -> list[str]:
    """Texts that do not fit and do not say so, and boxes that can be scrolled sideways although they are not code."""
    return list(page.evaluate(CUT_OFF))


def faint(page: Page) -> list[str]:
    """Texts whose contrast is below 4.5:1."""
    return list(page.evaluate(FAINT))


SCRIPTS = Path(__file__).parent
CUT_OFF = (SCRIPTS / "cut_off.js").read_text()
FAINT = (SCRIPTS / "faint.js").read_text()
