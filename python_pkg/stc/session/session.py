"""One run from start to end: opens its record, listens, lets the training go on, and puts everything back.

Used by the magic, the command line, `stc.compiling` and `stc.compile`. A fault of ours becomes a gap in the report.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

from stc.errors import StcUserError, TargetUnavailable
from stc.options import Options
from stc.record.events import (
    CompileFailed,
    Event,
    GapSeen,
    LimitReached,
    OptionIgnored,
    PhasesMeasured,
    RunEnded,
    RunProgress,
    RunStarted,
    StepsMeasured,
    StepsTaken,
)
from stc.record.fold import fold
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Failure, Gap, Origin, Progress, Report, Run, Status
from stc.source.places import is_user_code, locate

from .environment import environment
from .sending import Sending

log = logging.getLogger("stc")


class Session:
    """A run as a context manager.

    Args:
        options: what the run is asked to do.
        origin: what started it.
        on_progress: told of each change of progress (None: nothing to say), from any thread.
        entered: frame and line of the user's `with` block, where the run is one.
        store: where it is recorded; the default store if None.

    Raises:
        TargetUnavailable: on entering, where the target does not exist here; nothing has been changed then.
    """

    def __init__(
        self,
        options: Options,
        origin: Origin,
        *,
        on_progress: Callable[[Progress | None], None] | None = None,
        entered: tuple[FrameType, int] | None = None,
        store: Store | None = None,
    ) -> None:
        self.options = options
        self.origin = origin
        self.report: Report | None = None
        self.run_id = new_run_id()
        self._on_progress = on_progress
        self._entered = entered
        self._store = store
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._undo = ExitStack()
        self._training: Any = None
        self._listener: Any = None
        self._writer: Any = None
        self._faults: set[tuple[str, str]] = set()
        self._sending: Sending | None = None
        self._measured: StepsMeasured | None = None

    def __enter__(self) -> Session:
        check_target(self.options.target)
        self._started = time.perf_counter()
        self._open()
        try:
            self._listen()
        except ImportError:
            self._emit(
                GapSeen(gap=Gap(part="torch", reason="PyTorch is not installed, so there was nothing to compile."))
            )
        except Exception as error:
            self.fault("session", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        status, partial = _status(error)
        try:
            self._close(status, partial, error)
        except Exception as fault:
            log.exception("STC could not finish the report")
            self.fault("session", fault)
        finally:
            self._undo.close()

    # ------------------------------------------------------------------ opening

    def _open(self) -> None:
        run = Run(
            id=self.run_id, name=self.options.name or default_name(self.origin), status="running", origin=self.origin,
            target="cpu" if self.options.target == "auto" else self.options.target,
            plan=self.options.plan or "inductor", started_at=time.time(), environment=environment(),
            options={f: getattr(self.options, f) for f in Options.__struct_fields__},
        )  # fmt: skip
        try:
            self._store = self._store or Store.open()
            self._writer = self._store.begin(run, self._feed)
        except StcUserError as error:
            self._emit(GapSeen(gap=Gap(part="store", reason=str(error))))
        except Exception as error:
            self.fault("store", error)
        self._emit(RunStarted(run=run))

    def _listen(self) -> None:
        import torch  # noqa: F401  # before anything is patched: a missing torch changes nothing

        from stc.backends.inductor import Inductor
        from stc.capture import listener
        from stc.capture.torch_compat import compiling
        from stc.plan.worth import History
        from stc.record.paths import home

        from .training import Training

        self._listener = listener()
        backend = None if self.options.plan == "eager" else Inductor(self._listener, self.options.dynamic)
        self._listener.attach(self._sink, step=self._step, artefact=self._artefact)
        self._undo.callback(self._listener.detach, self._sink)
        self._training = Training(
            self.options, backend, self._emit, self.fault, self._after_step, self._listener.compiling,
            History(home() / "compile-times.json"), self._entered,
        )  # fmt: skip
        self._sending = Sending(self._training.clock, self._emit)
        self._undo.callback(self._training.restore, keep=self.options.keep)
        self._training.install()
        self._undo.enter_context(compiling.soft_errors())
        try:
            around = compiling.around_compiles(self._training.models.pause, self._training.models.resume)
            self._undo.enter_context(around)
        except (ImportError, AttributeError) as error:
            self._emit(GapSeen(gap=Gap(part="compile callbacks", reason=f"Not in this torch: {error}")))

    # ------------------------------------------------------------------ while it runs

    def _step(self) -> int | None:
        return None if self._training is None else int(self._training.clock.index)

    def _sink(self, event: Event) -> None:
        if isinstance(event, RunProgress):
            if self._on_progress is not None:
                self._on_progress(event.progress)
        elif isinstance(event, LimitReached) and self._training is not None:
            place = event.limit.location
            inside_torch = (
                place is not None and place.path is not None and "/torch/optim/" in place.path.replace(os.sep, "/")
            )
            self._training.limit_reached(event.limit.function, of_optimizer=inside_torch)
        elif isinstance(event, CompileFailed) and self._training is not None:
            self._training.compile_failed(event.failure)
        self._emit(event)

    def _artefact(self, name: str, text: str) -> None:
        if self._writer is not None:
            self._writer.artefact(name, text)

    def _emit(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, StepsMeasured):
                self._measured = event  # only the last counts
            elif not isinstance(event, (StepsTaken, RunProgress)):
                self._events.append(event)
        if self._writer is not None:
            self._writer.write(event)

    def _after_step(self, switched: bool) -> None:
        if switched and self._sending is not None:
            # The next step may compile for a minute: what is known by now is shown meanwhile.
            self._sending.at_once()

    def _feed(self) -> None:
        if self._sending is not None:
            self._sending.now_and_then()

    def fault(self, part: str, error: BaseException) -> None:
        """Something of ours went wrong: logged whole, told once in the report, and the training goes on."""
        log.debug("STC: %s failed", part, exc_info=error)
        told = (part, f"{type(error).__name__}: {error}")
        if told not in self._faults:
            self._faults.add(told)
            self._emit(GapSeen(gap=Gap(part=part, reason=told[1])))

    # ------------------------------------------------------------------ closing

    def _close(self, status: Status, partial: str | None, error: BaseException | None) -> None:
        if self._training is not None:
            if error is None:
                self._training.settle_failures()
            if self._sending is not None:
                self._sending.end()
            self._training.remember()
        if self._listener is not None:
            phases, total_s = self._listener.phases()
            self._emit(PhasesMeasured(phases=phases, total_s=total_s))
        self._undo.close()  # before the end is recorded: the units say how they were left
        for option, reason in self._without_effect().items():
            self._emit(OptionIgnored(option=option, reason=reason))
        if self._on_progress is not None:
            self._on_progress(None)
        self._emit(
            RunEnded(
                status=status,
                ended_at=time.time(),
                wall_s=time.perf_counter() - self._started,
                partial=partial is not None,
                partial_reason=partial,
                failure=_failure(error) if error is not None and status == "failed" else None,
            )
        )
        self.report = self._judged()
        if self._writer is not None and self._store is not None:
            from stc.analyse import summarise

            self._writer.close(self.report, summarise(self.report))

    def _judged(self) -> Report:
        from stc.analyse import judge

        with self._lock:
            events = list(self._events)
        if self._measured is not None:
            events.append(self._measured)
        if self._training is not None:
            events.append(StepsTaken(series=self._training.clock.series()))
        return judge(fold(events))

    def _without_effect(self) -> dict[str, str]:
        """Options that were given and changed nothing, with the reason."""
        options, ignored = self.options, {}
        training = self._training
        models = [] if training is None else training.models.all()
        compiled = [m for m in models if m.compiled is not None]
        if options.plan == "eager":
            for name in ("dynamic", "keep"):
                if getattr(options, name) not in ("auto", False):
                    ignored[name] = "The plan is eager: nothing is compiled."
        elif models and not compiled:
            for name in ("dynamic", "keep", "precision"):
                if getattr(options, name) not in ("auto", False, "keep"):
                    ignored[name] = "No model was compiled."
        if options.target == "cuda" and models and all(m.device != "cuda" for m in models):
            ignored["target"] = 'The models are on the CPU; STC does not move them. Write model.to("cuda").'
        if options.target == "cpu" and models and all(m.device != "cpu" for m in models):
            ignored["target"] = f"The models are on {models[0].device}; STC does not move them."
        dtype = {"bf16": "torch.bfloat16", "fp16": "torch.float16"}.get(options.precision)
        if dtype is not None and models and all(m.dtype == dtype for m in models):
            ignored["precision"] = "The models' parameters have that type already."
        return ignored


def check_target(target: str) -> None:
    """Refuse a target that this machine does not have, before anything is changed.

    Raises:
        TargetUnavailable
    """
    if target != "cuda":
        return
    try:
        import torch
    except ImportError:
        raise TargetUnavailable("The target cuda needs PyTorch.", "Install it with: pip install torch.") from None
    if not torch.cuda.is_available():
        why = (
            "this PyTorch is built without CUDA" if torch.version.cuda is None else "no NVIDIA GPU or driver was found"
        )
        raise TargetUnavailable(
            f"There is no target cuda here: {why}.", "Leave --target out, or choose cpu; `stc doctor` tells more."
        )


def default_name(origin: Origin) -> str:
    """What a run is called unless it was given a name: the notebook or script, and the cell."""
    if origin.script:
        return os.path.basename(origin.script)
    stem = os.path.splitext(os.path.basename(origin.notebook))[0] if origin.notebook else None
    cell = f"In[{origin.cell}]" if origin.cell is not None else None
    return " ".join(part for part in (stem, cell) if part) or origin.kind


def _status(error: BaseException | None) -> tuple[Status, str | None]:
    if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
        return "completed", None
    if isinstance(error, KeyboardInterrupt):
        return "interrupted", "It was interrupted; what had been recorded until then is kept."
    return "failed", f"It ended with {type(error).__name__}; what had been recorded until then is kept."


def _failure(error: BaseException) -> Failure:
    place = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_user_code(code.co_filename):
            name = None if code.co_name == "<module>" else code.co_name
            place = locate(code.co_filename, traceback.tb_lineno, function=name)
        traceback = traceback.tb_next
    return Failure(type=type(error).__name__, message=str(error), location=place)
