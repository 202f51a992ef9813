"""Finds the optimizers alive in the process, marks the end of their updates, and runs their steps eager or compiled.

Each optimizer's bound `step` is replaced on the instance and put back at the end. Learning-rate schedulers that wrapped it
before or wrap it meanwhile keep working.
"""

from __future__ import annotations

import functools
import gc
import threading
import types
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stc.capture.torch_compat.circumstances import why_not_compiled

from .earlier import code_of
from .models import MOST, Mode
from .units import Units, caller

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from stc.backends import Backend

    from .patches import Patches


class Managed:
    """One optimizer: how its step runs now."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = weakref.ref(optimizer)
        self.type = type(optimizer).__name__
        self.code = code_of(type(optimizer).step)
        self.architecture = f"{self.type}:{sum(p.numel() for g in optimizer.param_groups for p in g['params'])}"
        self.ran = False  # compiled, in this run
        self.own: Callable[..., Any] | None = vars(optimizer).get("step")  # a scheduler had wrapped it
        self.function: Callable[..., Any] | None = None  # what we put there
        self.identity: str | None = None  # of its unit, from its first step on
        self.compiled: Callable[[Optimizer], Any] | None = None
        self.mode: Mode = "e"
        self.calls = 0
        self.rates: list[Any] | None = None  # a tensor a group, where a changing float would recompile
        self.active = True

    def before(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """The step as it was. Holds no reference to the optimizer, which a sweep wants to let go of."""
        if self.own is not None:
            return self.own(*args, **kwargs)
        return type(optimizer).step(optimizer, *args, **kwargs)


class Optimizers:
    """Every optimizer of a run.

    Args:
        on_step: told after each update of an optimizer.
        on_ran: told once one has stepped compiled for the first time.
        on_fault: told of a fault of ours; the step goes on eager.
    """

    def __init__(
        self,
        units: Units,
        backend: Backend | None,
        patches: Patches,
        *,
        on_meet: Callable[[Managed], None],
        on_step: Callable[[Managed], None],
        on_ran: Callable[[Managed], None],
        on_fault: Callable[[str, BaseException], None],
    ) -> None:
        self._units = units
        self._backend = backend
        self._patches = patches
        self._on_meet = on_meet
        self._on_step = on_step
        self._on_ran = on_ran
        self._on_fault = on_fault
        self._managed: list[Managed] = []
        self._taken: set[int] = set()  # ids of the optimizers among them that live
        self._of_use = MOST  # so many managed ones are no reason to look for dead ones
        self._active = False
        self._thread = 0
        self.stepping: Managed | None = None  # the one whose step is running now

    def install(self) -> None:
        """Take over the optimizers that exist and those that will be made."""
        from torch.optim import Optimizer

        original = Optimizer.__init__

        @functools.wraps(original)
        def __init__(optimizer: Optimizer, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            if self._active:  # else the run has ended, and another library's constructor leads here still
                self._take(optimizer)

        self._active, self._thread = True, threading.get_ident()
        self._patches.set(Optimizer, "__init__", __init__)
        for value in gc.get_objects():
            if issubclass(type(value), Optimizer):
                self._take(value)

    def all(self) -> list[Managed]:
        return [m for m in self._managed if m.identity is not None]

    def holds(self, parameters: set[int]) -> bool:
        """Is there a live optimizer of any of these parameters (by id)?"""
        for managed in self._managed:
            optimizer = managed.optimizer()
            if optimizer is not None and any(id(p) in parameters for g in optimizer.param_groups for p in g["params"]):
                return True
        return False

    def set_mode(self, managed: Managed, mode: Mode) -> None:
        """Run its steps eager ("e") or compiled ("c") from the next one on."""
        optimizer, identity = managed.optimizer(), managed.identity
        if optimizer is None or identity is None:
            return
        if mode == "c" and managed.compiled is None:
            if self._backend is None or self._units.get(identity).state in ("eager", "failed"):
                return
            from stc.capture.torch_compat import optimizers as inside

            reason = inside.why_not_compilable(optimizer)
            if reason is not None:
                self._units.change(identity, state="eager", reason=reason)
                return
            try:
                managed.compiled = inside.rewrapped(self._backend.compile_step(inside.inner_step(optimizer)))
                managed.rates = [] if inside.takes_tensor_rate(optimizer) else None
            except Exception as error:
                self._units.fail(identity, error)
                return
            self._units.change(identity, state="compiled")
        managed.mode = mode

    def give_up(self, managed: Managed, reason: str) -> None:
        """Run its steps eager for good."""
        managed.mode, managed.compiled = "e", None
        if managed.identity is not None:
            self._units.change(managed.identity, state="eager", reason=reason)

    def restore(self, *, keep: bool) -> None:
        """Put every bound step back; with ``keep`` compiled ones stay."""
        self._active = False
        for managed in self._managed:
            kept = keep and managed.compiled is not None and managed.mode == "c"
            managed.active = kept
            optimizer = managed.optimizer()
            held = vars(optimizer) if optimizer is not None and not kept else {}
            # Where a scheduler wrapped ours meanwhile it stays, and passes through to the step as it was.
            if getattr(held.get("step"), "__func__", None) is managed.function:
                if managed.own is not None:
                    held["step"] = managed.own
                else:
                    del held["step"]
            try:
                if managed.identity is not None:
                    self._units.left(managed.identity, calls=managed.calls, kept=kept)
            except Exception as error:
                self._on_fault("optimizers", error)

    def abandon(self) -> None:
        """In the child of a fork: the run is the parent's. Steps are as they were."""
        self._active = False
        for managed in self._managed:
            managed.active = False

    def _take(self, optimizer: Optimizer) -> None:
        try:
            self._take_over(optimizer)
        except Exception as error:  # half made, for one; it stays as it is
            self._on_fault("optimizers", error)

    def _take_over(self, optimizer: Optimizer) -> None:
        from torch.optim import Optimizer as Base

        if "param_groups" not in vars(optimizer):
            return  # not made yet, or never finished
        if isinstance(vars(optimizer).get("optimizer"), Base):
            return  # a wrapper such as accelerate's: the optimizer inside it is the one that steps
        if id(optimizer) in self._taken:
            return
        if len(self._managed) >= 2 * self._of_use:  # a sweep lets go of its optimizers
            self._managed = [m for m in self._managed if m.identity is not None or m.optimizer() is not None]
            self._of_use = max(MOST, len(self._managed))
        managed = Managed(optimizer)
        self._managed.append(managed)
        self._taken.add(id(optimizer))
        weakref.finalize(optimizer, self._taken.discard, id(optimizer)).atexit = False

        @functools.wraps(managed.own or type(optimizer).step)
        def step(optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
            if managed.optimizer() is not optimizer:  # a copy that took all attributes along
                return type(optimizer).step(optimizer, *args, **kwargs)
            if not managed.active or self.stepping is not None or threading.get_ident() != self._thread:
                return managed.before(optimizer, *args, **kwargs)
            return self._step(managed, optimizer, args, kwargs)

        managed.function = step
        vars(optimizer)["step"] = types.MethodType(step, optimizer)

    def _step(self, managed: Managed, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        self.stepping = managed
        try:
            if managed.identity is None:
                self._meet(managed, optimizer)
            managed.calls += 1
            if (
                managed.mode == "c"
                and managed.compiled is not None
                and not args
                and not kwargs
                and not why_not_compiled()
            ):
                result = self._compiled_step(managed, optimizer)
            else:
                result = managed.before(optimizer, *args, **kwargs)
        finally:
            self.stepping = None
        try:
            if managed.mode == "c" and not managed.ran:
                managed.ran = True
                self._on_ran(managed)
            self._on_step(managed)
        except Exception as error:
            self._on_fault("steps", error)
        return result

    def _meet(self, managed: Managed, optimizer: Optimizer) -> None:
        try:
            if sum(1 for m in self._managed if m.identity is not None) >= MOST:
                managed.active = False
                raise RuntimeError(f"There were more than {MOST} of them; the others ran as they were.")
            count = sum(p.numel() for g in optimizer.param_groups for p in g["params"])
            managed.identity = self._units.add("optimizer", optimizer, frame=caller(2), parameters=count)
            self._on_meet(managed)
        except Exception as error:
            self._on_fault("optimizers", error)

    @staticmethod
    def _compiled_step(managed: Managed, optimizer: Optimizer) -> Any:
        assert managed.compiled is not None
        if managed.rates is None:
            return managed.compiled(optimizer)
        import torch

        groups = optimizer.param_groups
        floats = [group["lr"] for group in groups]
        if len(managed.rates) != len(floats):
            managed.rates = [torch.tensor(0.0) for _ in floats]
        try:
            for group, rate, value in zip(groups, managed.rates, floats, strict=True):
                if isinstance(value, float):
                    group["lr"] = rate.fill_(value)
            return managed.compiled(optimizer)
        finally:
            for group, value in zip(groups, floats, strict=True):
                group["lr"] = value
