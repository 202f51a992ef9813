"""What a run shows when it has ended: a summary in the cell or on the terminal, and a notice where something of ours went wrong."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from stc.record.types import Report

log = logging.getLogger("stc")

MIME = "application/vnd.stc.run+json"


def bundle(report: Report) -> dict[str, Any]:
    """The summary of a run in every form a front end may ask for."""
    from stc.render import html, text

    data: dict[str, Any] = {
        MIME: {"run": report.run.id, "schema_version": report.schema_version, "headline": report.headline},
        "text/plain": _or_else(lambda: text.summary(report), report.headline),
    }
    page = _or_else(lambda: html.summary(report), "")
    if page:
        data["text/html"] = page
    return data


def show_summary(report: Report, shell: Any) -> None:
    """Show a run's summary in the running cell; without a shell, on the error stream, since the output is the user's."""
    if shell is None:
        say(bundle(report)["text/plain"])
        return
    from IPython.display import publish_display_data

    data = bundle(report)
    if getattr(shell, "kernel", None) is None:
        say(data["text/plain"], stream=sys.stdout)
    else:
        publish_display_data(data)


def say(text: str, stream: Any = None) -> None:
    """Write a line or more for the user."""
    stream = stream or sys.stderr
    if stream is None:  # a process without streams
        return
    try:
        stream.write(text.rstrip("\n") + "\n")
        stream.flush()
    except (OSError, ValueError):
        log.debug("nobody is listening", exc_info=True)


def notice(text: str) -> None:
    """One line about a fault of ours, which leaves the training alone."""
    say(f"STC: {text}")


def write_report(report: Report, path: str) -> None:
    """Write the report as one JSON document. A file that cannot be written is a notice: the training has been done."""
    try:
        with open(path, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    except OSError as error:
        notice(f"the report could not be written to {path}: {error.strerror or error}.")


def _or_else(make: Callable[[], str], instead: str) -> str:
    try:
        return make()
    except Exception:
        log.exception("STC could not draw the summary")
        return instead
