"""`stc run`: options before the program are STC's, everything after is the program's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stc.cli import _split
from stc.record.store import Store

TRAIN = """
import sys
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[sys.argv.index("--steps") + 1])):
    opt.zero_grad()
    loss = model(torch.ones(3, 4)).square().mean()
    loss.backward()
    opt.step()
print(f"{loss.item():.9f}", sys.argv[1:], __name__)
sys.exit(4 if "--fail" in sys.argv else 0)
"""


def stc_run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stc.cli", "run", *words],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        cwd=cwd,
    )


@pytest.mark.parametrize(
    ("words", "options", "program"),
    [
        ("a.py --plan eager", [], ["a.py", "--plan", "eager"]),
        ("--plan eager a.py", ["--plan", "eager"], ["a.py"]),
        ("--plan=eager --quiet a.py x", ["--plan=eager", "--quiet"], ["a.py", "x"]),
        ("--name -m a.py", ["--name", "-m"], ["a.py"]),
        ("--keep -m pack.age --help", ["--keep"], ["-m", "pack.age", "--help"]),
        ("--quiet -- --odd.py x", ["--quiet"], ["--odd.py", "x"]),
        ("--plan", ["--plan"], []),
        ("", [], []),
    ],
)
def test_what_comes_before_the_program_is_ours(words: str, options: list[str], program: list[str]) -> None:
    assert _split(words.split()) == (options, program)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "There is no script to run."),
        (["nope.py"], "There is no script 'nope.py'."),
        (["."], "'.' is a folder."),
        (["-m"], "-m needs a module."),
        (["-m", "no.such"], "There is no module 'no.such'"),
        (["--plan", "magic", "a.py"], "--plan cannot be 'magic'. Choose one of: inductor, eager."),
        (["--plan"], "--plan needs a value."),
        (["--pln", "eager", "a.py"], "There is no option '--pln'. Did you mean --plan?"),
        (["--target", "xla", "a.py"], "--target cannot be 'xla'."),
        (["--report", "no/where.json", "a.py"], "The report cannot be written to 'no/where.json'"),
    ],
)
def test_an_error_of_the_users_is_one_sentence_and_nothing_has_run(
    stc_home: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "a.py").write_text("print('ran')")
    done = stc_run(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("stc: ")
    assert said in done.stderr
    assert not stc_home.joinpath("runs.db").exists() or Store.open().runs() == []


def test_a_target_that_is_not_there_is_one_sentence_and_nothing_has_run(stc_home: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("the target is there")
    (tmp_path / "a.py").write_text("print('ran')")
    done = stc_run("--target", "cuda", "a.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("stc: There is no target cuda here: ")
    assert "Traceback" not in done.stderr


def test_its_help_lists_every_option() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stc.cli", "run", "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    for option in (
        "--plan {inductor,eager}",
        "--target",
        "--precision",
        "--dynamic",
        "--name",
        "--keep",
        "--quiet",
        "--report",
    ):
        assert option in done.stdout


def test_a_script_runs_as_it_is_and_is_recorded(stc_home: Path, tmp_path: Path) -> None:
    # Given a training script, and what it prints by itself
    (tmp_path / "train.py").write_text(TRAIN)
    plain = subprocess.run(
        [sys.executable, "train.py", "--steps", "6"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    # When it runs under STC, only measured
    done = stc_run("--plan", "eager", "--name", "first", "--report", "r.json", "train.py", "--steps", "6", cwd=tmp_path)
    # Then its output is the same to the bit, and the run is in the store and in the file
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    (run,) = Store.open().runs()
    assert (run.name, run.status, run.plan) == ("first", "completed", "eager")
    assert run.origin.kind == "script"
    assert json.loads((tmp_path / "r.json").read_text())["steps"]["total"] == 6


def test_the_programs_exit_status_is_kept(stc_home: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    done = stc_run("--plan", "eager", "--quiet", "-m", "train", "--steps", "3", "--fail", cwd=tmp_path)
    assert done.returncode == 4
    assert "['--steps', '3', '--fail'] __main__" in done.stdout
    assert [r.status for r in Store.open().runs()] == ["failed"]


def test_a_store_that_cannot_be_used_leaves_the_training_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a store that cannot be made, since a file is in the way
    (tmp_path / "file").write_text("")
    (tmp_path / "train.py").write_text(TRAIN)
    plain = subprocess.run(
        [sys.executable, "train.py", "--steps", "4"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    monkeypatch.setenv("STC_HOME", str(tmp_path / "file" / "store"))
    # When a script trains, then it gives what it gives without STC, and the report says what is missing and why
    done = stc_run("--plan", "eager", "--report", "r.json", "train.py", "--steps", "4", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, plain.stdout)
    assert "Traceback" not in done.stderr
    gaps = json.loads((tmp_path / "r.json").read_text())["compile"]["gaps"]
    assert [gap["part"] for gap in gaps] == ["store"]
    assert "cannot be created" in gaps[0]["reason"]


def test_a_script_that_is_killed_leaves_a_lost_run_with_every_step_it_took(stc_home: Path, tmp_path: Path) -> None:
    # Given a script that is killed while it does something else than train, a while after its twelfth step
    (tmp_path / "train.py").write_text(
        TRAIN.replace("import torch", "import os, signal, time\nimport torch", 1).replace(
            "print(", "time.sleep(3)\nos.kill(os.getpid(), signal.SIGKILL)\nprint("
        )
    )
    done = stc_run("--plan", "eager", "train.py", "--steps", "12", cwd=tmp_path)
    assert done.returncode == -9
    # Then its run is lost, and nothing of it is: every step is there, and so are the statistics over them
    store = Store.open()
    (run,) = store.runs()
    assert run.status == "lost"
    report = store.folded(run.id)
    assert report.steps.series.index == list(range(12))
    assert report.steps.total == 12
    assert report.steps.eager is not None and report.steps.eager.n == 11
    # And the command line shows it as what it is
    shown = subprocess.run([sys.executable, "-m", "stc.cli", "show"], capture_output=True, text=True, check=True)
    assert "status lost  partial" in shown.stdout
    assert "run-partial" in shown.stdout
