"""The inside of a torch optimizer's step, without the hooks, profiler ranges and scheduler wrappers around it.

Compiling just the inside gives Dynamo one clean frame; the outside still runs, as Python, around each call.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer


def why_not_compilable(optimizer: Optimizer) -> str | None:
    """One sentence where this optimizer's step must stay eager."""
    kind = type(optimizer)
    if not kind.__module__.startswith("torch.optim"):
        return f"{kind.__name__} is not one of torch.optim's own optimizers."
    if kind.__name__ in ("LBFGS", "SparseAdam"):
        return f"{kind.__name__} evaluates a closure or sparse gradients, which cannot be compiled."
    if any(group.get("fused") for group in optimizer.param_groups):
        return "It is fused already (fused=True), which Dynamo leaves alone."
    if any(group.get("differentiable") for group in optimizer.param_groups):
        return "It is differentiable (differentiable=True)."
    return None


def inner_step(optimizer: Optimizer) -> Callable[..., Any]:
    """The optimizer's own update as a bound method, without decorators."""
    return types.MethodType(inspect.unwrap(type(optimizer).step), optimizer)


def rewrapped(inner: Callable[[], Any]) -> Callable[[Optimizer], Any]:
    """``inner`` inside what torch puts around an update: no gradients, pre and post hooks, the profiler's range."""

    def step(optimizer: Optimizer) -> Any:
        optimizer._opt_called = True  # type: ignore[attr-defined]  # what a scheduler's wrapper notes
        with torch.no_grad():
            return inner()

    step.__qualname__ = "step"
    return functools.partial(Optimizer.profile_hook_step(step))


def takes_tensor_rate(optimizer: Optimizer) -> bool:
    """Only SGD: its float learning rate is specialised, so each change recompiles; eager takes a tensor there as well."""
    return type(optimizer) is torch.optim.SGD
