"""Completes option names and their choices on the line of a `%%stc_compile` cell, and nowhere else."""

from __future__ import annotations

import re
from typing import Any

from stc.options import ARGUMENTS

_LINE = re.compile(r"^\s*%%stc_compile\s(?P<words>.*)$", re.DOTALL)


def candidates(line: str) -> tuple[str, list[str]]:
    """What can stand at the end of a magic's line.

    Args:
        line: the line up to the cursor.

    Returns:
        The part that is being written, and what it can become; nothing on other lines.
    """
    match = _LINE.match(line)
    if match is None:
        return "", []
    words = match["words"].split(" ")
    written, before = words[-1], [w for w in words[:-1] if w]
    by_option = {argument.option: argument for argument in ARGUMENTS}
    option, equals, value = written.partition("=")
    if equals and option in by_option:
        return value, [c for c in by_option[option].choices if c.startswith(value)]
    previous = by_option.get(before[-1]) if before else None
    if previous is not None and not previous.flag:
        return written, [c for c in previous.choices if c.startswith(written)]
    unused = [name for name in by_option if name not in {w.split("=")[0] for w in before}]
    return written, [name for name in unused if name.startswith(written)]


def make_matcher() -> Any:
    """A matcher for `shell.Completer.custom_matchers`."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher()
    def stc_matcher(context: Any) -> dict[str, Any]:
        line = context.text_until_cursor.splitlines()[-1] if context.text_until_cursor else ""
        fragment, found = candidates(line)
        return {
            "completions": [SimpleCompletion(text=text, type="param") for text in found],
            "matched_fragment": fragment,
            "suppress": bool(found),
        }

    return stc_matcher
