"""Finds the models a run calls and decides, call by call, whether each runs eager or compiled.

While a run lasts `nn.Module.__call__` is ours: outermost calls of modules with parameters go through here. The modules
themselves are not touched, so that they can be copied, pickled, scripted and looked into as ever.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from torch.compiler import is_dynamo_compiling

from stc.analyse.facts import WATCHED
from stc.capture.torch_compat.circumstances import in_backward, is_traced, why_not_compiled

from .earlier import code_of
from .units import Units, caller

if TYPE_CHECKING:
    from torch import nn

    from stc.backends import Backend

Mode = Literal["e", "c"]
_UNKNOWN: Any = object()
_WATCHED: Any = object()  # what it is made of is not to be taken for models by itself
MOST = 1000  # models of one run: code that makes one a step would fill the report with them


class Model:
    """One found model: its unit, its compiled call once there is one, and how it runs now."""

    def __init__(self, identity: str, module: nn.Module, parameters: int) -> None:
        self.identity = identity
        self.ref = weakref.ref(module)  # a sweep wants to let go of its models
        self.parameters = parameters
        self.code = code_of(module.forward)
        self.architecture = f"{type(module).__name__}:{parameters}:{sum(1 for _ in module.modules())}"
        self.ran = False  # compiled, in this run
        first = next(module.parameters())
        self.device, self.dtype = first.device.type, str(first.dtype)
        self.compiled: Callable[..., Any] | None = None
        self.barred = False  # stays eager, whatever is decided
        self.kept_eager: str | None = None  # why a call that was to be compiled was not, the last time
        self.turn = -1  # the step in which it was called last, outside of a backward pass
        self.mode: Mode = "e"
        self.calls = 0
        self.steps = 0  # steps it took part in


class Models:
    """Every model of a run.

    Args:
        on_call: told of each outermost call of a found model, before it runs, with the caller's frame.
        on_ran: told once a model has run compiled for the first time.
        on_fault: told of a fault of ours; the call goes on eager.
        autocast: dtype name ("bfloat16", "float16") for compiled calls, or None.
        eval_compiled: compile calls without gradients too.
    """

    def __init__(
        self,
        units: Units,
        backend: Backend | None,
        *,
        on_call: Callable[[Model, FrameType | None], None],
        on_ran: Callable[[Model], None],
        on_fault: Callable[[str, BaseException], None],
        autocast: str | None = None,
        eval_compiled: bool = True,
    ) -> None:
        self._units = units
        self._backend = backend
        self._on_call = on_call
        self._on_ran = on_ran
        self._on_fault = on_fault
        self._autocast = autocast
        self._eval_compiled = eval_compiled
        self._busy = threading.local()
        self._known: dict[int, Any] = {}  # Model, _WATCHED or None by id of the module, for as long as it lives
        self._models: list[Model] = []
        self.running: Model | None = None  # the one whose call is going on
        self.turn = 0  # number of the step
        self._active = False
        self._thread = 0
        self._original: Callable[..., Any] | None = None

    def install(self) -> None:
        """Begin to note outermost calls."""
        from torch import nn

        original = nn.Module.__call__
        known, busy, meet = self._known, self._busy, self._meet

        def __call__(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            # Also where a tracer sees this, or another library's hook leads here after the run.
            if is_dynamo_compiling() or getattr(busy, "inside", False) or not self._active:
                return original(module, *args, **kwargs)
            found = known.get(id(module), _UNKNOWN)
            if found is _UNKNOWN:
                found = meet(module)
            if found is None:
                return original(module, *args, **kwargs)
            busy.inside = True
            try:
                if found is _WATCHED or module._compiled_call_impl is not None:
                    return original(module, *args, **kwargs)
                return self._call(found, module, args, kwargs)
            finally:
                busy.inside = False

        self._original, self._noting = original, __call__
        self._active, self._thread = True, threading.get_ident()
        self.resume()

    def pause(self) -> None:
        """Give `nn.Module.__call__` back: Dynamo takes its short way through modules only while it is torch's own."""
        from torch import nn

        if self._original is not None and nn.Module.__call__ is self._noting:
            nn.Module.__call__ = self._original  # type: ignore[method-assign]

    def resume(self) -> None:
        from torch import nn

        if self._active and nn.Module.__call__ is self._original:
            nn.Module.__call__ = self._noting  # type: ignore[method-assign]

    @property
    def compiles(self) -> bool:
        """Whether models of this run are compiled at all."""
        return self._backend is not None

    def all(self) -> list[Model]:
        return list(self._models)

    def set_mode(self, model: Model, mode: Mode) -> None:
        """Run the model eager ("e") or compiled ("c") from its next call on."""
        if mode == "c" and model.compiled is None:
            module = model.ref()
            if module is None or self._backend is None or model.barred:
                return
            if self._units.get(model.identity).state == "failed":
                return
            try:
                model.compiled = self._backend.compile_module(module)
            except Exception as error:
                self._units.fail(model.identity, error)
                return
            self._units.change(model.identity, state="compiled")
        model.mode = mode

    def bar(self, model: Model, reason: str) -> None:
        """Leave a model eager for good."""
        if not model.barred:
            model.barred, model.mode, model.compiled = True, "e", None
            self._units.change(model.identity, state="eager", reason=reason)

    def restore(self, *, keep: bool) -> None:
        """Calls are torch's own again; with ``keep`` each compiled model has its compiled call where `Module.compile` puts it."""
        self._active = False
        self.pause()
        for model in self.all():
            unit = self._units.get(model.identity)
            kept = keep and model.compiled is not None and unit.state == "compiled"
            module = model.ref()
            if kept and module is not None and module._compiled_call_impl is None:
                vars(module)["_compiled_call_impl"] = model.compiled  # as Module.compile does
            try:
                if model.kept_eager is not None and not model.ran:
                    self._units.change(model.identity, state="eager", reason=model.kept_eager)
                self._units.left(model.identity, calls=model.calls, kept=kept)
            except Exception as error:
                self._on_fault("models", error)

    def abandon(self) -> None:
        """In the child of a fork: the run is the parent's. Nothing is put back, since that takes locks; calls pass through."""
        self._active = False

    def _meet(self, module: nn.Module) -> Any:
        """What the module is from now on; see `_known`."""
        try:
            if is_traced() or in_backward():
                return None  # not met yet: a call of its own is still to come
            identity_now = id(module)
            self._known[identity_now] = None
            weakref.finalize(module, self._known.pop, identity_now, None).atexit = False
            if module._compiled_call_impl is not None or "_torchdynamo_orig_callable" in vars(module):
                self._users_own(module)
                self._known[identity_now] = _WATCHED
                return _WATCHED
            shapes_unknown = any(hasattr(p, "materialize") for p in module.parameters())
            if shapes_unknown:
                del self._known[identity_now]  # its first call makes its parameters; the second one finds it
                return _WATCHED
            parameters = sum(p.numel() for p in module.parameters())
            if parameters == 0 or self._too_many():
                return None
            identity = self._units.add("model", module, frame=caller(2), parameters=parameters)
            model = Model(identity, module, parameters)
            self._known[identity_now] = model
            self._models.append(model)
            return model
        except Exception as error:
            self._on_fault("models", error)
            return None

    def _too_many(self) -> bool:
        if len(self._models) < MOST:
            return False
        self._on_fault("models", RuntimeError(f"There were more than {MOST} of them; the others ran as they were."))
        return True

    def _users_own(self, module: nn.Module) -> None:
        identity = self._units.add("model", module, frame=caller(3), parameters=None)
        self._units.change(identity, state="eager", reason=WATCHED)

    def _call(self, model: Model, module: nn.Module, args: Any, kwargs: Any) -> Any:
        """An outermost call of a model's, on whatever thread."""
        assert self._original is not None
        mine = threading.get_ident() == self._thread
        if mine:
            self.running = model
        try:
            try:
                self._on_call(model, caller(2))
            except Exception as error:
                self._on_fault("models", error)
            model.calls += 1
            if mine and model.mode == "c" and model.compiled is not None and self._may_compile(model):
                return self._call_compiled(model, module, args, kwargs)
            return self._original(module, *args, **kwargs)
        finally:
            if mine:
                self.running = None

    def _may_compile(self, model: Model) -> bool:
        reason = why_not_compiled()
        if reason is not None:
            model.kept_eager = reason
            return False
        if in_backward():
            # A checkpoint computes again: a model compiled, as it was, but what was a part of an eager one eager.
            return model.turn == self.turn
        model.turn = self.turn
        return True

    def _call_compiled(self, model: Model, module: nn.Module, args: Any, kwargs: Any) -> Any:
        import torch

        assert model.compiled is not None and self._original is not None
        if not self._eval_compiled and not torch.is_grad_enabled():
            return self._original(module, *args, **kwargs)
        if self._autocast is None:
            out = model.compiled(*args, **kwargs)
        else:
            with torch.autocast(model.device, dtype=getattr(torch, self._autocast)):
                out = _as_float32(model.compiled(*args, **kwargs))
        if not model.ran:
            model.ran = True
            try:
                self._on_ran(model)
            except Exception as error:
                self._on_fault("models", error)
        return out


def _as_float32(value: Any) -> Any:
    """Half-precision results back in float32, so that the loss is computed as the cell wrote it."""
    import torch
    from torch.utils._pytree import tree_map

    def widen(leaf: Any) -> Any:
        half = isinstance(leaf, torch.Tensor) and leaf.dtype in (torch.float16, torch.bfloat16)
        return leaf.float() if half else leaf

    return tree_map(widen, value)
