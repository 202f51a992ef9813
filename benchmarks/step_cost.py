"""What a run costs a step that is compiled already: nothing measurable.

The same compiled model and optimizer step by turns inside and outside of what a session puts around a step; the difference is
the session's. Three processes, many short stretches in each.
"""

from __future__ import annotations

from statistics import median

from .paired import Result, python_says

STRETCHES, STEPS = 40, 50

CODE = f"""
import time, torch
from statistics import median
from torch import nn
from stc.session import Options, Origin, Session
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 8))
    def forward(self, x):
        return self.body(x)
def made():
    model = Net()
    return model, torch.optim.AdamW(model.parameters())
x, y = torch.randn(128, 64), torch.randn(128, 8)
def stretch(model, optimizer):
    started = time.perf_counter()
    for _ in range({STEPS}):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return (time.perf_counter() - started) / {STEPS}
plain_model, plain_optimizer = made()
plain_model.compile()
plain_optimizer.step = torch.compile(plain_optimizer.step)
stretch(plain_model, plain_optimizer)
model, optimizer = made()
inside, outside = [], []
backward_alone = torch.autograd.backward
with Session(Options(plan="inductor"), Origin(kind="script")) as session:
    training = session._training
    stretch(model, optimizer)
    training._policy(training.clock.current.signature).stop_windows()
    stretch(model, optimizer)
    for _ in range({STRETCHES}):
        inside.append(stretch(model, optimizer))
        training.models.pause()
        backward_in_run, torch.autograd.backward = torch.autograd.backward, backward_alone
        outside.append(stretch(plain_model, plain_optimizer))
        torch.autograd.backward = backward_in_run
        training.models.resume()
ratios = [a / b for a, b in zip(inside, outside)]
print(median(inside), median(outside), median(ratios))
"""


def run() -> list[Result]:
    found = [python_says(CODE) for _ in range(3)]
    inside, outside = median(f[0] for f in found), median(f[1] for f in found)
    ratio = median(f[2] for f in found)
    return [
        Result(
            "a compiled step in a run, against torch.compile alone",
            f"{ratio:.3f}x ({inside * 1e6:.0f} / {outside * 1e6:.0f} µs)",
            "< 1.03x",
            ratio < 1.03,
            3 * STRETCHES,
        )
    ]
