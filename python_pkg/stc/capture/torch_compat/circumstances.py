"""Under what circumstances torch calls a module: for its result alone, or to trace, export or transform it.

Private names throughout; what a torch does not have cannot be going on in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo import eval_frame
from torch.autograd import forward_ad
from torch.fx import _symbolic_trace


def _never() -> Any:
    return None


def _named(owner: Any, *path: str) -> Callable[[], Any]:
    for name in path:
        owner = getattr(owner, name, None)
    return owner if callable(owner) else _never


_is_compiling = torch.compiler.is_compiling
_jit_trace = _named(torch._C, "_get_tracing_state")
_modes = _named(torch._C, "_len_torch_dispatch_stack")
_transform = _named(torch._C, "_functorch", "maybe_current_level")
_graph_task = _named(torch._C, "_current_graph_task_id")


def is_traced() -> bool:
    """Whether a call now is one of a tracer's, which writes down what happens and must not see anything of ours."""
    return bool(_is_compiling() or _jit_trace() is not None or getattr(_symbolic_trace, "_is_fx_tracing_flag", False))


def why_not_compiled() -> str | None:
    """Why a call now has to run as it is, in a sentence; None where compiled code can take it."""
    if is_traced():
        return "It was called while it was traced or exported, which needs its own code."
    if _transform() is not None:
        return "It was called within torch.func, which compiled code does not support."
    if getattr(forward_ad, "_current_level", -1) >= 0:
        return "It was called within forward-mode differentiation, which compiled code does not support."
    if _modes():
        return "It was called within a TorchDispatchMode, which would not see the operations of compiled code."
    stance = getattr(getattr(eval_frame, "_stance", None), "stance", "default")
    if stance != "default":
        return f"torch.compiler.set_stance({stance!r}) was set."
    return None


def in_backward() -> bool:
    """Whether this thread is in a backward pass, as what a checkpoint computes again is."""
    task = _graph_task()
    return task is not None and task != -1
