"""A program under `stc run` is the main program: it sees, prints and ends as it does under `python`, compared side by side."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.stores import until
from stc.record.store import Store

Words = tuple[str, ...]
Program = Callable[..., subprocess.CompletedProcess[str]]

LOOK_ABOUT = '''
"""A docstring."""
from __future__ import annotations
import os, pickle, sys, __main__

class Own: ...
here = os.path.dirname(os.path.abspath(__file__))
print(__name__, os.path.relpath(__file__, here), __doc__, __package__, __spec__ and __spec__.name, __builtins__)
print(sys.argv, os.path.samefile(sys.path[0], here))
print(__main__ is sys.modules["__main__"], __main__.Own is Own, pickle.loads(pickle.dumps(Own)) is Own)
print(sorted(name for name in globals() if name not in ("__loader__", "here")))
try:
    sys._getframe(0).f_globals["nowhere"]
except KeyError as error:
    print(error)
'''


@pytest.fixture
def folder(tmp_path: Path, stc_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the programs lie. PyTorch cannot be imported there: what a program sees does not depend on it, and starts at once."""
    without = tmp_path / "without-torch"
    without.mkdir()
    (without / "torch.py").write_text("raise ModuleNotFoundError('No module named torch', name='torch')")
    monkeypatch.setenv("PYTHONPATH", str(without))
    work = tmp_path / "work"
    work.mkdir()
    return work


@pytest.fixture
def plain(folder: Path) -> Program:
    return lambda *words: run([sys.executable, *words], folder)


@pytest.fixture
def under_stc(folder: Path) -> Program:
    return lambda *words: run([sys.executable, "-m", "stc.cli", "run", "--quiet", *words], folder)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=folder)


def same(first: subprocess.CompletedProcess[str], second: subprocess.CompletedProcess[str]) -> bool:
    assert (first.stdout, first.stderr, first.returncode) == (second.stdout, second.stderr, second.returncode)
    return True


@pytest.mark.parametrize("words", [("look.py", "-x", "--plan", "a b"), ("deeper/../look.py",), ("-m", "look", "1")])
def test_it_sees_what_python_would_show_it(folder: Path, plain: Program, under_stc: Program, words: Words) -> None:
    (folder / "look.py").write_text(LOOK_ABOUT)
    (folder / "deeper").mkdir()
    told = under_stc(*words)
    assert same(told, plain(*words))
    assert "__main__" in told.stdout


@pytest.mark.parametrize("words", [("-m", "package"), ("-m", "package.part", "x")])
def test_relative_imports_work_in_a_package(folder: Path, plain: Program, under_stc: Program, words: Words) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("WHAT = 'package'")
    (folder / "package" / "__main__.py").write_text("from . import WHAT\nfrom .part import there\nprint(WHAT, there())")
    (folder / "package" / "part.py").write_text(
        "from . import WHAT\nimport sys\ndef there(): return __name__\n"
        "if __name__ == '__main__': print(WHAT, there(), sys.argv[1:])"
    )
    told = under_stc(*words)
    assert same(told, plain(*words))
    assert "package" in told.stdout


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("sys.exit()", 0),
        ("sys.exit(True)", 1),
        ("sys.exit(7)", 7),
        ("sys.exit('Not today.')", 1),
        ("sys.exit((1, 2))", 1),
        ("atexit.register(print, 'last words'); raise SystemExit(5)", 5),
        ("1 / 0", 1),
        ("def deeper(): raise KeyError('k')\ntry: deeper()\nexcept KeyError as e: raise ValueError('v') from e", 1),
        ("raise RuntimeError('one') from None", 1),
        ("sys.excepthook = lambda *what: print('mine:', what[0].__name__); 1 / 0", 1),
        ("warnings.warn('careful')", 0),
        ("import nowhere_to_be_found", 1),
        ("print('no newline', end=''); sys.stdout.flush(); os._exit(3)", 3),
    ],
)
def test_it_ends_as_under_python(folder: Path, plain: Program, under_stc: Program, end: str, status: int) -> None:
    (folder / "program.py").write_text(f"import atexit, os, sys, warnings\nprint('begun')\n{end}\n")
    told = under_stc("program.py")
    assert same(told, plain("program.py"))
    assert told.returncode == status


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nfor y in x\n    pass\n", "SyntaxError: expected ':'"),
        ("  x = 1\n", "IndentationError: unexpected indent"),
        ("x = '\x00'\n", "SyntaxError: "),  # python words it in another way for a file than for a text
        ("# coding: nothing\n", "SyntaxError: "),
    ],
)
def test_what_is_no_python_is_told_as_python_does(
    folder: Path, plain: Program, under_stc: Program, text: str, said: str
) -> None:
    (folder / "program.py").write_text(text)
    expected, told = plain("program.py"), under_stc("program.py")
    assert (told.stdout, told.returncode) == (expected.stdout, 1)
    assert told.stderr.splitlines()[-1].startswith(said)
    assert expected.stderr.splitlines()[-1].startswith(said)
    assert "stc" not in told.stderr


def test_processes_that_it_starts_afresh_find_its_functions(folder: Path, plain: Program, under_stc: Program) -> None:
    (folder / "program.py").write_text(
        "import multiprocessing\n"
        "def square(x): return x * x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(square, [2, 3]))\n"
    )
    told = under_stc("program.py")
    assert same(told, plain("program.py"))
    assert told.stdout == "[4, 9]\n"


def test_an_interrupt_ends_it_as_a_shell_expects_and_the_run_is_kept(folder: Path) -> None:
    # Given a program that waits
    (folder / "program.py").write_text("import time\nprint('waiting', flush=True)\ntime.sleep(60)\n")
    started = subprocess.Popen(
        [sys.executable, "-m", "stc.cli", "run", "program.py"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # where the tests themselves run in a shell's background, interrupts are ignored, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert started.stdout is not None
    started.stdout.readline()
    # When it is interrupted
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=30)
    # Then it ends with the status that shells give, its own traceback, and a run that says what happened
    assert started.returncode == 130
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert f'File "{folder / "program.py"}", line ' in said
    assert "stc/magics" not in said
    (kept,) = Store.open().runs()
    assert (kept.status, kept.partial) == ("interrupted", True)


def test_a_killed_program_is_lost(folder: Path) -> None:
    (folder / "program.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    done = run([sys.executable, "-m", "stc.cli", "run", "program.py"], folder)
    assert done.returncode == -signal.SIGKILL
    until(lambda: [r.status for r in Store.open().runs()] == ["lost"])


def test_without_pytorch_it_runs_and_the_report_says_why_nothing_was_compiled(folder: Path) -> None:
    (folder / "program.py").write_text("print('trained by hand')")
    done = run([sys.executable, "-m", "stc.cli", "run", "program.py"], folder)
    assert (done.stdout, done.returncode) == ("trained by hand\n", 0)
    assert "Nothing was compiled: no model was called." in done.stderr
    assert "Traceback" not in done.stderr
    (kept,) = Store.open().runs()
    assert (kept.status, kept.origin.script) == ("completed", "program.py")
    assert [gap.part for gap in Store.open().folded(kept.id).compile.gaps] == ["torch"]


def test_a_program_may_change_its_folder_and_its_streams(folder: Path) -> None:
    # Given a program that leaves the folder, and closes the stream that the summary would go to
    (folder / "elsewhere").mkdir()
    (folder / "program.py").write_text("import os, sys\nos.chdir('elsewhere')\nprint('done')\nsys.stderr.close()\n")
    # When it runs with a report to be written beside it
    done = run([sys.executable, "-m", "stc.cli", "run", "--report", "report.json", "program.py"], folder)
    # Then it ends well, and the report is where it was asked for
    assert (done.stdout, done.returncode) == ("done\n", 0)
    assert (folder / "report.json").exists()
    assert not list((folder / "elsewhere").iterdir())
