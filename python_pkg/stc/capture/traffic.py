"""Bytes that a graph moves when it runs op by op: eager, and after decomposition. A best-case model, not a measurement.

Every operation reads its inputs once and writes its outputs once; views and shape arithmetic cost nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .operations import is_computed
from .torch_compat import inductor


def decomposed_bytes(graph: Any) -> int | None:
    """Of Inductor's FX graph, each of whose nodes would be a kernel; None where a size is not known."""
    total = 0
    for node in graph.nodes:
        if not is_computed(node):
            continue
        values = [
            *_tensors(node.meta.get("val")),
            *(t for n in node.all_input_nodes for t in _tensors(n.meta.get("val"))),
        ]
        for value in values:
            size = tensor_bytes(value)
            if size is None:
                return None
            total += size
    return total


def eager_bytes(module: Any) -> tuple[int, int | None]:
    """Of Dynamo's graph run eager, forward and backward (None without one), on tensors without data.

    Raises:
        Exception: whatever the graph raises without data, such as reading a value.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.utils._python_dispatch import TorchDispatchMode

    class Count(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            if not _is_free(func):
                for value in _tensors((args, kwargs, out)):
                    self.total += tensor_bytes(value) or 0
            return out

    inputs = [n.meta.get("example_value") for n in module.graph.nodes if n.op == "placeholder"]
    mode = next((v.fake_mode for v in inputs if isinstance(v, FakeTensor)), None)
    if mode is None:
        raise ValueError("the graph's inputs are not known")
    fresh = [_fresh(v, mode) if isinstance(v, torch.Tensor) else v for v in inputs]
    count = Count()
    strict = mode.allow_non_fake_inputs
    mode.allow_non_fake_inputs = True  # an optimizer's parameters are in the graph itself; only their shapes are used
    try:
        with mode, torch.enable_grad() if torch.is_grad_enabled() else torch.no_grad(), count:
            out = module(*fresh)
            forward = count.total
            ends = [v for v in _tensors(out) if v.requires_grad and v.grad_fn is not None]
            if not ends:
                return forward, None
            torch.autograd.backward(ends, [torch.ones_like(v) for v in ends])
            # The gradients that start it are the loss's business, not this graph's.
            return forward, count.total - forward - sum(tensor_bytes(v) or 0 for v in ends)
    finally:
        mode.allow_non_fake_inputs = strict


def _fresh(value: Any, mode: Any) -> Any:
    """A tensor like ``value`` that shares nothing with it: an in-place update must not reach the compiler's own inputs."""
    import torch

    with mode:
        copy = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device)
    return copy.requires_grad_(value.requires_grad)


def tensor_bytes(value: Any) -> int | None:
    with suppress(Exception):
        elements = inductor.size_hint(
            (getattr(value.numel(), "node", None) and value.numel().node.hint) or value.numel()
        )
        return None if elements is None else elements * int(value.element_size())
    return None


def _tensors(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in _tensors(part)]
    return []


def _is_free(func: Any) -> bool:
    return func.namespace in ("prim", "profiler") or bool(getattr(func, "is_view", False)) or "detach" in str(func)
