"""Finds the models a run calls and decides, call by call, whether each runs eager or compiled.

While a run lasts `nn.Module.__call__` notes outermost calls. A model with parameters gets a dispatcher in the place where
`Module.compile` puts its compiled call; at the end both are put back as they were.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal

from .earlier import code_of
from .units import Units, caller

if TYPE_CHECKING:
    from torch import nn

    from stc.backends import Backend

Mode = Literal["e", "c"]
_UNKNOWN: Any = object()
_WATCHED: Any = object()  # what it is made of is not to be taken for models by itself


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
        self._active = False
        self._original: Callable[..., Any] | None = None

    def install(self) -> None:
        """Begin to note outermost calls."""
        from torch import nn

        original = nn.Module.__call__
        known, busy, meet = self._known, self._busy, self._meet

        def __call__(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if not getattr(busy, "depth", 0):
                found = known.get(id(module), _UNKNOWN)
                if (meet(module) if found is _UNKNOWN else found) is _WATCHED:
                    busy.depth = 1
                    try:
                        return original(module, *args, **kwargs)
                    finally:
                        busy.depth = 0
            return original(module, *args, **kwargs)

        self._original, self._noting = original, __call__
        self._active = True
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

    def all(self) -> list[Model]:
        return list(self._models)

    def set_mode(self, model: Model, mode: Mode) -> None:
        """Run the model eager ("e") or compiled ("c") from its next call on."""
        if mode == "c" and model.compiled is None:
            module = model.ref()
            if module is None or self._backend is None or self._units.get(model.identity).state == "failed":
                return
            try:
                model.compiled = self._backend.compile_module(module)
            except Exception as error:
                self._units.fail(model.identity, error)
                return
            self._units.change(model.identity, state="compiled")
        model.mode = mode

    def restore(self, *, keep: bool) -> None:
        """Take the dispatchers out; with ``keep`` the compiled call of each compiled model stays in their place."""
        self._active = False
        self.pause()
        for model in self.all():
            unit = self._units.get(model.identity)
            kept = keep and model.compiled is not None and unit.state == "compiled"
            module = model.ref()
            held = vars(module) if module is not None else {}
            if getattr(held.get("_compiled_call_impl"), "stc_model", None) is model:
                if kept:
                    held["_compiled_call_impl"] = model.compiled
                else:
                    del held["_compiled_call_impl"]
            try:
                self._units.left(model.identity, calls=model.calls, kept=kept)
            except Exception as error:
                self._on_fault("models", error)

    def _meet(self, module: nn.Module) -> Any:
        """What the module is from now on; see `_known`."""
        try:
            identity_now = id(module)
            self._known[identity_now] = None
            weakref.finalize(module, self._known.pop, identity_now, None).atexit = False
            if module._compiled_call_impl is not None or hasattr(module, "_torchdynamo_orig_callable"):
                self._users_own(module)
                self._known[identity_now] = _WATCHED
                return _WATCHED
            shapes_unknown = any(hasattr(p, "materialize") for p in module.parameters())
            if shapes_unknown:
                del self._known[identity_now]  # its first call makes its parameters; the second one finds it
                return _WATCHED
            parameters = sum(p.numel() for p in module.parameters())
            if parameters == 0:
                return None
            identity = self._units.add("model", module, frame=caller(2), parameters=parameters)
            model = Model(identity, module, parameters)
            self._known[identity_now] = model
            self._models.append(model)
            module._compiled_call_impl = self._dispatcher(model, module)
            return model
        except Exception as error:
            self._on_fault("models", error)
            return None

    def _users_own(self, module: nn.Module) -> None:
        identity = self._units.add("model", module, frame=caller(3), parameters=None)
        self._units.change(identity, state="eager", reason="It was compiled already; STC only watches.")

    def _dispatcher(self, model: Model, module: nn.Module) -> Callable[..., Any]:
        busy, on_call = self._busy, self._on_call
        reference, call = model.ref, type(module)._call_impl

        def eager(*args: Any, **kwargs: Any) -> Any:
            alive = reference()
            assert alive is not None  # its own call led here
            return call(alive, *args, **kwargs)

        def dispatch(*args: Any, **kwargs: Any) -> Any:
            if getattr(busy, "depth", 0) or not self._active:
                return eager(*args, **kwargs)
            busy.depth, self.running = 1, model
            try:
                try:
                    on_call(model, caller(1))
                except Exception as error:
                    self._on_fault("models", error)
                model.calls += 1
                if model.mode == "e" or model.compiled is None:
                    return eager(*args, **kwargs)
                return self._call_compiled(model, eager, args, kwargs)
            finally:
                busy.depth, self.running = 0, None

        dispatch.stc_model = model  # type: ignore[attr-defined]
        return dispatch

    def _call_compiled(self, model: Model, eager: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        import torch

        assert model.compiled is not None
        if not self._eval_compiled and not torch.is_grad_enabled():
            return eager(*args, **kwargs)
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
