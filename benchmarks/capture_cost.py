"""What capture adds to a cold compile: at most 5 %.

A small Transformer block is compiled in fresh processes with empty caches, by turns with and without the listener; compared are
CPU seconds of the process and its children, which other work on the machine disturbs less than the clock.
"""

from __future__ import annotations

import shutil

from .paired import Result, fresh_folder, in_turn, python_says

PAIRS = 5

CODE = """
import os, resource, torch
from torch import nn
{attach}
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(64, 256), nn.Linear(256, 64), nn.LayerNorm(64)
    def forward(self, x):
        return x + self.b(nn.functional.gelu(self.a(self.norm(x))))
model = nn.Sequential(*[Block() for _ in range(3)])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = model
    def forward(self, x):
        return self.body(x)
net = Net()
def cpu():
    return sum(resource.getrusage(w).ru_utime + resource.getrusage(w).ru_stime
               for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
torch.compile(lambda x: x + 1)(torch.ones(3))
before = cpu()
{compile}
net(torch.randn(32, 64)).sum().backward()
print(cpu() - before)
"""
WITH = CODE.format(
    attach="from stc.capture import listener\n"
    "listener().attach(lambda e: None, step=lambda: 0, artefact=lambda n, t: None)",
    compile="net._compiled_call_impl = listener().wrap_module(net)",
)
WITHOUT = CODE.format(attach="", compile="net.compile()")


def seconds(code: str) -> float:
    folder = fresh_folder()
    try:
        return python_says(code, TORCHINDUCTOR_CACHE_DIR=folder, TORCHINDUCTOR_COMPILE_THREADS="1")[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run() -> list[Result]:
    pairs = in_turn(lambda: seconds(WITH), lambda: seconds(WITHOUT), PAIRS)
    low, high = pairs.ratios
    return [
        Result(
            "a cold compile with capture, against without",
            f"{pairs.ratio:.3f}x (from {low:.3f} to {high:.3f})",
            "<= 1.05x",
            pairs.ratio <= 1.05,
            PAIRS,
        )
    ]
