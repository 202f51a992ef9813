"""`stc run`: an unmodified script or module as the main program of this process, inside a run.

What the program sees (``__main__``, ``sys.argv``, ``sys.path``, exit codes, tracebacks) is what ``python`` would have shown it.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from stc.errors import StcUserError
from stc.options import Options
from stc.record.types import Origin

from .output import say
from .recording import Recording
from .tracebacks import clean_exception

INTERRUPTED = 130  # 128 + SIGINT, as a shell counts


def run_script(options: Options, argv: Sequence[str]) -> int:
    """Run a program and return the exit status it would have had.

    Args:
        options: of the run.
        argv: the script and its arguments, or ``-m``, a module and its arguments.

    Raises:
        StcUserError: there is no such script, module or target; nothing has been run.
    """
    program = _module(argv[1:]) if argv and argv[0] == "-m" else _script(argv)
    origin = Origin(kind="script", script=program.shown, argv=list(program.argv[1:]), pid=os.getpid())
    sys.argv[:] = program.argv
    sys.path[0:1] = [program.path_entry]
    sys.modules["__main__"] = program.module
    started = False
    try:
        with Recording(options, origin):
            started = True
            run_program(program.code, program.module)
    except SystemExit as request:
        return _status(request)
    except KeyboardInterrupt as interrupt:
        _report(interrupt)
        return INTERRUPTED
    except BaseException as error:
        if not started:
            raise
        _report(error)
        return 1
    finally:
        _flush()
    return 0


def run_program(code: CodeType, module: ModuleType) -> None:
    exec(code, module.__dict__)


class _Program:
    """A program that is ready to run."""

    def __init__(
        self, code: CodeType, file: str | None, spec: ModuleSpec | None, path_entry: str, argv: list[str]
    ) -> None:
        self.code = code
        self.path_entry = path_entry
        self.argv = argv
        self.shown = argv[0] if spec is None else spec.name
        self.module = ModuleType("__main__")
        names = self.module.__dict__
        names["__builtins__"] = builtins
        names["__spec__"] = spec
        names["__loader__"] = None if spec is None else spec.loader
        names["__package__"] = None if spec is None else spec.parent
        names["__cached__"] = None if spec is None else spec.cached
        if file is not None:
            names["__file__"] = file
        if sys.version_info < (3, 14):  # later ones make it when it is wanted
            names["__annotations__"] = {}


def _script(argv: Sequence[str]) -> _Program:
    if not argv:
        raise StcUserError("There is no script to run.", "Write: stc run [options] script.py [arguments].")
    path = argv[0]
    if not os.path.exists(path):
        raise StcUserError(f"There is no script {path!r}.", "Check the path; options of STC come before it.")
    if os.path.isdir(path):
        raise StcUserError(f"{path!r} is a folder.", "Name a script, or run a module with -m.")
    absolute = os.path.abspath(path)  # as python names it
    try:
        with io.open_code(absolute) as file:
            source = file.read()
    except OSError as error:
        raise StcUserError(f"The script {path!r} cannot be read: {error.strerror}.", "Check its permissions.") from None
    return _Program(_compiled(source, absolute), absolute, None, os.path.dirname(absolute), list(argv))


def _module(argv: Sequence[str]) -> _Program:
    if not argv:
        raise StcUserError("-m needs a module.", "Write: stc run [options] -m package.module [arguments].")
    sys.path[0:1] = [os.getcwd()]
    name = argv[0]
    spec = _find(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _find(f"{name}.__main__")
    loader = None if spec is None else spec.loader
    get_code = getattr(loader, "get_code", None)
    code = None if spec is None or get_code is None else get_code(spec.name)
    if spec is None or code is None:
        raise StcUserError(
            f"There is no module {name!r} that can be run.", "Check its name, and the working directory."
        )
    file = spec.origin if spec.has_location else None
    return _Program(code, file, spec, os.getcwd(), [file or name, *argv[1:]])


def _find(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def _compiled(source: bytes, path: str) -> CodeType:
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        # As python does: the place is in the message, there is no stack.
        say("".join(traceback.format_exception_only(type(error), error)))
        raise SystemExit(1) from None


def _report(error: BaseException) -> None:
    """Show an exception as python would at the end of a program, through the program's own hook."""
    clean_exception(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception:
        traceback.print_exception(type(error), error, error.__traceback__)


def _status(request: SystemExit) -> int:
    code = request.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    say(str(code))
    return 1


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
