"""The cell under the magic means what it means without it: display, namespace, errors with their cell and line, magics, await."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from fixtures.kernels import Kernel, Output, a_kernel

MAGIC = "%%stc_compile --plan eager --quiet\n"


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("meaning")) as kernel:
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


def both(kernel: Kernel, cell: str) -> tuple[Output, Output]:
    """The cell as it is, and under the magic."""
    return kernel.run(cell), kernel.run(MAGIC + cell)


def plain(text: str) -> str:
    """A traceback without what differs from cell to cell: numbers of cells, and lines, which the magic moves by one."""
    text = "\n".join(line for line in text.splitlines() if not re.fullmatch(r"\s*1\s*", line))  # where the magic stands
    text = re.sub(r"In\[\d+\]", "In[]", text)
    text = re.sub(r"(?m)^(-+> |\s+)\d+ ", "", text)
    return re.sub(r"line:? ?\d+|:\d+|\(\d+\)", "", text)


class TestDisplay:
    @pytest.mark.parametrize(
        "cell",
        [
            "41 + 1",
            "41 + 1;",
            "x = 3",
            "1\n2\n'last'",
            "'last'  # a remark",
            "'; in a text;'",
            "(1,\n 2)",
            "None",
            "if True:\n    5",
            "import math as m\nm.pi",
            "from IPython.display import HTML, display\ndisplay(HTML('<b>1</b>'))\nHTML('<i>2</i>')",
            "print('out'); 7",
            "import sys\nprint('wrong', file=sys.stderr)",
            "# nothing but a remark",
            "def f():\n    'only a function'",
        ],
    )
    def test_is_the_plain_cells(self, kernel: Kernel, cell: str) -> None:
        without, within = both(kernel, cell)
        assert (within.status, within.result, within.displays) == (without.status, without.result, without.displays)
        assert (within.stdout, within.stderr) == (without.stdout, without.stderr)

    def test_the_last_value_is_in_the_history(self, kernel: Kernel) -> None:
        output = kernel(MAGIC + "'a value to keep'")
        assert kernel(f"_ == Out[{output.number}] == 'a value to keep'").value == "True"

    @pytest.mark.parametrize("mode", ["all", "last_expr_or_assign", "none"])
    def test_follows_the_users_setting(self, kernel: Kernel, mode: str) -> None:
        kernel(f"%config InteractiveShell.ast_node_interactivity = {mode!r}", silent=True)
        try:
            without, within = both(kernel, "1\ny = 2")
            assert (within.result, within.displays, within.stdout) == (without.result, without.displays, without.stdout)
        finally:
            kernel("%config InteractiveShell.ast_node_interactivity = 'last_expr'", silent=True)

    def test_of_a_run_comes_after_the_cells_own(self, kernel: Kernel) -> None:
        output = kernel(
            "%%stc_compile --plan eager\nfrom IPython.display import HTML, display\ndisplay(HTML('mine'))\n5"
        )
        assert output.value == "5"
        assert [data["text/html"] for data in output.displays][0] == "mine"
        assert output.summaries == output.displays[1:]


class TestNamespace:
    def test_names_are_the_notebooks(self, kernel: Kernel) -> None:
        kernel("outside = 1")
        kernel(MAGIC + "inside = outside + 1\ndel outside\nclass Made: ...\nimport json as renamed")
        assert kernel("inside, Made.__module__, renamed.__name__").value == "(2, '__main__', 'json')"
        assert kernel.run("outside").error == "NameError"

    def test_comprehensions_closures_and_globals_work(self, kernel: Kernel) -> None:
        cell = "n = 3\ndef f():\n    global n\n    n += 1\n    return [n * i for i in range(n)]\nf()"
        without, within = both(kernel, cell)
        assert within.result == without.result

    def test_nothing_of_ours_is_in_it(self, kernel: Kernel) -> None:
        before = kernel("sorted(k for k in globals() if not k.startswith('_'))").value
        kernel(MAGIC + "pass")
        assert kernel("sorted(k for k in globals() if not k.startswith('_'))").value == before

    def test_a_future_statement_holds(self, kernel: Kernel) -> None:
        kernel(MAGIC + "from __future__ import annotations\ndef f(x: not_defined): ...")
        assert kernel("f.__annotations__").value == "{'x': 'not_defined'}"


class TestErrors:
    @pytest.mark.parametrize(
        "cell",
        [
            "1 / 0",
            "def f():\n    return g()\ndef g():\n    raise KeyError('deep')\nf()",
            "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('from') from e",
            "import json\njson.loads('{')",
            "raise SystemError('odd')",
            "assert False, 'so'",
            "x = [1,\n     2,\n     1 / 0]",
        ],
    )
    def test_look_as_in_the_plain_cell(self, kernel: Kernel, cell: str) -> None:
        without, within = both(kernel, cell)
        assert (within.status, within.error, within.message) == ("error", without.error, without.message)
        assert plain(within.traceback) == plain(without.traceback)

    def test_name_the_cell_and_the_notebooks_line(self, kernel: Kernel) -> None:
        output = kernel.run(MAGIC + "\nx = 1\n\nraise RuntimeError('here')\n")
        assert f"In[{output.number}], line 5" in output.traceback
        assert "----> 5 raise RuntimeError('here')" in output.traceback
        assert "stc/" not in output.traceback
        assert "get_ipython()" not in output.traceback

    def test_in_a_function_of_another_cell_name_both(self, kernel: Kernel) -> None:
        first = kernel("def broken():\n    raise RuntimeError('there')")
        output = kernel.run(MAGIC + "x = 1\nbroken()")
        assert f"In[{output.number}], line 3" in output.traceback
        assert f"In[{first.number}], line 2" in output.traceback

    def test_what_ran_before_one_has_happened(self, kernel: Kernel) -> None:
        kernel.run(MAGIC + "done = 'first'\n1 / 0\ndone = 'second'")
        assert kernel("done").value == "'first'"

    def test_can_be_looked_into_afterwards(self, kernel: Kernel) -> None:
        kernel.run(MAGIC + "def f(inner):\n    return 1 / inner\nf(0)")
        assert kernel("import sys\nsys.last_value.__class__.__name__").value == "'ZeroDivisionError'"
        assert (
            kernel("t = sys.last_traceback\nwhile t.tb_next: t = t.tb_next\nt.tb_frame.f_locals['inner']").value == "0"
        )

    @pytest.mark.parametrize(
        "cell",
        ["x = = 1", "for i in range(3)\n    pass", "print('open", "    y = 1\n  z = 2", "return 5", "def f():\nreturn"],
    )
    def test_of_syntax_are_shown_with_the_cell_and_line(self, kernel: Kernel, cell: str) -> None:
        without, within = both(kernel, "print('ran')\n" + cell)
        assert (within.status, within.error) == ("error", without.error)
        assert within.stdout == without.stdout
        named = re.search(r"In\[\d+\], line (\d+)", without.traceback)
        assert named is None or f"In[{within.number}], line {int(named[1]) + 1}" in within.traceback
        assert "stc" not in within.traceback.replace("%%stc_compile", "")

    def test_the_plain_cell_after_one_looks_as_ever(self, kernel: Kernel) -> None:
        before = kernel.run("1 / 0")
        kernel.run(MAGIC + "1 / 0")
        assert plain(kernel.run("1 / 0").traceback) == plain(before.traceback)

    def test_the_users_own_way_of_showing_errors_is_used(self, kernel: Kernel) -> None:
        kernel(
            "def mine(shell, kind, value, tb, tb_offset=None): print('mine:', kind.__name__)\n"
            "ip = get_ipython(); before = ip.custom_exceptions, ip.CustomTB\n"
            "ip.set_custom_exc((ZeroDivisionError,), mine)"
        )
        try:
            assert kernel.run(MAGIC + "1 / 0").stdout == "mine: ZeroDivisionError\n"
            assert kernel.run("1 / 0").stdout == "mine: ZeroDivisionError\n"
        finally:
            kernel("ip.custom_exceptions, ip.CustomTB = before")


class TestMagicsInside:
    @pytest.mark.parametrize(
        "cell",
        [
            "%pwd",
            "!echo from the shell",
            "told = !echo kept\ntold",
            "%who_ls int",
            "for i in range(2):\n    !echo $i",
            "%env STC_TEST_VARIABLE=1\nimport os\nos.environ['STC_TEST_VARIABLE']",
            "print?",
        ],
    )
    def test_work_as_in_the_plain_cell(self, kernel: Kernel, cell: str) -> None:
        without, within = both(kernel, cell)
        assert (within.status, within.result, within.stdout) == (without.status, without.result, without.stdout)

    def test_time_measures_and_gives_the_value(self, kernel: Kernel) -> None:
        output = kernel(MAGIC + "%time 6 * 7")
        assert "Wall time" in output.stdout
        assert output.value == "42"

    def test_a_cell_magic_below_it_gets_the_rest(self, kernel: Kernel) -> None:
        output = kernel(MAGIC + "%%time\nnested = 11\nprint(nested)")
        assert output.stdout.startswith("11\n")
        assert "Wall time" in output.stdout
        assert kernel("nested").value == "11"

    def test_it_works_below_another(self, kernel: Kernel) -> None:
        output = kernel("%%capture told\n" + MAGIC + "print('captured')\nwithin = 12")
        assert output.stdout == ""
        assert kernel("told.stdout, within").value == "('captured\\n', 12)"

    def test_an_error_below_another_names_the_notebooks_line(self, kernel: Kernel) -> None:
        output = kernel.run("%%capture told\n" + MAGIC + "x = 1\n1 / 0")
        assert output.error == "ZeroDivisionError"
        assert "1 / 0" in output.traceback
        assert "stc/" not in output.traceback

    def test_within_a_run_another_magic_belongs_to_the_run(self, kernel: Kernel) -> None:
        output = kernel(
            "%%stc_compile --plan eager\nimport stc\nwith stc.compiling() as inner:\n    pass\ninner.run_id"
        )
        assert output.value == repr(output.run_id)
        assert "this code belongs to it" in output.stderr


class TestAwait:
    def test_at_top_level_it_works(self, kernel: Kernel) -> None:
        output = kernel(
            "%%stc_compile --plan eager\nimport asyncio\nawait asyncio.sleep(0.01)\nasync def f(): return 5\nawait f()"
        )
        assert output.value == "5"
        assert len(output.summaries) == 1
        assert output.report.run.status == "completed"

    def test_loops_and_blocks_of_that_kind_work(self, kernel: Kernel) -> None:
        cell = "async def numbers():\n    for i in range(3): yield i\nfound = []\nasync for i in numbers(): found.append(i)\nfound"
        without, within = both(kernel, cell)
        assert within.value == without.value == "[0, 1, 2]"

    def test_an_error_after_one_is_the_users(self, kernel: Kernel) -> None:
        output = kernel.run("%%stc_compile --plan eager\nimport asyncio\nawait asyncio.sleep(0)\n1 / 0")
        assert output.error == "ZeroDivisionError"
        assert f"In[{output.number}], line 4" in output.traceback
        assert "stc/" not in output.traceback
        assert output.report.run.status == "failed"

    def test_an_unknown_option_there_is_one_sentence(self, kernel: Kernel) -> None:
        output = kernel.run("%%stc_compile --plan magic\nimport asyncio\nawait asyncio.sleep(0)\nran_anyway = True")
        assert "--plan cannot be 'magic'" in output.message + output.stderr
        assert kernel.run("ran_anyway").error == "NameError"


def test_loading_twice_unloading_and_loading_again(kernel: Kernel) -> None:
    kernel("%load_ext stc\n%reload_ext stc")
    assert kernel(MAGIC + "1").value == "1"
    kernel("%unload_ext stc")
    output = kernel.run(MAGIC + "1")
    assert "stc_compile" in output.stderr + output.message
    assert "not found" in output.stderr + output.message
    kernel("%load_ext stc")
    assert kernel(MAGIC + "2").value == "2"
