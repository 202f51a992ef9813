"""What a run shows: its bundle of forms, HTML that survives saving and converting, nothing that a page could run, and a view to look into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

from fixtures.kernels import Kernel, Output, a_kernel
from stc.cli import main
from stc.magics.output import MIME

MAKE = """
import torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
    def forward(self, x):
        print("<script>alert('graph')</script>", end="")
        return self.lin(x).tanh()
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOOP = """
for step in range(4):
    opt.zero_grad()
    model(torch.ones(4, 8)).square().mean().backward()
    opt.step()
"""
WIDGET = "application/vnd.jupyter.widget-view+json"
NASTY = "<img src=x onerror=alert(1)>&amp;\"'"


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("output")) as kernel:
        kernel(MAKE)
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


class Page(HTMLParser):
    """What a browser would make of it: the elements, their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def is_static(self) -> bool:
        """Nothing in it runs or loads anything."""
        loading = {"script", "style", "link", "iframe", "img", "object", "embed", "form"}
        return not loading & set(self.elements) and not any(a.startswith("on") or a == "src" for a in self.attributes)


def html_of(output: Output) -> str:
    (bundle,) = output.summaries
    return str(bundle["text/html"])


class TestTheBundle:
    def test_has_a_form_for_everyone(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan inductor" + LOOP)
        (bundle,) = output.summaries
        assert set(bundle) == {MIME, "text/plain", "text/html"}
        report = output.report
        assert bundle[MIME] == {
            "run": report.run.id, "schema_version": report.schema_version, "headline": report.headline,
        }  # fmt: skip
        first = " ".join(report.headline.split(".")[0].split())
        assert first in " ".join(bundle["text/plain"].split())
        assert first in " ".join(Page(bundle["text/html"]).text.split())
        assert Page(bundle["text/html"]).is_static

    def test_tells_the_findings_with_cell_and_line_and_what_to_do(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan inductor" + LOOP)
        page = Page(html_of(output))
        finding = output.report.findings[0]
        assert finding.code == "graph-break"
        assert finding.location is not None and f"{finding.location.file} : {finding.location.line}" in page.text
        assert "What to do:" in page.text

    def test_is_shown_also_where_the_cell_failed(self, kernel: Kernel) -> None:
        output = kernel.run("%%stc_compile --plan eager" + LOOP + "1 / 0")
        assert output.error == "ZeroDivisionError"
        assert "Failed after 4 steps" in Page(html_of(output)).text

    def test_is_the_only_thing_that_a_run_shows_and_says(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan eager\npass")
        assert (output.stdout, output.stderr, output.result) == ("", "", {})
        assert len(output.displays) == 1


class TestEscaping:
    def test_of_names_and_errors_and_lines(self, kernel: Kernel) -> None:
        output = kernel.run(
            f"%%stc_compile --plan inductor --name '<script>alert(2)</script>'{LOOP}raise ValueError({NASTY!r})  # {NASTY}"
        )
        html = html_of(output)
        assert Page(html).is_static
        # And they are there to be read
        assert NASTY in Page(html).text

    def test_of_the_page_and_the_view(self, kernel: Kernel, tmp_path: Path) -> None:
        output = kernel("%%stc_compile --plan inductor --name '<script>alert(3)</script>'" + LOOP)
        assert main(["show", output.run_id, "--html", str(tmp_path / "page.html")]) == 0
        written = Page((tmp_path / "page.html").read_text())
        assert not {"script", "img", "iframe"} & set(written.elements)
        assert not any(name.startswith("on") for name in written.attributes)
        assert "<script>alert(3)</script>" in written.text
        # The view is made of HTML widgets
        told = kernel(
            f"import stc, ipywidgets\nview = stc.show({output.run_id!r})\n"
            "def parts(w):\n    yield w\n    for c in getattr(w, 'children', ()): yield from parts(c)\n"
            "print('\\n'.join(w.value for w in parts(view) if isinstance(w, ipywidgets.HTML)))"
        ).stdout
        assert "<script" not in told
        assert "&lt;script&gt;alert(&#x27;graph&#x27;)&lt;/script&gt;" in told

    def test_of_a_files_name(self, kernel: Kernel, tmp_path: Path) -> None:
        # Given a model in a module whose folder has a name that a page could take for its own
        folder = tmp_path / "<img src=x onerror=alert(4)>"
        folder.mkdir()
        (folder / "nasty_net.py").write_text(MAKE)
        kernel(f"import sys; sys.path.insert(0, {str(folder)!r}); import nasty_net")
        output = kernel("%%stc_compile --plan inductor\nnasty_net.model(torch.ones(2, 8)).sum().backward()")
        place = output.report.findings[0].location
        assert place is not None and "<img src=x onerror=alert(4)>" in place.file
        assert Page(html_of(output)).is_static
        assert place.file in Page(html_of(output)).text


class TestConverting:
    def test_a_saved_notebook_shows_it_as_the_live_one(self, stc_home: Path, tmp_path: Path) -> None:
        # Given a notebook that has been executed and saved
        cells = [new_code_cell(text) for text in ("%load_ext stc", MAKE, "%%stc_compile --plan eager" + LOOP)]
        notebook = new_notebook(cells=cells)
        NotebookClient(
            notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": str(tmp_path)}}
        ).execute()
        file = tmp_path / "saved.ipynb"
        nbformat.write(notebook, file)
        # When it is read again and converted
        again = nbformat.read(file, as_version=4)
        nbformat.validate(again)
        for sanitize in (False, True):
            page, _ = HTMLExporter(sanitize_html=sanitize).from_notebook_node(again)
            # Then the summary is in it, once, and as HTML
            text = " ".join(Page(page).text.split())
            assert text.count("Left eager, as asked: ") == 1
            assert text.count("eager step") == 1
        # And nothing of the progress or of widgets is left in the notebook
        assert "widgets" not in again.metadata
        outputs = again.cells[2].outputs
        assert [o.output_type for o in outputs if "text/html" in o.get("data", {})] == ["display_data"]


class TestProgress:
    def test_tells_what_is_compiled_and_goes_away(self, tmp_path: Path) -> None:
        # Given a kernel with an empty cache, where compiling takes seconds
        with a_kernel(tmp_path, TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "inductor")) as kernel:
            kernel(MAKE)
            output = kernel("%%stc_compile --plan inductor" + LOOP)
            # Then it has said which graph, what for, in which phase and for how long
            told = [text for text in output.passing if text]
            pattern = r"Compiling graph \d+ \((forward|backward|optimizer)\): .+ · \d+ s"
            assert told
            assert all(re.fullmatch(pattern, text) for text in told)
            # And at the end there is the summary alone to be seen
            assert [data for data in output.displays if data not in output.summaries] == [{"text/plain": ""}]
            # When somebody looks at a notebook
            kernel(
                "import os; os.environ['JPY_SESSION_NAME'] = 'seen.ipynb'; other = nn.Sequential(nn.Linear(8, 3), nn.GELU())"
            )
            shown: list[dict[str, object]] = []
            request = kernel.send("%%stc_compile --plan inductor\n_ = other(torch.ones(2, 8))")
            output = kernel.receive(request, watch=lambda so_far: shown.extend(so_far.displays))
            # Then it is a widget, of which nothing is left
            assert any(WIDGET in data for data in shown)
            assert not any(WIDGET in data for data in output.displays)
            assert kernel("import ipywidgets.widgets.widget as w\nlen(w._instances)").value == "0"
            assert output.report.run.name == f"seen In[{output.number}]"


class TestLookingAtRuns:
    def test_show_gives_a_view_of_widgets(self, kernel: Kernel) -> None:
        kernel("%%stc_compile --plan inductor --name looked-at" + LOOP)
        for asked in ("import stc\nstc.show('last')", "stc.show('looked-at')", "%stc_show looked-at", "%stc_show"):
            output = kernel(asked)
            assert WIDGET in output.result

    def test_runs_are_listed(self, kernel: Kernel) -> None:
        output = kernel("%%stc_compile --plan eager --name listed" + LOOP)
        assert "listed" in kernel("%stc_runs").stdout
        assert kernel("stc.runs()[0].run.id").value == repr(output.run_id)

    @pytest.mark.parametrize(
        ("cell", "said"),
        [
            ("stc.show('no such run')", "There is no run 'no such run'. `stc runs` lists them."),
            ("%stc_show one two", "%stc_show takes one run."),
            ("%stc_runs all", "%stc_runs takes no argument."),
        ],
    )
    def test_a_mistake_is_one_sentence(self, kernel: Kernel, cell: str, said: str) -> None:
        output = kernel.run("import stc\n" + cell)
        assert output.status == "error"
        assert output.traceback.startswith(said)
        assert output.traceback.count("\n") == 0
