"""The command ``stc``: what was recorded, the state of the installation, and scripts run as they are.

Everything is loaded by the command that needs it, so that help and completion cost nothing. What the user did wrong is one sentence
and a remedy on the error stream, with exit status 2.
"""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from stc.errors import RunNotFound, StcUserError

if TYPE_CHECKING:
    from stc.options import Options
    from stc.record.store import Store
    from stc.record.types import Report, Run

USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as a shell counts
NOBODY_READS = 141  # 128 + SIGPIPE

_RUN_HELP = "id of the run, the beginning of it, its name, or `last`"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 where `stc doctor` found a fault, 2 for an error of the user's.

    ``stc run`` returns what the program returned.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words[:1] == ["run"]:
            return _run(words[1:])
        _keep_writing_whatever_the_encoding()
        status = _command(words)
        sys.stdout.flush()
    except StcUserError as error:
        print(f"stc: {error.message} {error.remedy}", file=sys.stderr)
        return USER_ERROR
    except BrokenPipeError:
        # The reader, such as `head`, has gone. Python's own flush at exit must not complain of it.
        with suppress(OSError, ValueError, io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _command(words: Sequence[str]) -> int:
    parser, commands = _parser()
    if not words:
        parser.print_help()
        return 0
    if not words[0].startswith("-") and words[0] not in commands:
        near = difflib.get_close_matches(words[0], commands, n=1)
        remedy = f"Did you mean `stc {near[0]}`? " if near else ""
        raise StcUserError(f"There is no command {words[0]!r}.", f"{remedy}Commands are: {', '.join(commands)}.")
    try:
        given = parser.parse_args(words)
    except SystemExit as leaving:  # after --help and --version
        return int(leaving.code or 0)
    action: Callable[[argparse.Namespace], int] = given.action
    return action(given)


# --------------------------------------------------------------------------- the words


class _Parser(argparse.ArgumentParser):
    """One whose errors are a sentence and a remedy."""

    def __init__(self, **given: Any) -> None:
        super().__init__(allow_abbrev=False, **given)

    def error(self, message: str) -> NoReturn:
        raise StcUserError(f"{message[:1].upper()}{message[1:]}.", f"`{self.prog} --help` says what it takes.")


def _parser() -> tuple[_Parser, list[str]]:
    """The parser and the names of all commands."""
    from stc import __version__
    from stc.magics.arguments import add_options

    parser = _Parser(prog="stc", description="A training compiler you can see, inside JupyterLab.")
    parser.add_argument("--version", action="version", version=f"stc {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)

    def command(name: str, action: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=f"{about[:1].upper()}{about[1:]}.")
        made.set_defaults(action=action)
        return made

    run = command("run", lambda given: 0, "run a script as it is, compiled and recorded")
    run.usage = "stc run [options] script.py [arguments]\n       stc run [options] -m module [arguments]"
    add_options(run)
    runs = command("runs", _runs, "list the recorded runs, newest first")
    runs.add_argument("--json", action="store_true", help="as one JSON document")
    show = command("show", _show, "show what a run did, what was found, and what to do about it")
    show.add_argument("run", metavar="RUN", nargs="?", default="last", help=f"{_RUN_HELP} (default)")
    show.add_argument("--json", action="store_true", help="as one JSON document")
    show.add_argument("--html", metavar="FILE", help="write it as a web page that stands on its own")
    show.add_argument("--report", metavar="FILE", help="write it as one JSON document")
    export = command("export", _export, "write a run's report and the texts kept with it to a zip file")
    export.add_argument("run", metavar="RUN", help=_RUN_HELP)
    export.add_argument("file", metavar="FILE.zip", nargs="?", help="default: the run's id with .zip")
    rm = command("rm", _rm, "remove runs for good")
    rm.add_argument("runs", metavar="RUN", nargs="+", help=_RUN_HELP)
    rm.add_argument("--force", action="store_true", help="also those that are still running")
    rename = command("rename", _rename, "give a run another name")
    rename.add_argument("run", metavar="RUN", help=_RUN_HELP)
    rename.add_argument("name", metavar="NAME", help="1 to 200 characters")
    doctor = command("doctor", _doctor, "say what is installed, what works, and where something does not, why")
    doctor.add_argument("--json", action="store_true", help="as one JSON document")
    command("version", _version, "print the version")
    return parser, list(commands.choices)


# --------------------------------------------------------------------------- the commands


def _run(words: list[str]) -> int:
    options, program = _split(words)
    if "--help" in options or "-h" in options:
        return _command(["run", "--help"])
    from stc.magics.arguments import parse_words
    from stc.magics.script import run_script

    given: Options = parse_words(options)
    return run_script(given, program)


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """What is meant for STC, and the program with what is meant for it: all from the first word that is no option."""
    from stc.options import ARGUMENTS

    valued = {a.option for a in ARGUMENTS if not a.flag}
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return words[:position], words[position + 1 :]
        if word == "-m" or word == "-" or not word.startswith("-"):
            break
        position += 2 if word in valued else 1
    return words[:position], words[position:]


def _runs(given: argparse.Namespace) -> int:
    from stc.analyse import summaries

    found = summaries(_store())
    if given.json:
        from stc.record.types import SCHEMA_VERSION

        _print_json({"schema_version": SCHEMA_VERSION, "runs": found})
    else:
        from stc.render.text import runs_table

        print(runs_table(found))
    return 0


def _show(given: argparse.Namespace) -> int:
    from stc.analyse import build

    store = _store()
    run = _find(store, given.run)
    if given.json:
        _print_bytes(_document(store, run))
    told = sys.stderr if given.json else sys.stdout
    if given.report is not None:
        _write(given.report, _document(store, run))
        print(f"The report is in {given.report}.", file=told)
    if given.html is not None:
        _write(given.html, _page(store, build(store, run.id)).encode("utf-8", "replace"))
        print(f"The page is in {given.html}.", file=told)
    if not given.json and given.report is None and given.html is None:
        from stc.render.text import full

        print(full(build(store, run.id)), end="")
    return 0


def _export(given: argparse.Namespace) -> int:
    store = _store()
    run = _find(store, given.run)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("report.json", _document(store, run))
        for name in store.folded(run.id).artefacts:
            with suppress(RunNotFound):  # its file has gone, or was not written yet
                archive.writestr(f"artefacts/{name}", store.artefact(run.id, name))
    file = given.file or f"{run.id}.zip"
    _write(file, held.getvalue())
    print(f"Run {run.id} is in {file}.")
    return 0


def _rm(given: argparse.Namespace) -> int:
    store = _store()
    found = list({run.id: run for run in (_only(store, text) for text in given.runs)}.values())
    busy = [run for run in found if run.status == "running"]
    if busy and not given.force:
        raise StcUserError(
            f"Run {busy[0].id} is still running; nothing has been removed.",
            "Wait until it has ended, or add --force: then it goes on without being recorded.",
        )
    for run in found:
        store.delete(run.id)
        print(f"Removed {run.id}  {run.name}")
    return 0


def _rename(given: argparse.Namespace) -> int:
    store = _store()
    run = _only(store, given.run)
    try:
        store.rename(run.id, given.name)
    except ValueError:
        raise StcUserError("That is not a name.", "A name has 1 to 200 characters.") from None
    print(f"Run {run.id} is now {given.name.strip()!r}.")
    return 0


def _doctor(given: argparse.Namespace) -> int:
    from stc import doctor

    checks = doctor.examine()
    if given.json:
        _print_bytes(doctor.as_json(checks))
    else:
        print(doctor.as_text(checks))
    return 0 if doctor.is_well(checks) else 1


def _version(given: argparse.Namespace) -> int:
    from stc import __version__

    print(f"stc {__version__}")
    return 0


# --------------------------------------------------------------------------- the store


def _store() -> Store:
    from stc.record.store import Store

    store = Store.open()
    if store.set_aside is not None:
        print(
            f"stc: The store was damaged. It has been set aside as {store.set_aside}, and a new one begun.",
            file=sys.stderr,
        )
    return store


def _find(store: Store, text: str) -> Run:
    """The run that is meant; the newest, with a word about the others, where several have that name."""
    run = store.find(text)
    others = len(store.named(text)) - 1 if run.name == text else 0
    if others > 0:
        print(f"stc: {others + 1} runs are named {text!r}; this is the newest, {run.id}.", file=sys.stderr)
    return run


def _only(store: Store, text: str) -> Run:
    """The run that is meant, for what cannot be undone.

    Raises:
        RunNotFound: several runs have that name.
    """
    run = store.find(text)
    named = store.named(text) if run.name == text else []
    if len(named) > 1:
        raise RunNotFound(f"{len(named)} runs are named {text!r}.", f"Name one: {', '.join(r.id for r in named[:4])}.")
    return run


def _document(store: Store, run: Run) -> bytes:
    """The report as JSON: as it was saved where a newer STC saved it, else judged by this one's rules."""
    import msgspec

    from stc.analyse import build
    from stc.record.types import SCHEMA_VERSION

    saved = store.saved_report(run.id)
    if saved is not None and _schema_version(saved) > SCHEMA_VERSION:
        return msgspec.json.format(saved, indent=2) + b"\n"
    return msgspec.json.format(msgspec.json.encode(build(store, run.id)), indent=2) + b"\n"


def _schema_version(saved: bytes) -> int:
    import msgspec

    class Head(msgspec.Struct):
        schema_version: int = 0

    try:
        return msgspec.json.decode(saved, type=Head).schema_version
    except msgspec.MsgspecError:
        return 0


def _page(store: Store, report: Report) -> str:
    from stc.render.page import page

    def artefact(name: str) -> str | None:
        try:
            return store.artefact(report.run.id, name)
        except RunNotFound:
            return None

    return page(report, artefact=artefact)


# --------------------------------------------------------------------------- streams and files


def _keep_writing_whatever_the_encoding() -> None:
    """A terminal that has no "×" shows "?" in its place."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _print_json(value: Any) -> None:
    import msgspec

    _print_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def _print_bytes(data: bytes) -> None:
    """JSON is UTF-8 whatever the terminal is."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode("utf-8"))
    else:
        buffer.write(data)
        buffer.flush()


def _write(file: str, data: bytes) -> None:
    """Write a file whole or not at all."""
    path = Path(file)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise StcUserError(f"{file} cannot be written: {error.strerror or error}.", "Name another file.") from None


if __name__ == "__main__":
    raise SystemExit(main())
