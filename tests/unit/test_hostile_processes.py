"""Forks and threads in the middle of a run: the run is of the thread that started it, and everything else goes on as without one."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.training import Net, a_run, gaps, made, report_of, trained, units
from stc.magics.recording import Recording
from stc.options import Options
from stc.record.types import Origin

pytestmark = pytest.mark.usefixtures("stc_home")
BATCH = torch.ones(2, 4)


def in_a_fork(do: Any) -> int:
    """Exit status of a child that does this: 0 where it returns, and it is not waited for longer than half a minute."""
    pid = os.fork()
    if not pid:
        threading.Timer(30, lambda: os._exit(99)).start()
        try:
            do()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
class TestAForkedChild:
    def test_trains_on_and_none_of_it_is_the_runs(self) -> None:
        # Given a run whose locks another thread holds at the moment of the fork
        with a_run(plan="inductor") as run:
            model, optimizer = made()
            trained(model, optimizer, 2)

            def child() -> None:
                trained(model, optimizer, 2)
                trained(*made(), 2)

            with run._lock:
                assert in_a_fork(child) == 0
            trained(model, optimizer, 1)
        assert report_of(run).steps.total == 3
        assert [u.calls for u in units(run)] == [3]
        assert gaps(run) == []

    def test_that_leaves_the_block_says_nothing(self, capfd: pytest.CaptureFixture[str]) -> None:
        recording = Recording(Options(plan="eager"), Origin(kind="script", script="test.py"))

        def child() -> None:
            recording.__exit__(None, None, None)
            assert nn.Module.__call__.__module__.startswith("torch")
            trained(*made(), 1)

        with recording:
            trained(*made(), 2)
            assert in_a_fork(child) == 0
            assert capfd.readouterr() == ("", "")
        assert recording.report is not None and recording.report.steps.total == 2

    def test_a_worker_of_a_data_loader_may_call_models(self) -> None:
        encoder, (model, _) = Net(), made()

        class Encoded(torch.utils.data.Dataset[torch.Tensor]):
            def __len__(self) -> int:
                return 8

            def __getitem__(self, index: int) -> torch.Tensor:
                with torch.no_grad():
                    return torch.full((4,), float(encoder(torch.full((1, 4), float(index))).sum()))

        def losses() -> list[float]:
            found = []
            for batch in torch.utils.data.DataLoader(Encoded(), batch_size=4, num_workers=2):
                loss = model(batch).square().mean()
                loss.backward()
                found.append(loss.item())
            return found

        expected = losses()
        with a_run(plan="inductor") as run:
            encoder(BATCH)  # known to the run, and compiled in it
            assert losses() == pytest.approx(expected, rel=1e-4)
        assert {u.name: u.calls for u in units(run)} == {"encoder": 1, "model": 2}


class TestThreads:
    @pytest.mark.parametrize("plan", ["eager", "inductor"])
    def test_that_train_at_once_train_as_they_do_alone(self, plan: str) -> None:
        def train_all() -> list[list[float]]:
            torch.manual_seed(0)
            pairs = [made() for _ in range(3)]
            found: list[list[float]] = [[], [], []]

            def train(which: int) -> None:
                found[which] = trained(*pairs[which], 8)

            threads = [threading.Thread(target=train, args=(which,)) for which in range(2)]
            for thread in threads:
                thread.start()
            train(2)
            for thread in threads:
                thread.join()
            return found

        expected = train_all()
        with a_run(plan=plan) as run:
            for which, losses in enumerate(train_all()):
                assert losses == (expected[which] if plan == "eager" else pytest.approx(expected[which], rel=1e-4))
        # Then the run's steps, and what it compiled, are those of its own thread
        assert report_of(run).steps.total == 8
        assert [(u.name, u.calls) for u in units(run, "optimizer")] == [("optimizer", 8)]
        assert sorted(u.state for u in units(run)) == ["eager", "eager", "eager" if plan == "eager" else "restored"]

    def test_one_that_a_run_is_started_in_is_the_runs(self) -> None:
        found: list[Any] = []

        def train() -> None:
            with a_run(plan="inductor") as run:
                trained(*made(), 4)
            found.append(report_of(run))

        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        assert found[0].steps.total == 4
        assert {u.state for u in found[0].compile.units} == {"restored"}
