"""Training as people write it, in a real kernel: every kind gives what it gives without the magic, and its steps are counted right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from fixtures.kernels import Kernel, Output, a_kernel

SETUP = """
import json, torch, torch.nn as nn
class Net(nn.Module):
    def __init__(self, inside=8, outside=1):
        super().__init__()
        self.a, self.b = nn.Linear(inside, 16), nn.Linear(16, outside)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
def batches(n, rows=6):
    source = torch.Generator().manual_seed(1)
    return [torch.randn(rows, 8, generator=source) for _ in range(n)]
def seed():
    torch.manual_seed(0)
"""

PLAIN = """
seed()
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for x in batches(12):
    opt.zero_grad()
    loss = (model(x) - 1).square().mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
"""

IN_A_FUNCTION = """
def fit(steps):
    seed()
    inner = Net()
    updater = torch.optim.Adam(inner.parameters(), lr=0.01)
    told = []
    for x in batches(steps):
        updater.zero_grad()
        loss = inner(x).square().mean()
        loss.backward()
        updater.step()
        told.append(loss.item())
    return told
losses = fit(8)
"""

HELPER = """
class Helper:
    'As accelerate and other trainers do: wraps the model and the optimizer, and owns the loop.'
    def prepare(self, model, optimizer):
        forward = model.forward
        def autocast_forward(*args, **kwargs):
            with torch.autocast('cpu', enabled=False):
                return forward(*args, **kwargs)
        model.forward = autocast_forward
        return model, optimizer
    def fit(self, model, optimizer, data, loss_of):
        told = []
        for x in data:
            optimizer.zero_grad()
            loss = loss_of(model(x))
            self.backward(loss)
            optimizer.step()
            told.append(loss.item())
        return told
    def backward(self, loss):
        loss.backward()
seed()
helper = Helper()
model = Net()
model, opt = helper.prepare(model, torch.optim.SGD(model.parameters(), lr=0.05))
losses = helper.fit(model, opt, batches(8), lambda y: y.square().mean())
"""

ACCELERATE = """
from accelerate import Accelerator
seed()
accelerator = Accelerator(cpu=True)
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.LinearLR(opt)
model, opt, scheduler = accelerator.prepare(model, opt, scheduler)
losses = []
for x in batches(8):
    opt.zero_grad()
    loss = model(x).square().mean()
    accelerator.backward(loss)
    opt.step()
    scheduler.step()
    losses.append(loss.item())
"""

SCHEDULER = """
seed()
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
losses, rates = [], []
for x in batches(8):
    opt.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    opt.step()
    scheduler.step()
    losses.append(loss.item()); rates.append(scheduler.get_last_lr()[0])
losses += rates
"""

GAN = """
seed()
maker, critic = Net(4, 8), Net(8, 1)
opt_maker = torch.optim.Adam(maker.parameters(), lr=0.01)
opt_critic = torch.optim.Adam(critic.parameters(), lr=0.01)
score = nn.functional.binary_cross_entropy_with_logits
one, zero = torch.ones(6, 1), torch.zeros(6, 1)
losses = []
for real in batches(8):
    noise = real[:, :4]
    opt_critic.zero_grad()
    against = score(critic(real), one) + score(critic(maker(noise).detach()), zero)
    against.backward()
    opt_critic.step()
    opt_maker.zero_grad()
    fooled = score(critic(maker(noise)), one)
    fooled.backward()
    opt_maker.step()
    losses += [against.item(), fooled.item()]
"""

ACCUMULATION = """
seed()
model = Net(); opt = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for i, x in enumerate(batches(12)):
    loss = model(x).square().mean() / 3
    loss.backward()
    losses.append(loss.item())
    if (i + 1) % 3 == 0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
"""

EVALUATION = """
seed()
model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.0), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for epoch in range(2):
    model.train()
    for x in batches(4):
        opt.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        losses.append(sum(model(x).mean().item() for x in batches(3)))
"""

FROZEN = """
seed()
backbone, head = Net(8, 8), nn.Linear(8, 1)
for p in backbone.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(head.parameters(), lr=0.05)
losses = []
for x in batches(6):
    opt.zero_grad()
    loss = head(backbone(x)).square().mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
"""


@dataclass(frozen=True)
class Case:
    cell: str
    steps: int
    models: tuple[str, ...] = ("model",)
    optimizers: int = 1


CASES = {
    "plain": Case(PLAIN, 12),
    "in a function": Case(IN_A_FUNCTION, 8, ("inner",)),
    "helper code": Case(HELPER, 8),
    "accelerate": Case(ACCELERATE, 8),
    "scheduler": Case(SCHEDULER, 8),
    "two models in turns": Case(GAN, 8, ("critic", "maker"), 2),
    "accumulated gradients": Case(ACCUMULATION, 4),
    "evaluation between": Case(EVALUATION, 8),
    "frozen part": Case(FROZEN, 6, ("backbone", "head")),
}


@pytest.fixture(scope="module")
def the_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_kernel(tmp_path_factory.mktemp("training")) as kernel:
        kernel(SETUP)
        yield kernel


@pytest.fixture
def kernel(the_kernel: Kernel) -> Iterator[Kernel]:
    yield the_kernel
    assert the_kernel.left_behind() == "[]"


def losses(kernel: Kernel) -> list[float]:
    told: list[float] = json.loads(kernel("print(json.dumps(losses))").stdout)
    return told


@pytest.mark.parametrize("name", CASES)
class TestEveryKind:
    def test_eager_gives_the_same_to_the_bit(self, kernel: Kernel, name: str) -> None:
        case = CASES[name]
        kernel(case.cell)
        expected = losses(kernel)
        output = kernel("%%stc_compile --plan eager" + case.cell)
        assert losses(kernel) == expected
        self.counted(case, output)

    def test_compiled_gives_the_same_within_float32(self, kernel: Kernel, name: str) -> None:
        case = CASES[name]
        kernel(case.cell)
        expected = losses(kernel)
        output = kernel("%%stc_compile --plan inductor" + case.cell)
        assert losses(kernel) == pytest.approx(expected, rel=1e-4, abs=1e-6)
        self.counted(case, output)
        # And every model was compiled, with no fault of ours
        compiled = output.report.compile
        assert {u.state for u in compiled.units if u.kind == "model"} == {"restored"}
        assert compiled.gaps == []
        assert {g.phase for g in compiled.graphs} >= {"forward", "backward", "optimizer"}

    @staticmethod
    def counted(case: Case, output: Output) -> None:
        report = output.report
        assert report.run.status == "completed"
        assert report.steps.total == case.steps
        assert sorted(u.name for u in report.compile.units if u.kind == "model") == sorted(case.models)
        assert sum(1 for u in report.compile.units if u.kind == "optimizer") == case.optimizers


def test_the_default_plan_leaves_a_short_loop_eager_and_to_the_bit(kernel: Kernel) -> None:
    kernel(PLAIN)
    expected = losses(kernel)
    output = kernel("%%stc_compile" + PLAIN)
    assert losses(kernel) == expected
    assert output.codes == ["nothing-compiled"]
    assert output.report.compile.graphs == []


def test_the_default_plan_decides_once_it_has_a_baseline(kernel: Kernel) -> None:
    # Given a loop whose length can be read off it, long enough for a baseline and too short for compiling to pay
    cell = PLAIN.replace("losses = []", "losses, data = [], batches(60)").replace("in batches(12)", "in data")
    kernel(cell)
    expected = losses(kernel)
    output = kernel("%%stc_compile" + cell)
    assert losses(kernel) == expected
    assert output.codes == ["not-worth-compiling"]
    decision = output.report.compile.decision
    assert decision is not None and decision.action == "leave-eager"
    assert decision.remaining_steps is not None
    assert decision.remaining_source == "for x in data"


def test_a_model_that_a_cell_makes_and_forgets_is_no_trouble(kernel: Kernel) -> None:
    output = kernel("%%stc_compile --plan inductor\nfor _ in range(3):\n    Net()(torch.ones(2, 8)).sum().backward()")
    assert output.report.compile.gaps == []
    assert [u.name for u in output.report.compile.units] == ["Net", "Net", "Net"]


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("numbers = [i * i for i in range(5)]\nsum(numbers)", "no model was called"),
        ("x = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()", "no model was called"),
        ("nn.MSELoss()(torch.ones(2), torch.zeros(2))", "no model was called"),
    ],
)
def test_a_cell_without_a_model_says_so(kernel: Kernel, cell: str, said: str) -> None:
    output = kernel(f"%%stc_compile\n{cell}")
    (finding,) = output.report.findings
    assert finding.code == "nothing-compiled"
    assert said in finding.message
    assert finding.next_step is not None and finding.next_step.text.startswith("Put the magic on the cell that calls")
