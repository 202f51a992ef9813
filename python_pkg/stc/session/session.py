"""One run from start to end: opens its record, listens, lets the training go on, and puts everything back.

Used by the magic, the command line, `stc.compiling` and `stc.compile`. A fault of ours becomes a gap in the report.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import Any

from stc.errors import StcUserError
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

from .asked import check_target, default_name, without_effect
from .earlier import Earlier
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
        self.abandoned = False
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
        self._earlier: Earlier | None = None
        self._measured: StepsMeasured | None = None

    def __enter__(self) -> Session:
        check_target(self.options.target)
        self._started = time.perf_counter()
        _running.add(self)
        self._open()
        try:
            self._listen()
        except ImportError:
            self._emit(
                GapSeen(gap=Gap(part="torch", reason="PyTorch is not installed, so there was nothing to compile."))
            )
        except Exception as error:
            self.fault("session", error)
        except BaseException as interrupt:
            self.__exit__(type(interrupt), interrupt, interrupt.__traceback__)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.abandoned:
            self._undo.close()
            return
        status, partial = _status(error)
        try:
            self._close(error)
        finally:  # also where the user interrupts that
            try:
                self._undo.close()
            finally:
                self._end(status, partial, error)

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
        self._earlier = Earlier(
            self._listener.emit, self._artefact, self._step, self._listener.compiled_code, self._listener.in_use
        )
        self._undo.callback(self._listener.detach, self._sink)  # also where attaching is cut short
        self._listener.attach(self._sink, step=self._step, artefact=self._artefact)
        self._training = Training(
            self.options, backend, self._emit, self.fault, self._after_step, self._listener.compiling, self._earlier.ran,
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

    def abandon(self) -> None:
        """This is the child of a fork: the run is its parent's, whose threads may have held any lock. Nothing is noted here."""
        self.abandoned = True
        if self._training is not None:
            self._training.abandon()

    def _step(self) -> int | None:
        return None if self._training is None else int(self._training.clock.index)

    def _sink(self, event: Event) -> None:
        if self.abandoned:
            return
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
        if self._earlier is not None and self._training is not None:
            self._earlier.heard(event, self._training.running())
        self._emit(event)

    def _artefact(self, name: str, text: str) -> None:
        if self._earlier is not None:
            self._earlier.text(name, text)
        if self._writer is not None:
            self._writer.artefact(name, text)

    def _emit(self, event: Event) -> None:
        if self.abandoned:
            return
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

    def _close(self, error: BaseException | None) -> None:
        """Take down what there is to be said, and put everything back. A part that fails is told; the others still count."""
        for part, action in (
            ("steps", lambda: self._last_steps(settled=error is None)),
            ("earlier runs", self._tell_earlier),
            ("phases", self._tell_phases),
            ("restore", self._undo.close),  # before the end is recorded: the units say how they were left
            ("options", self._tell_ignored),
        ):
            try:
                action()
            except Exception as fault:
                self.fault(part, fault)

    def _last_steps(self, *, settled: bool) -> None:
        if self._training is not None:
            if settled:
                self._training.settle_failures()
            if self._sending is not None:
                self._sending.end()
            self._training.remember()

    def _tell_earlier(self) -> None:
        if self._earlier is not None:
            self._earlier.end()

    def _tell_phases(self) -> None:
        if self._listener is not None:
            phases, total_s = self._listener.phases()
            self._emit(PhasesMeasured(phases=phases, total_s=total_s))

    def _tell_ignored(self) -> None:
        models = [] if self._training is None else self._training.models.all()
        for option, reason in without_effect(self.options, models).items():
            self._emit(OptionIgnored(option=option, reason=reason))

    def _end(self, status: Status, partial: str | None, error: BaseException | None) -> None:
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
        summary = None
        try:
            from stc.analyse import summarise

            self.report = self._judged()
            summary = summarise(self.report)
        except Exception as fault:
            log.debug("STC could not finish the report", exc_info=True)
            self.fault("report", fault)
        if self._writer is not None:
            self._writer.close(self.report, summary)

    def _judged(self) -> Report:
        from stc.analyse import judge

        with self._lock:
            events = list(self._events)
        if self._measured is not None:
            events.append(self._measured)
        if self._training is not None:
            events.append(StepsTaken(series=self._training.clock.series()))
        return judge(fold(events))


_running: weakref.WeakSet[Session] = weakref.WeakSet()


def _forked() -> None:
    for session in list(_running):
        session.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


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
