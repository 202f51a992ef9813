"""Renderings of a report: short enough, complete, escaped, and the same words everywhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from msgspec.structs import replace

from fixtures.made import GRAPH, REPORTS, at, cell, example, report
from stc.analyse import judge, summarise
from stc.record.types import (
    Break,
    CacheUse,
    CodeRef,
    Failure,
    Kernel,
    Layout,
    Location,
    NotFused,
    Operation,
    Recompilation,
    Report,
    Unit,
)
from stc.render import html, page, summary, text, widget

EXAMPLES = ("healthy", "troubled", "left_eager", "running", "empty")
EVIL = "<script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"


def artefacts(name: str) -> Any:
    def read(artefact: str) -> str | None:
        path = REPORTS / "artefacts" / name / artefact
        return path.read_text() if path.exists() else None

    return read


def evil() -> Report:
    """A report whose every text holds HTML."""
    place = Location(file=EVIL, line=3, text=EVIL, cell_id=EVIL, function=EVIL)
    kernel = Kernel(
        id="k", name=EVIL, kind="cpp", ops=[Operation(name=EVIL, location=place)], notes=[EVIL],
        layout=[Layout(buffer=EVIL, role="read", dtype=EVIL, shape=[EVIL], stride=[EVIL], format=EVIL, reason=EVIL)],
        code=CodeRef(artefact="a.py", first_line=1, last_line=3),
    )  # fmt: skip
    graph = replace(
        GRAPH, id=EVIL, name=EVIL, kernels=[kernel, replace(kernel, id="l")], cache=CacheUse(outcome="bypass", reason=EVIL),
        not_fused=[NotFused(first="k", second="l", reason=EVIL, detail=EVIL, buffers=[EVIL])], folded=[place],
    )  # fmt: skip
    failure = Failure(type=EVIL, message=EVIL, location=place)
    made = report(
        graphs=[graph], breaks=[Break(id="b", reason=EVIL, location=place, detail=EVIL, hints=[EVIL])],
        recompilations=[Recompilation(id="r", function=EVIL, guard=EVIL, reason=EVIL, kind="value", source=EVIL, before=EVIL, after=EVIL)],
        units=[Unit(id="m", kind="model", name=EVIL, type=EVIL, state="failed", failure=failure)],
        run={"name": EVIL, "status": "failed", "failure": failure, "partial": True, "partial_reason": EVIL},
        sources=[replace(cell(1, EVIL), file=EVIL)],
    )  # fmt: skip
    return judge(made)


class Tags(HTMLParser):
    """Collects tags, and fails on one that is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "circle", "line"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def names(self) -> set[str]:
        return {tag for tag, _ in self.found}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_terminals_summary_has_at_most_a_dozen_lines_of_the_given_width(name: str) -> None:
    lines = text.summary(example(name), width=90).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 90
    assert lines[-1].endswith(f"stc show {example(name).run.id}")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_headline_is_the_same_in_every_form(name: str) -> None:
    made = example(name)
    words = re.sub(r"\s", "", made.headline.replace("`", ""))
    for shown in (text.summary(made), text.full(made)):
        assert words in re.sub(r"\s", "", shown.replace("`", ""))
    for marked in (html.summary(made), page.page(made)):
        bare = re.sub(r"<[^>]+>", "", marked).replace("&#x27;", "'")
        assert words in re.sub(r"\s", "", bare)


def test_the_findings_shown_are_the_worst_three_and_the_rest_is_folded_with_a_count() -> None:
    made = example("troubled")
    shown = html.summary(made)
    assert shown.index("is not compiled any more") < shown.index("more findings")
    assert f"{len(made.findings) - 3} more findings" in shown
    assert f"{len(made.findings) - 3} more findings" in text.summary(made)
    assert shown.count("<details") == len(made.findings) + 1


def test_a_location_is_a_chip_and_never_a_path() -> None:
    assert ">In[1] : 16</span>" in html.summary(example("troubled"))
    assert "[In[1] : 16]" in text.summary(example("troubled"))


def test_the_output_links_to_the_panel() -> None:
    links = [a for tag, a in Tags(html.summary(example("healthy"))).found if tag == "button"]
    assert [a["data-commandlinker-command"] for a in links] == ["stc:open-run"]
    assert links[0]["data-commandlinker-args"] == '{"run": "20251201-100000-digits-a1b2"}'


@pytest.mark.parametrize("name", EXAMPLES)
def test_cell_output_and_page_are_whole_html_without_scripts_or_anything_from_elsewhere(name: str) -> None:
    for made in (html.summary(example(name)), page.page(example(name), artefacts(name))):
        tags = Tags(made)
        assert tags.names().isdisjoint({"script", "link", "iframe", "img", "object"})
        assert not any(key.startswith("on") or key == "src" for _, attrs in tags.found for key in attrs)


def test_cell_output_has_no_style_sheet_of_its_own() -> None:
    assert "style" not in Tags(html.summary(example("troubled"))).names()


def test_html_in_names_and_messages_is_escaped() -> None:
    made = evil()
    view = widget.view(made, lambda name: EVIL)
    shown = [html.summary(made), page.page(made, lambda name: EVIL), *_html_of(view)]
    for one in shown:
        assert "<script" not in one and "<img" not in one
        Tags(one)


def test_figures_have_their_definition_on_hover() -> None:
    titles = [a.get("title") or "" for _, a in Tags(html.summary(example("healthy"))).found]
    assert any("Median eager step time over median compiled step time" in t and "Source:" in t for t in titles)


def test_unknown_is_a_dash_and_not_zero() -> None:
    made = text.full(example("troubled"))
    assert "eager –   decomposed 22.0" in made


def test_the_full_text_names_every_kernel_and_finding() -> None:
    for name in ("healthy", "troubled"):
        made = example(name)
        shown = text.full(made, width=200)
        assert all(k.name in shown for g in made.compile.graphs for k in g.kernels)
        assert all(f.code in shown for f in made.findings)


def test_the_full_text_names_every_phase_of_compiling_whole() -> None:
    made = example("healthy")
    words = text.full(made)
    assert made.compile.phases
    for phase in made.compile.phases:
        assert f"  {phase.label} " in words


def test_the_page_shows_a_kernels_operations_neighbours_layout_and_code() -> None:
    shown = page.page(example("healthy"), artefacts("healthy"))
    for words in (
        "aten.max_pool2d_with_indices.default",
        "Not fused",
        "channels_last",
        "saved for backward",
        "int64_t",
        "In[2] : 12",
    ):
        assert words in shown


def test_the_page_marks_lines_that_broke_the_graph_and_lines_folded_away() -> None:
    assert "graph break</span>" in page.page(example("troubled"))
    folded = replace(GRAPH, folded=[at(1, 2, "y = x")])
    kernel = Kernel(id="k", name="k", kind="cpp", ops=[Operation(name="aten.add", location=at(1, 1, "x = a + b"))])
    made = report(graphs=[replace(folded, kernels=[kernel])], sources=[cell(1, "x = a + b\ny = x\n")])
    assert "folded</span>" in page.page(made)


def test_the_page_without_artefacts_says_that_the_code_is_gone() -> None:
    assert "was not recorded or has been removed" in page.page(example("healthy"))


def test_the_run_list_has_one_line_a_run_and_says_so_when_it_is_empty() -> None:
    runs = [summarise(example(name)) for name in EXAMPLES]
    table = text.runs_table(runs, width=140, now=runs[0].run.started_at + 7200).splitlines()
    assert len(table) == len(runs) + 1
    assert "2\u2009h ago" in table[1] and "completed" in table[1]
    assert "✖2 ▲5 ●1" in table[2]
    assert "%%stc_compile" in text.runs_table([])


class TestWidget:
    def test_choosing_a_graph_and_a_kernel_shows_its_detail(self) -> None:
        view = widget.view(example("healthy"), artefacts("healthy"))
        box = view.children[1].children[0]
        chooser, facts, kernels, detail = box.children
        assert len(chooser.options) == 3 and len(kernels.options) == 7
        kernels.value = 2
        assert "aten.rsqrt.default" in detail.value and "int64_t" in detail.value
        chooser.value = 2
        assert len(kernels.options) == 1
        assert "aten.lerp.Scalar" in detail.value
        assert "less than eager" in facts.value

    def test_a_run_with_errors_opens_on_its_findings(self) -> None:
        view = widget.view(example("troubled"), artefacts("troubled"))
        assert view.children[1].selected_index == 1
        assert "recompile" not in view.children[1].children[0].children[3].value

    def test_a_run_without_graphs_shows_its_findings_alone(self) -> None:
        view = widget.view(example("empty"), artefacts("empty"))
        assert len(view.children[1].children) == 1
        assert "no model was called" in view.children[1].children[0].value


def _html_of(view: Any) -> list[str]:
    found = [view.value] if type(view).__name__ == "HTML" else []
    for child in getattr(view, "children", ()):
        found += _html_of(child)
    return found


def test_a_kernel_has_one_label_in_text_page_and_lens() -> None:
    # given kernels of a forward and a backward graph
    made = example("healthy")
    labels = summary.kernel_labels(made)
    forward = next(g for g in made.compile.graphs if g.phase == "forward")
    # then they are counted by phase, in the order of the report
    assert [labels[k.id] for k in forward.kernels] == [f"F{i}" for i in range(1, len(forward.kernels) + 1)]
    assert len(set(labels.values())) == len(labels)
    # and every rendering calls them so
    third = forward.kernels[2]
    assert re.search(rf"^  {labels[third.id]} +{third.kind} ", text.full(made), re.MULTILINE)
    assert f"<b>{labels[third.id]}</b>" in page.page(made, artefacts("healthy"))


def test_a_reason_against_fusing_is_said_once_with_all_the_pairs_it_kept_apart() -> None:
    kernels = [Kernel(id=i, name=f"k{i}", kind="cpp") for i in "abc"]
    edges = [NotFused(first="a", second="b", reason="Too far."), NotFused(first="c", second="c", reason="Too far.")]
    shown = text.full(report(graphs=[replace(GRAPH, phase="backward", kernels=kernels, not_fused=edges)]))
    assert "    B1 and B2, within B3: Too far.\n" in shown
