"""Private names of Dynamo and of torch's structured trace. Each part tests itself where it is installed.

Anything missing raises `Missing` with the part's name, which becomes a gap in the report.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

TRACE_LOGGER = "torch.__trace"


class Missing(Exception):
    """This torch lacks something that capture reads."""


def trace_logger() -> logging.Logger:
    """The logger of the structured trace.

    Raises:
        Missing: nothing is traced by this torch.
    """
    import torch._logging._internal as internal

    if getattr(internal, "trace_log", None) is None or internal.trace_log.name != TRACE_LOGGER:
        raise Missing("torch has no structured trace")
    return logging.getLogger(TRACE_LOGGER)


def send_trace(name: str) -> None:
    """Send an empty artefact through torch's own function.

    Raises:
        Missing: this torch sends its trace in another way.
    """
    import torch._logging as logs

    send: Any = getattr(logs, "trace_structured", None)
    if send is None:
        raise Missing("torch has no structured trace")
    about = {"name": name, "encoding": "string"}
    send("artifact", lambda: about, payload_fn=lambda: "", suppress_context=True, expect_trace_id=False)


def file_of(number: object) -> str | None:
    """The file name that the trace shortened to a number."""
    if isinstance(number, str):
        return number
    from torch._logging.structured import INTERN_TABLE

    for name, index in INTERN_TABLE.items():
        if index == number:
            return name
    return None


def current_compile_id() -> str | None:
    """torch's name of the compile that is going on, such as "0/0"."""
    from torch._guards import CompileContext

    identity = CompileContext.current_compile_id()
    return None if identity is None else str(identity)


def patch_inductor(on_graph: Callable[[Any, Sequence[Any]], None]) -> Callable[[], None]:
    """Show every Dynamo graph that goes to Inductor to ``on_graph``, and train on with a graph that Inductor cannot lower.

    Works for graphs compiled by us and by the user's own `torch.compile`. Returns what undoes it.

    Raises:
        Missing: this torch hands graphs to Inductor in another way.
    """
    import torch

    wrapper = getattr(torch, "_TorchCompileInductorWrapper", None)
    if wrapper is None or "__call__" not in vars(wrapper):
        raise Missing("torch hands its graphs to Inductor in another way")
    original = vars(wrapper)["__call__"]

    def __call__(self: Any, model: Any, inputs: Any, **more: Any) -> Any:
        on_graph(model, inputs)
        return original(self, model, inputs, **more)

    wrapper.__call__ = __call__

    def undo() -> None:
        if vars(wrapper).get("__call__") is __call__:
            wrapper.__call__ = original

    return undo


def soften_backward(on_failure: Callable[[BaseException], None]) -> Callable[[], None]:
    """Run a backward graph as it is where Inductor fails on it. By then the forward has run, so Dynamo cannot fall back.

    Returns what undoes it.

    Raises:
        Missing: Inductor takes no inner compiler in this torch.
    """
    import functools
    import inspect

    from torch._inductor import compile_fx as module

    original: Any = module.compile_fx
    inner = module.compile_fx_inner
    if "inner_compile" not in inspect.signature(original).parameters:
        raise Missing("Inductor takes no inner compiler")

    def soft_inner(gm: Any, example_inputs: Any, **kwargs: Any) -> Any:
        try:
            return inner(gm, example_inputs, **kwargs)
        except Exception as error:
            if not kwargs.get("is_backward"):
                raise  # Dynamo leaves this frame to Python
            on_failure(error)
            return _as_it_is(gm)

    @functools.wraps(original)
    def compile_fx(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not args:
            kwargs.setdefault("inner_compile", soft_inner)
        return original(model, inputs, *args, **kwargs)

    module.compile_fx = compile_fx  # type: ignore[assignment]

    def undo() -> None:
        if module.compile_fx is compile_fx:
            module.compile_fx = original

    return undo


def _as_it_is(gm: Any) -> Callable[[list[Any]], Any]:
    """A graph as AOTAutograd calls compiled ones: its arguments come in a list that is to be emptied."""

    def run(arguments: list[Any]) -> Any:
        held = list(arguments)
        arguments.clear()
        return gm(*held)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def inlined(module: Any) -> Callable[..., Any] | None:
    """A callable through which Dynamo sees a stock module, whose own frames it would skip; None where it is not needed."""
    import types

    from torch._dynamo import external_utils, trace_rules

    forward = module.forward
    if not isinstance(forward, types.MethodType) or not trace_rules.check(forward):
        return None
    wrapped: Callable[..., Any] = external_utils.wrap_inline(module._call_impl)
    return wrapped


def frame_being_compiled() -> tuple[Any, Any, Any] | None:
    """Code, local and global variables of the frame that Dynamo is about to compile, read from Dynamo's own frame."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(60):
        if frame is None:
            return None
        held = frame.f_locals.get("frame") if frame.f_code.co_filename.endswith("convert_frame.py") else None
        if held is not None and hasattr(held, "f_code") and hasattr(held, "f_locals"):
            return held.f_code, held.f_locals, held.f_globals
        frame = frame.f_back
    return None


def retry(code: Any) -> None:
    """Let Dynamo compile a function anew that it has given up. Else it stays eager for the rest of the process.

    Raises:
        Missing: this torch cannot forget a single function.
    """
    from torch._dynamo import eval_frame

    reset: Any = getattr(eval_frame, "reset_code", None)
    if reset is None:
        raise Missing("torch cannot forget a single function")
    reset(code)


def in_use(code: Any) -> str | None:
    """Compile id of the version of a function that was called last; None where none is in memory, or that cannot be told."""
    from torch._dynamo import eval_frame

    entries: Any = getattr(eval_frame, "_debug_get_cache_entry_list", None)
    held = entries(code) if entries is not None else []
    return str(held[0].compile_id) if held and hasattr(held[0], "compile_id") else None


def inlined_module(code: Any, local: Any) -> Any | None:
    """The stock module that a frame of ours lets Dynamo see (see `inlined`); None for any other frame."""
    if not code.co_filename.replace("\\", "/").endswith("torch/_dynamo/external_utils.py"):
        return None
    called = next((local[name] for name in code.co_freevars if name in local), None)
    return getattr(called, "__self__", None)


def owner(code: Any, local: Any) -> Any | None:
    """The object whose method a frame runs."""
    inside = inlined_module(code, local)
    return inside if inside is not None else local.get("self")


def records_gradients() -> bool:
    import torch

    return torch.is_grad_enabled()


def sizes(value: object) -> tuple[int, ...]:
    """A tensor's shape; empty for anything else, whose attributes are not to be touched."""
    import torch

    return tuple(int(n) for n in value.shape) if isinstance(value, torch.Tensor) else ()


def recompile_limit(setting: str) -> int:
    """The value of a limit by the name that torch gives it."""
    from torch._dynamo import config

    return int(getattr(config, setting))


def caches_off() -> str | None:
    """Why nothing is cached: the setting that says so; None where Inductor's cache is on."""
    from torch._inductor import config

    if getattr(config, "force_disable_caches", False):
        return "torch._inductor.config.force_disable_caches is set"
    if not getattr(config, "fx_graph_cache", True):
        return "torch._inductor.config.fx_graph_cache is off"
    return None
