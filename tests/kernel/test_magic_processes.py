"""What happens to whole processes: a kernel that is killed, two that write at once, one without a compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.kernels import a_kernel
from fixtures.stores import until
from stc.analyse import build
from stc.record.store import Store

MAKE = """
import json, os, signal, sys, time, torch, torch.nn as nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 2)
    def forward(self, x):
        return self.lin(x).sin() * 1.25
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1); losses = []
"""
LOOP = """
for step in range({steps}):
    opt.zero_grad()
    loss = model(torch.ones(4, 8) * step).square().mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    {then}
"""


def test_a_kernel_that_is_killed_leaves_a_lost_run_with_all_that_it_had_done(stc_home: Path, tmp_path: Path) -> None:
    # Given a cell that trains and then waits
    with a_kernel(tmp_path) as kernel:
        kernel(MAKE)
        kernel.send(
            "%%stc_compile --plan inductor --name doomed\n"
            + LOOP.format(steps=8, then="time.sleep(0)")
            + "time.sleep(600)"
        )
        store = Store.open()
        until(lambda: store.runs() and store.folded(store.find("doomed").id).steps.total == 8, seconds=90)
        assert store.find("doomed").status == "running"
        # When the kernel is killed
        os.kill(kernel.manager.provisioner.process.pid, 9)
        until(lambda: store.find("doomed").status == "lost")
    # Then its report is partial, and has the steps, the graphs and the reason
    report = build(store, store.find("doomed").id)
    assert (report.run.partial, report.steps.total) == (True, 8)
    assert report.steps.series.index == list(range(8))
    assert {g.phase for g in report.compile.graphs} == {"forward", "backward", "optimizer"}
    (finding,) = [f for f in report.findings if f.code == "run-partial"]
    assert finding.message == "The process ended without finishing the run; the report covers the 8 steps before."
    # And the next kernel records as ever
    with a_kernel(tmp_path) as kernel:
        assert kernel("%%stc_compile --plan eager --name next\n1").run_id == store.find("next").id
        assert store.find("doomed").status == "lost"


def test_two_kernels_that_write_at_once_do_not_disturb_each_other(stc_home: Path, tmp_path: Path) -> None:
    # Given two kernels
    with a_kernel(tmp_path) as one, a_kernel(tmp_path) as two:
        for kernel in (one, two):
            kernel(MAKE)
        # When both train at the same time, for some seconds
        cell = "%%stc_compile --plan eager --name {}\n" + LOOP.format(steps=300, then="time.sleep(0.005)")
        requests = [(kernel, kernel.send(cell.format(name))) for kernel, name in ((one, "first"), (two, "second"))]
        store = Store.open()
        until(lambda: [r.status for r in store.runs()] == ["running", "running"], seconds=60)
        outputs = [kernel.receive(request) for kernel, request in requests]
    # Then each has its own run with every step of it, in order
    assert [output.status for output in outputs] == ["ok", "ok"]
    for name, output in zip(("first", "second"), outputs, strict=True):
        report = build(store, output.run_id)
        assert (report.run.name, report.run.status, report.steps.total) == (name, "completed", 300)
        assert store.folded(output.run_id).steps.series.index == list(range(300))
        assert report.compile.gaps == []
    assert store.problem() is None


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH that has Python and a shell, and no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "uname", "env"):
        found = next((p for p in ("/bin", "/usr/bin") if os.path.exists(f"{p}/{name}")), None)
        if found is not None:
            (folder / name).symlink_to(f"{found}/{name}")
    return str(folder)


def test_without_a_compiler_training_goes_on_eager_and_the_remedy_is_named(
    stc_home: Path, tmp_path: Path, bare_path: str
) -> None:
    # Given a kernel without g++, and nothing compiled before
    given = {"PATH": bare_path, "CXX": None, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    cell = LOOP.format(steps=4, then="pass")
    with a_kernel(tmp_path, **given) as kernel:
        kernel(MAKE + cell)
        expected = json.loads(kernel("print(json.dumps(losses))").stdout)
        kernel(MAKE)
        # When a cell is to be compiled
        output = kernel("%%stc_compile --plan inductor\n" + cell)
        # Then it gives the same, without a wall of log lines
        assert json.loads(kernel("print(json.dumps(losses))").stdout) == pytest.approx(expected, rel=1e-6)
        assert (output.stdout, output.stderr) == ("", "")
        # And the report leads with the cause and what to do
        report = output.report
        assert output.codes[0] == "compile-failed"
        assert report.findings[0].next_step is not None
        assert "Install a C++ compiler" in report.findings[0].next_step.text
        assert {u.state for u in report.compile.units} == {"failed"}
        assert report.run.environment.compiler is None
        assert report.steps.speedup is None
        assert kernel.left_behind() == "[]"
    # And `stc doctor` says the same
    environment = {k: v for k, v in os.environ.items() if k != "CXX"} | {
        "PATH": bare_path, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor-of-the-doctor")
    }  # fmt: skip
    said = subprocess.run(
        [sys.executable, "-m", "stc.cli", "doctor"], capture_output=True, text=True, env=environment, check=False
    )
    assert said.returncode == 1
    assert "g++" in said.stdout
