"""Reads the recorded source as syntax trees, to rewrite the user's own line in a next step.

Cells may hold magics and shell lines, which are no Python: they are blanked, so that line numbers stay right. Anything that
cannot be read gives None, and the advice falls back to words.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from stc.record.types import Location, Report


def tree_of(report: Report, file: str) -> ast.Module | None:
    """The recorded source of a cell or file as a tree with its own line numbers; None where there is none."""
    for source in report.sources:
        if source.file == file:
            return _parse("\n" * (source.first_line - 1) + source.text)
    return None


def statement_at(report: Report, location: Location | None) -> tuple[list[ast.stmt], int] | None:
    """The smallest statement that begins on or spans a line: the block it stands in, and its position there."""
    tree = tree_of(report, location.file) if location is not None else None
    if tree is None or location is None:
        return None
    best: tuple[list[ast.stmt], int] | None = None
    for block in _blocks(tree):
        for position, statement in enumerate(block):
            first = statement.lineno
            # Of a compound statement only the head counts: its body's lines belong to the statements in it.
            body: list[ast.stmt] | None = getattr(statement, "body", None)
            last = body[0].lineno - 1 if body else (statement.end_lineno or first)
            if first <= location.line <= max(first, last):
                best = (block, position)
    return best


def expressions(node: ast.AST, kind: type[ast.expr]) -> Iterator[ast.expr]:
    """All expressions of one kind within a node."""
    for found in ast.walk(node):
        if isinstance(found, kind):
            yield found


def dotted(node: ast.AST) -> str:
    """The name of a call's function, "self.lin.forward"; the last part alone where it hangs on an expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else node.attr
    return ""


def calls(node: ast.AST, last: str) -> list[ast.Call]:
    """Calls in a node whose function's last name is the one given, such as "item"."""
    return [
        found
        for found in ast.walk(node)
        if isinstance(found, ast.Call) and dotted(found.func).rpartition(".")[2] == last
    ]


@lru_cache(maxsize=64)
def _parse(text: str) -> ast.Module | None:
    lines = text.split("\n")
    for position, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith(("%", "!")):
            lines[position] = line[: len(line) - len(bare)] + ("pass" if not bare.startswith("%%") else "")
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return None


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements, outer ones first."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list):
            statements = [item for item in value if isinstance(item, ast.stmt)]
            if statements:
                yield statements
            for item in value:
                if isinstance(item, ast.AST):
                    yield from _blocks(item)
        elif isinstance(value, ast.AST):
            yield from _blocks(value)
