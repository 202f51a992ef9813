"""Fusion: graphs, kernels and the code they came from, which light each other up, and a kernel in full."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from fixtures.lab import rows, shown, side_width, view
from fixtures.made import example

Open = Callable[..., Page]
On = Callable[[str], Page]
HEALTHY = example("healthy")
KERNELS = [k for g in HEALTHY.compile.graphs for k in g.kernels]


def labels(panel: Locator) -> list[str]:
    return [text.split("\n")[0] for text in rows(panel, "Kernels").all_inner_texts()]


class TestTheTables:
    def test_every_graph_and_every_kernel_has_a_row_with_units(self, tab_on: On) -> None:
        panel = view(tab_on("digits"), "Fusion")
        expect(rows(panel, "Graphs")).to_have_count(len(HEALTHY.compile.graphs))
        expect(rows(panel, "Kernels")).to_have_count(len(KERNELS))
        third = rows(panel, "Kernels").nth(2)
        expect(third).to_contain_text("F3")
        assert re.search(r"\d\s[kM]B", third.inner_text())

    def test_a_heading_sorts_and_sorts_the_other_way(self, tab_on: On) -> None:
        panel = view(tab_on("digits"), "Fusion")
        before = labels(panel)
        heading = panel.locator("[aria-label=Kernels]").get_by_role("columnheader", name="Ops")
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", "descending")
        largest = max(KERNELS, key=lambda k: len(k.ops))
        expect(rows(panel, "Kernels").first).to_contain_text(f"{len(largest.ops)}")
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", "ascending")
        heading.get_by_role("button").click()
        assert labels(panel) == before

    def test_a_slash_leads_to_the_filter_which_finds_operations(self, tab_on: On) -> None:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        rows(panel, "Kernels").first.focus()
        page.keyboard.press("/")
        expect(panel.get_by_role("searchbox", name=re.compile("Filter the kernels"))).to_be_focused()
        page.keyboard.type("addmm")
        wanted = sum(any("addmm" in op.name for op in k.ops) or "addmm" in k.name for k in KERNELS)
        expect(rows(panel, "Kernels")).to_have_count(wanted)
        page.keyboard.press("Escape")
        expect(rows(panel, "Kernels")).to_have_count(len(KERNELS))

    def test_a_graph_narrows_the_kernels_to_its_own(self, tab_on: On) -> None:
        panel = view(tab_on("digits"), "Fusion")
        rows(panel, "Graphs").nth(1).click()
        expect(rows(panel, "Kernels")).to_have_count(len(HEALTHY.compile.graphs[1].kernels))
        panel.get_by_role("button", name="Show all graphs").click()
        expect(rows(panel, "Kernels")).to_have_count(len(KERNELS))

    def test_where_it_is_narrow_a_row_unfolds_to_what_has_no_column(self, open_panel: Open) -> None:
        page = open_panel(run_name="digits")
        side_width(page, 300)
        panel = view(page, "Fusion")
        row = rows(panel, "Kernels").nth(2)
        row.focus()
        page.keyboard.press("ArrowRight")
        expect(row).to_have_attribute("aria-expanded", "true")
        details = panel.locator(".stc-Table-details").first
        for word in ("Kind", "In", "Out", "Groups", "Lines"):
            expect(details.locator("dt").filter(has_text=re.compile(f"^{word}$"))).to_be_visible()


class TestAKernel:
    @pytest.fixture
    def page(self, tab_on: On) -> Page:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        rows(panel, "Kernels").nth(2).focus()
        page.keyboard.press("Enter")
        return page

    def test_it_opens_to_operations_neighbours_buffers_and_code(self, page: Page) -> None:
        kernel = KERNELS[2]
        panel = shown(page)
        expect(panel.locator(".stc-Kernel-title")).to_contain_text("F3")
        assert panel.locator(".stc-Op").count() >= 1
        assert kernel.name in panel.locator(".stc-Kernel").inner_text()
        edges = [e for e in HEALTHY.compile.graphs[0].not_fused if kernel.id in (e.first, e.second)]
        expect(panel.locator(".stc-Neighbours > li")).to_have_count(len(edges))
        for edge in edges:
            expect(panel.locator(".stc-Neighbours")).to_contain_text(edge.reason.replace("`", "").rstrip("."))
        expect(panel.get_by_role("row").filter(has_text=kernel.layout[0].buffer).first).to_be_visible()
        code = panel.get_by_role("region", name=re.compile("Generated code"))
        expect(code.locator(".stc-Listing-line")).not_to_have_count(0)
        expect(code.locator("[class*=tok-]").first).to_be_visible()  # coloured

    def test_a_neighbour_is_a_way_to_it_and_escape_leads_back(self, page: Page) -> None:
        panel = shown(page)
        link = panel.locator(".stc-Neighbour-link").first
        name = link.inner_text().split()[0]
        link.click()
        expect(panel.locator(".stc-Kernel-title")).to_contain_text(name)
        page.keyboard.press("Escape")
        expect(rows(panel, "Kernels")).to_have_count(len(KERNELS))
        expect(rows(panel, "Kernels").filter(has_text=name).first).to_be_focused()

    def test_its_code_can_be_copied(self, page: Page) -> None:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        shown(page).locator(".stc-Listing-copy").click()
        expect(shown(page).locator(".stc-Listing-copy")).to_have_text("Copied")
        assert "kernel" in page.evaluate("() => navigator.clipboard.readText()")


class TestTheCodeLens:
    def test_a_row_lights_its_lines_and_a_line_its_rows(self, tab_on: On) -> None:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        # given a kernel and the lines it was made from
        lines = {op.location.line for op in KERNELS[2].ops if op.location is not None}
        # when the pointer is on its row
        rows(panel, "Kernels").nth(2).hover()
        # then those lines light up
        lit = panel.locator(".stc-Lens-line.stc-mod-lit .stc-Lens-number")
        expect(lit).to_have_count(len(lines))
        assert {int(t) for t in lit.all_inner_texts()} == lines
        # and when it is on one of them, the rows of its kernels do
        line = min(lines)
        panel.locator(".stc-Lens-line").filter(has=page.locator(f".stc-Lens-number:text-is('{line}')")).hover()
        wanted = sum(any(op.location and op.location.line == line for op in k.ops) for k in KERNELS)
        expect(panel.locator("[aria-label=Kernels] .stc-Table-row.stc-mod-lit")).to_have_count(wanted)

    def test_the_keyboard_lights_both_sides_as_the_pointer_does(self, tab_on: On) -> None:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        # when the focus is on a row, then the lines of its kernel light up
        rows(panel, "Kernels").first.focus()
        page.keyboard.press("ArrowDown")
        lit = panel.locator(".stc-Lens-line.stc-mod-lit .stc-Lens-number")
        lines = {op.location.line for op in KERNELS[1].ops if op.location is not None}
        expect(lit).to_have_count(len(lines))
        assert {int(t) for t in lit.all_inner_texts()} == lines
        # and when it is on a line, the rows of its kernels do
        panel.locator("button.stc-Lens-number").first.focus()
        page.keyboard.press("ArrowDown")
        line = int(panel.locator("button.stc-Lens-number").nth(1).inner_text())
        wanted = sum(any(op.location and op.location.line == line for op in k.ops) for k in KERNELS)
        expect(panel.locator("[aria-label=Kernels] .stc-Table-row.stc-mod-lit")).to_have_count(wanted)

    def test_a_line_narrows_the_kernels_and_a_chip_takes_that_back(self, tab_on: On) -> None:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        number = panel.locator("button.stc-Lens-number").first
        line = int(number.inner_text())
        number.focus()
        page.keyboard.press("Enter")
        wanted = sum(any(op.location and op.location.line == line for op in k.ops) for k in KERNELS)
        expect(rows(panel, "Kernels")).to_have_count(wanted)
        panel.get_by_role("button", name="Show the kernels of all lines").click()
        expect(rows(panel, "Kernels")).to_have_count(len(KERNELS))

    def test_arrow_keys_go_from_line_to_line_and_into_the_blocks(self, tab_on: On) -> None:
        page = tab_on("digits")
        panel = view(page, "Fusion")
        numbers = panel.locator("button.stc-Lens-number")
        numbers.first.focus()
        page.keyboard.press("ArrowDown")
        expect(numbers.nth(1)).to_be_focused()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("() => document.activeElement.className").startswith("stc-Lens-block")

    def test_a_line_that_broke_the_graph_leads_to_its_break(self, tab_on: On) -> None:
        panel = view(tab_on("regressor"), "Fusion")
        panel.locator(".stc-Lens-break").first.click()
        expect(panel.get_by_role("tab", name=re.compile("Breaks"))).to_have_attribute("aria-selected", "true")
        expect(panel.locator(".stc-Event.stc-mod-selected")).to_have_count(1)
