"""The one table of options as a parser: for the magic, the command line, their help, and their one-sentence errors.

Values are judged by `make_options` alone, so that magic, command line and keyword arguments say the same things.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from stc.errors import StcUserError, UnknownOption
from stc.options import ARGUMENTS, Argument, Options, make_options


class OptionParser(argparse.ArgumentParser):
    """A parser that raises `UnknownOption` where argparse would print its usage and exit."""

    def __init__(self, **given: Any) -> None:
        super().__init__(add_help=False, allow_abbrev=False, **given)

    def error(self, message: str) -> NoReturn:
        missing = re.match(r"argument (--[\w-]+): expected", message)
        if missing:
            raise UnknownOption(f"{missing[1]} needs a value.", _what_it_takes(missing[1]))
        surplus = re.match(r"argument (--[\w-]+): ignored explicit argument", message)
        if surplus:
            raise UnknownOption(f"{surplus[1]} takes no value.", f"Write just {surplus[1]}.")
        raise UnknownOption(f"The options cannot be read: {message}.", f"Options are: {', '.join(option_names())}.")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser every option of the table; one that is not given is left out of the namespace."""
    for argument in ARGUMENTS:
        given: dict[str, Any] = {"dest": argument.name, "help": argument.help, "default": argparse.SUPPRESS}
        if argument.flag:
            parser.add_argument(argument.option, action="store_true", **given)
        else:
            parser.add_argument(argument.option, metavar=_metavar(argument), **given)


def parse_line(line: str) -> Options:
    """The options on a magic's line.

    Raises:
        UnknownOption: an unknown option or value, or a missing one.
    """
    try:
        words = shlex.split(line)
    except ValueError:
        raise UnknownOption("The line has a quotation mark that is not closed.", "Close it, or leave it out.") from None
    return parse_words(words)


def parse_words(words: Sequence[str]) -> Options:
    parser = OptionParser()
    add_options(parser)
    known, unknown = parser.parse_known_args(list(words))
    if unknown:
        raise unknown_option(unknown[0])
    options = make_options(**vars(known))
    check_report_file(options.report)
    return options


def unknown_option(word: str) -> UnknownOption:
    """The error for a word that is no option, with the nearest option where there is one."""
    names = option_names()
    near = difflib.get_close_matches(word.split("=")[0], names, n=1)
    remedy = f"Did you mean {near[0]}? " if near else ""
    return UnknownOption(f"There is no option {word!r}.", f"{remedy}Options are: {', '.join(names)}.")


def check_report_file(path: str | None) -> None:
    """Refuse a report file that could not be written, before anything has been trained.

    Raises:
        StcUserError
    """
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise StcUserError(f"The report cannot be written to {path!r}: it is a folder.", "Name a file.")
    if not os.path.isdir(folder):
        raise StcUserError(
            f"The report cannot be written to {path!r}: there is no folder {folder!r}.", "Create it first."
        )
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise StcUserError(f"The report cannot be written to {path!r}: permission is missing.", "Choose another place.")


def option_names() -> list[str]:
    return [argument.option for argument in ARGUMENTS]


def options_help(prog: str) -> str:
    """Usage and options as text."""
    parser = OptionParser(prog=prog, formatter_class=_Wide)
    add_options(parser)
    return parser.format_help()


class _Wide(argparse.RawDescriptionHelpFormatter):
    """Help of the same width wherever it is shown."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=100)


def _metavar(argument: Argument) -> str:
    return "{" + ",".join(argument.choices) + "}" if argument.choices else argument.metavar or argument.name.upper()


def _what_it_takes(option: str) -> str:
    argument = next((a for a in ARGUMENTS if a.option == option), None)
    if argument is not None and argument.choices:
        return f"Choose one of: {', '.join(argument.choices)}."
    return f"Write {option} {argument.metavar if argument else 'VALUE'}."
