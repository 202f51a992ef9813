"""The same as the magic for people who do not like magics: a context manager, a function, and a look at what was recorded."""

from __future__ import annotations

import atexit
import os
import sys
from types import FrameType
from typing import Any, Literal, TypeVar

from stc.errors import StcUserError
from stc.options import make_options
from stc.record.types import Origin, RunSummary
from stc.source.places import cell_of

from .arguments import check_report_file
from .cells import notebook, recorder_of
from .recording import Recording, running_shell

Model = TypeVar("Model")

_open: Recording | None = None


def compiling(**options: Any) -> Recording:
    """Compile the training inside a ``with`` block, and record it.

    Takes the options of ``%%stc_compile`` as keywords: ``with stc.compiling(plan="inductor") as run: ...``. Afterwards ``run.report``
    is the report and ``run.run_id`` its id.

    Raises:
        StcUserError: an option or value that does not exist, or a target that this machine does not have.
    """
    frame = sys._getframe(1)
    given = make_options(**options)
    check_report_file(given.report)
    return Recording(given, origin("context", frame), entered=(frame, frame.f_lineno))


def compile(model: Model, **options: Any) -> Model:
    """Compile a model in place from now on, and record its training until `finish` or the end of the process.

    Takes the options of ``%%stc_compile`` as keywords.

    Returns:
        The same model.

    Raises:
        StcUserError: not a model; an option or value that does not exist; a target that this machine does not have.
    """
    global _open
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, torch.nn.Module):
        raise StcUserError(f"A {type(model).__name__} is not a model.", "Give a torch.nn.Module.")
    given = make_options(**options)
    check_report_file(given.report)
    recording = Recording(given, origin("function", sys._getframe(1)))
    recording.__enter__()
    if Recording.active is recording:
        _open = recording
        atexit.register(finish)
    return model


def finish() -> None:
    """End the run that `compile` opened: its models are as before, and its report is shown. Does nothing where there is none."""
    global _open
    recording, _open = _open, None
    atexit.unregister(finish)
    if recording is not None:
        recording.__exit__(None, None, None)


def runs() -> list[RunSummary]:
    """Every recorded run, newest first."""
    from stc.analyse import summaries
    from stc.record.store import Store

    return summaries(Store.open())


def show(run: str | None = None) -> Any:
    """A run to look into: graphs, kernels, findings, as an ipywidgets view.

    Args:
        run: id or name of the run, or the beginning of its id; the newest if None.

    Raises:
        RunNotFound: there is no such run, or there are several.
    """
    from stc.analyse import build
    from stc.record.store import Store
    from stc.render import widget

    store = Store.open()
    return widget.view(build(store, store.find(run).id))


def origin(kind: Literal["context", "function"], frame: FrameType) -> Origin:
    """Where in the user's code a run was started."""
    shell = running_shell()
    filename = frame.f_code.co_filename
    if shell is None:
        return Origin(kind=kind, script=_file(filename), argv=list(sys.argv[1:]), pid=os.getpid())
    running = recorder_of(shell).current
    cell = cell_of(filename)
    if running is not None:
        return Origin(
            kind=kind, notebook=running.notebook, cell=running.number, cell_id=running.cell_id, pid=os.getpid()
        )
    return Origin(kind=kind, notebook=notebook(shell), cell=None if cell is None else cell.number, pid=os.getpid())


def _file(filename: str) -> str | None:
    return os.path.abspath(filename) if os.path.isfile(filename) else None
