"""Puts models, optimizers, clock and policy together: what happens at a model call, a backward pass and an update.

All of it runs on the thread that started the run; calls from other threads pass through untouched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from statistics import median
from types import FrameType
from typing import Any

from stc.capture.torch_compat.circumstances import in_backward
from stc.options import Options
from stc.plan.policy import LoopPolicy
from stc.plan.worth import History, Shape, estimate_compile
from stc.record.events import DecisionMade, Event
from stc.record.types import Failure
from stc.source.loops import LoopCount, enclosing_turns

from .clock import Loop, StepClock
from .earlier import Unit
from .marks import CudaMarks
from .models import Model, Models
from .optimizers import Managed, Optimizers
from .patches import Patches
from .twice import Twice
from .units import Units

# So many backward passes without an update, and the loop is taken for one that has no optimizer.
PASSES_WITHOUT_UPDATE = 64


class Training:
    """The training that goes on in a run.

    Args:
        after_step: told of each step's end, and whether the next one runs in another mode.
        compiling: seconds of compiling so far, and a counter that grows with each compile.
        on_ran: told once a model or optimizer has run compiled for the first time.
        entered: frame and line of the `with` block that the run is, if it is one.
    """

    def __init__(
        self,
        options: Options,
        backend: Any,
        emit: Callable[[Event], None],
        on_fault: Callable[[str, BaseException], None],
        after_step: Callable[[bool], None],
        compiling: Callable[[], tuple[float, int]],
        on_ran: Callable[[Unit], None],
        history: History,
        entered: tuple[FrameType, int] | None,
    ) -> None:
        self._options = options
        self._emit = emit
        self._history = history
        self._entered = entered
        self._thread = threading.get_ident()
        self.units = Units(emit)
        self.clock = StepClock(compiling)
        self._patches = Patches()
        self._policies: dict[str, LoopPolicy] = {}
        self._called: dict[Model, None] = {}  # models called in this step, in order
        self._stepped: dict[Managed, None] = {}
        self._anchor: Managed | None = None
        self._stranger: Managed | None = None  # another optimizer that has stepped since the anchor did
        self._failures: dict[str, Failure] = {}  # unit: what a compiler failed with, not told yet
        self._passes = 0  # backward passes since the last step's end
        self._frame_wanted = True
        self._limited_early = False
        self._look_at: dict[str, int] = {}  # loop not decided yet: step at which to look again
        self._last_turns: LoopCount | None = None
        autocast = {"bf16": "bfloat16", "fp16": "float16"}.get(options.precision)
        self.models = Models(
            self.units, backend, on_call=self._on_call, on_ran=on_ran, on_fault=on_fault, autocast=autocast,
            eval_compiled=options.plan is not None,
        )  # fmt: skip
        self.optimizers = Optimizers(
            self.units, backend, self._patches, on_meet=self._on_meet, on_step=self._on_update, on_ran=on_ran,
            on_fault=on_fault,
        )  # fmt: skip
        self.twice = Twice(self.models)
        self._active = False
        self._on_fault = on_fault
        self._after_step = after_step

    def install(self) -> None:
        import torch

        self.models.install()
        self.optimizers.install()
        original = torch.autograd.backward

        def backward(*args: Any, **kwargs: Any) -> Any:
            # One within another, as a checkpoint's, is not a pass of its own.
            mine = self._active and threading.get_ident() == self._thread and not in_backward()
            if not mine:
                return original(*args, **kwargs)
            try:
                result = original(*args, **kwargs)
            except RuntimeError as error:
                told = error  # the name is gone when a lambda looks for it
                self._guarded(lambda: self.twice.failed(told, list(self._called)))
                raise
            again = kwargs.get("create_graph") or (len(args) > 3 and args[3])
            self._guarded(lambda: self._on_backward(again=bool(again)))
            return result

        self._active = True
        self._patches.set(torch.autograd, "backward", backward)

    def abandon(self) -> None:
        """In the child of a fork: the run is the parent's, and everything is as it would be without one."""
        self._active = False
        self.models.abandon()
        self.optimizers.abandon()

    def _guarded(self, note: Callable[[], None]) -> None:
        try:
            note()
        except Exception as error:
            self._on_fault("steps", error)

    def restore(self, *, keep: bool) -> None:
        """Put every hook back. Each part is restored even if another fails."""
        self._active = False
        for undo in (
            lambda: self.models.restore(keep=keep), lambda: self.optimizers.restore(keep=keep), self._patches.undo
        ):  # fmt: skip
            try:
                undo()
            except Exception as error:
                self._on_fault("restore", error)

    def limit_reached(self, function: str, *, of_optimizer: bool) -> None:
        """Dynamo has given up on a function: from here on steps are partly eager."""
        if of_optimizer:
            for managed in self.optimizers.all():
                if managed.mode == "c":
                    self.optimizers.give_up(managed, "It was recompiled too often.")
            return
        loop = self.clock.current
        if loop is None:
            self._limited_early = True
            return
        loop.limited = True
        self._policy(loop.signature).stop_windows()

    def running(self) -> Model | Managed | None:
        """What is being called now; during a backward pass the model that was called last."""
        return self.optimizers.stepping or self.models.running or next(reversed(self._called), None)

    def compile_failed(self, failure: Failure) -> None:
        """A compiler failed on what is being called now. Told only once the call has gone well eager: else it is the user's."""
        called = self.running()
        if called is not None and called.identity is not None:
            self._failures[called.identity] = failure

    def settle_failures(self) -> None:
        """What a compiler failed on has run eager, and does so from now on: no mixture, and no further attempts."""
        if not self._failures:
            return
        for identity, failure in self._failures.items():
            self.units.change(identity, state="failed", failure=failure)
        for model in self.models.all():
            if model.identity in self._failures:
                model.mode, model.compiled = "e", None
        for managed in self.optimizers.all():
            if managed.identity in self._failures:
                managed.mode, managed.compiled = "e", None
        self._failures.clear()
        if self.clock.current is not None:
            self.clock.current.fresh = True

    def remember(self) -> None:
        """Keep what compiling cost, for the next run's estimate."""
        for loop in self.clock.loops.values():
            if loop.compile_s > 0.5 and loop.count("c"):
                self._history.remember(loop.signature, loop.compile_s)

    # ------------------------------------------------------------------ events of the training thread

    def _on_call(self, model: Model, frame: FrameType | None) -> None:
        if threading.get_ident() != self._thread:
            return
        self.clock.activity()
        self.twice.look(model, frame)
        if model not in self._called:
            self._called[model] = None
            if model.calls == 0 and self._options.plan == "inductor":
                self.models.set_mode(model, "c")
            if self._frame_wanted:
                self._last_turns = enclosing_turns(frame, self._entered)
            if model.device == "cuda" and self.clock.marks is None:
                self.clock.marks = CudaMarks()

    def _on_meet(self, managed: Managed) -> None:
        if self._options.plan == "inductor":
            self.optimizers.set_mode(managed, "c")

    def _on_backward(self, *, again: bool) -> None:
        if not self._called:
            return
        if again:
            self.twice.seen(list(self._called))
        self._passes += 1
        if self._anchor is not None and self._passes <= PASSES_WITHOUT_UPDATE:
            return
        if self._passes > PASSES_WITHOUT_UPDATE or not self._has_optimizer():
            self._end_step(None)

    def _on_update(self, managed: Managed) -> None:
        if threading.get_ident() != self._thread:
            return
        self._stepped[managed] = None
        anchor = self._anchor
        in_turns = anchor is not None and managed is not anchor and anchor.optimizer() is not None
        if in_turns and self._stranger is not managed:
            # Two optimizers in turns (a GAN): the first one ends the step. Twice the other one: a new loop.
            self._stranger = managed
            return
        self._anchor, self._stranger = managed, None
        self._end_step(managed)

    def _has_optimizer(self) -> bool:
        for model in self._called:
            module = model.ref()
            if module is not None and self.optimizers.holds({id(p) for p in module.parameters()}):
                return True
        return False

    # ------------------------------------------------------------------ the end of a step

    def _end_step(self, managed: Managed | None) -> None:
        called, stepped = list(self._called), list(self._stepped)
        trained = [m for m in called if m.mode == "c"] + [m for m in stepped if m.mode == "c"]
        signature = self._signature(called, managed)
        anchor = "optimizer update" if managed is not None else "backward pass"
        self.settle_failures()
        loop = self.clock.end_step(signature, anchor, "c" if trained else "e")
        if self._limited_early:
            loop.limited, self._limited_early = True, False
        for model in called:
            model.steps += 1
        passes, self._passes = max(1, self._passes), 0
        self._called.clear()
        self._stepped.clear()
        self.models.turn += 1
        self._after_step(self._choose(loop, called, stepped, passes))

    def _signature(self, called: list[Model], managed: Managed | None) -> str:
        if managed is not None and managed.identity is not None:
            unit = self.units.get(managed.identity)
            return f"{unit.type}:{unit.parameters}"
        return "+".join(sorted(f"{self.units.get(m.identity).type}:{m.parameters}" for m in called))

    def _policy(self, signature: str) -> LoopPolicy:
        policy = self._policies.get(signature)
        if policy is None:
            policy = self._policies[signature] = LoopPolicy(self._options.plan)
        return policy

    def _choose(self, loop: Loop, called: list[Model], stepped: list[Managed], passes: int) -> bool:
        """How the next step runs; true where that is not as this one did."""
        policy = self._policy(loop.signature)
        if policy.wants_decision:
            self._consider(loop, policy, called, stepped, passes)
        self._frame_wanted = policy.wants_decision
        mode = policy.after_step(
            compiled_steps=loop.compiled_steps,
            eager_steps=loop.eager_steps,
            last_s=loop.durations[-1],
            elapsed_s=loop.elapsed_s,
        )
        switched = False
        for model in called:
            if model.mode != mode:
                self.models.set_mode(model, mode)
                switched = switched or model.mode == mode
        for managed in stepped:
            if managed.mode != mode:
                self.optimizers.set_mode(managed, mode)
                switched = switched or managed.mode == mode
        if switched:
            loop.fresh = True
        return switched

    def _consider(
        self, loop: Loop, policy: LoopPolicy, called: list[Model], stepped: list[Managed], passes: int
    ) -> None:
        if loop.total < self._look_at.get(loop.signature, 0) or not policy.baseline_done(
            loop.eager_steps, loop.eager_s
        ):
            return
        self._look_at[loop.signature] = loop.total + loop.total // 10 + 1
        shape = Shape(loop.signature, sum(_leaves(m) for m in called), len(stepped))
        turns = self._last_turns
        remaining = None if turns is None else max(0, turns.turns // passes - loop.total)
        decision = policy.consider(
            eager_step_s=median(loop.of("e")),
            estimate=estimate_compile(shape, self._history),
            remaining=remaining,
            remaining_source=None if turns is None else turns.source,
            done=loop.total,
            elapsed_s=loop.elapsed_s,
        )
        if decision is not None:
            self._emit(DecisionMade(decision=decision))


def _leaves(model: Model) -> int:
    module = model.ref()
    return 0 if module is None else sum(1 for m in module.modules() if not any(True for _ in m.children()))
