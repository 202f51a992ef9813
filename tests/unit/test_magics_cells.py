"""Which cell and line a code object belongs to, in a real IPython shell: cells before and after loading, bodies of magics, blank lines."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from stc.magics.cells import CellRecorder, Running, blank_lines, line_of, notebook
from stc.record.types import Location
from stc.source.places import cell_of, is_user_code, locate, source_of

FUNCTION = "def here():\n    return 1\n"


@pytest.fixture
def shell() -> Iterator[Any]:
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    yield made
    made.restore_sys_module_state()


@pytest.fixture
def recorder(shell: Any) -> Iterator[CellRecorder]:
    made = CellRecorder(shell)
    made.install()
    yield made
    made.uninstall()


def run(shell: Any, text: str, **given: Any) -> Any:
    result = shell.run_cell(text, **{"store_history": True, **given})
    assert result.success, result.error_in_exec or result.error_before_exec
    return result


def place(code: CodeType, line: int | None = None) -> Location:
    return locate(code.co_filename, code.co_firstlineno if line is None else line)


def of(shell: Any, name: str = "here") -> CodeType:
    code = shell.user_ns[name].__code__
    assert isinstance(code, CodeType)
    return code


class TestCellsOfAShell:
    def test_a_function_is_found_in_the_cell_that_made_it(self, shell: Any, recorder: CellRecorder) -> None:
        # Given two cells
        run(shell, "first = 1")
        run(shell, "x = 2\n" + FUNCTION, cell_id="the-id")
        # Then the function's lines are those of the second one
        found = place(of(shell), 3)
        assert (found.file, found.cell, found.cell_id, found.line) == ("In[2]", 2, "the-id", 3)
        assert found.text == "    return 1"
        assert found.path is None
        assert is_user_code(of(shell).co_filename)
        source = source_of(of(shell).co_filename)
        assert source is not None and (source.file, source.text) == ("In[2]", "x = 2\n" + FUNCTION)

    def test_the_same_text_run_again_is_the_newer_cell(self, shell: Any, recorder: CellRecorder) -> None:
        run(shell, FUNCTION, cell_id="one")
        run(shell, FUNCTION, cell_id="one")
        assert place(of(shell)).file == "In[2]"

    def test_lines_are_the_notebooks_where_a_cell_begins_with_blank_ones(
        self, shell: Any, recorder: CellRecorder
    ) -> None:
        run(shell, "\n  \n\n" + FUNCTION)
        found = place(of(shell))
        assert (found.line, found.text) == (4, "def here():")

    def test_a_line_magic_above_does_not_move_lines(self, shell: Any, recorder: CellRecorder) -> None:
        run(shell, "%precision 3\n!true\n" + FUNCTION)
        found = place(of(shell))
        assert (found.line, found.text) == (3, "def here():")

    @pytest.mark.parametrize(
        ("cell", "line"),
        [
            ("%%time\n" + FUNCTION, 2),
            ("\n%%time\n\n" + FUNCTION, 4),
            ("%%capture told\nx = 1\n" + FUNCTION, 3),
            ("%%capture told\n%%time\n" + FUNCTION, 3),
        ],
    )
    def test_in_the_body_of_a_cell_magic(self, shell: Any, recorder: CellRecorder, cell: str, line: int) -> None:
        run(shell, "0")
        run(shell, cell, cell_id="outer")
        found = place(of(shell))
        assert (found.file, found.line, found.cell_id, found.text) == ("In[2]", line, "outer", "def here():")

    def test_what_a_front_end_runs_silently_belongs_to_no_numbered_cell_of_its_own(
        self, shell: Any, recorder: CellRecorder
    ) -> None:
        run(shell, "0")
        run(shell, FUNCTION, store_history=False)
        assert place(of(shell)).cell == 2  # the number that the next cell gets

    def test_the_running_cell_is_known_while_it_runs_and_not_after(self, shell: Any, recorder: CellRecorder) -> None:
        seen: list[Running | None] = []
        shell.user_ns["look"] = lambda: seen.append(recorder.current)
        run(shell, "look()", cell_id="a")
        assert seen[0] is not None and (seen[0].number, seen[0].cell_id) == (1, "a")
        assert recorder.current is None

    def test_also_after_a_cell_that_failed_or_was_no_python(self, shell: Any, recorder: CellRecorder) -> None:
        for text in ("1 / 0", "1 +", "raise KeyboardInterrupt"):
            shell.run_cell(text, store_history=True)
            assert recorder.current is None
        run(shell, FUNCTION)
        assert place(of(shell)).file == "In[4]"

    def test_a_magic_that_runs_part_of_its_cell_as_a_cell_stays_that_cell(
        self, shell: Any, recorder: CellRecorder
    ) -> None:
        seen: list[Running | None] = []
        shell.user_ns["look"] = lambda: seen.append(recorder.current)
        run(shell, "x = 1\nget_ipython().run_cell('look()')\nlook()", cell_id="a")
        assert [r.number for r in seen if r is not None] == [1, 1]


class TestCellsFromBefore:
    def test_are_known_too(self, shell: Any) -> None:
        # Given cells that were run before there was a recorder
        run(shell, "0")
        run(shell, "\n\n" + FUNCTION)
        # When it is installed
        recorder = CellRecorder(shell)
        recorder.install()
        # Then they are known by number and line
        found = place(of(shell))
        assert (found.file, found.line, found.text) == ("In[2]", 3, "def here():")
        recorder.uninstall()

    def test_a_recorder_that_is_taken_out_leaves_no_callback(self, shell: Any) -> None:
        before = {event: list(callbacks) for event, callbacks in shell.events.callbacks.items()}
        recorder = CellRecorder(shell)
        recorder.install()
        assert shell.events.callbacks != before
        recorder.uninstall()
        assert shell.events.callbacks == before
        run(shell, "def unknown(): ...")
        assert cell_of(of(shell, "unknown").co_filename) is None


def test_blank_lines_at_the_start() -> None:
    assert [blank_lines(t) for t in ("x", "\nx", " \n\t\nx\n\n", "", "\n\n")] == [0, 1, 2, 0, 2]


@pytest.mark.parametrize(
    ("part", "whole", "above"),
    [
        ("x = 1\n", "%%stc_compile\nx = 1\n", 1),
        ("x = 1", "%%capture\n%%stc_compile\nx = 1", 2),
        ("x = 1\n", "ax = 1\nx = 1\n", 1),  # not within a line
        ("x = 1\n", "ax = 1\n", None),
        ("x = 1\n\n\n", "%%stc_compile\nx = 1\n", 1),
        ("y", "x", None),
        ("", "x", None),
    ],
)
def test_how_many_lines_stand_above_a_part(part: str, whole: str, above: int | None) -> None:
    assert line_of(part, whole) == above


def test_the_notebook_is_what_the_front_end_says(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert notebook(shell) is None
    monkeypatch.setenv("JPY_SESSION_NAME", "console-1")
    assert notebook(shell) is None
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a b.ipynb")
    assert notebook(shell) == "work/a b.ipynb"
    shell.user_ns["__vsc_ipynb_file__"] = "/home/me/x.ipynb"
    assert notebook(shell) == "/home/me/x.ipynb"
