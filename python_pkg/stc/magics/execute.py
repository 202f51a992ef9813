"""Runs the body of a cell magic with the meaning it would have as a plain cell.

The body is compiled under its cell's own file name, behind blank lines, so that lines and columns are the notebook's.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any

from stc.errors import CellRefused
from stc.source.places import register_cell

from .cells import Running, blank_lines, line_of

_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class Body:
    """The statements of one cell body, ready to run.

    Args:
        shell: the `InteractiveShell`.
        text: the body, as the magic got it.
        running: the cell that it is part of; None outside any.

    Raises:
        SyntaxError: as the plain cell would.
        CellRefused: the body awaits at top level.
    """

    def __init__(self, shell: Any, text: str, running: Running | None) -> None:
        self._shell = shell
        above = None if running is None else line_of(text, running.raw)
        pad = 0 if above is None else above + blank_lines(text)
        source = "\n" * pad + shell.transform_cell(text)
        number = shell.execution_count if running is None else running.number
        raw = text if running is None or above is None else running.raw
        self.filename: str = shell.compile.cache(source, number, raw_code=raw)
        if running is not None:
            first = running.first_line if above is not None else 1
            register_cell(self.filename, running.cell(raw, first))
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=self.filename))
        self._statements = self._with_modes(tree.body, quiet=ends_in_semicolon(shell, source))
        if shell.autoawait and awaits(tree, self.filename, shell.compile.flags):
            raise CellRefused(
                "This cell awaits at its top level, which cannot run here.",
                "Write `with stc.compiling():` around the code in place of the magic.",
            )

    def run(self) -> None:
        """Run the statements one after another; what they raise is raised as it is."""
        shell = self._shell
        with shell.builtin_trap, shell.display_trap:
            for node, mode in self._statements:
                module = ast.Module([node], []) if mode == "exec" else ast.Interactive([node])
                code = shell.compile(module, self.filename, mode)  # remembers `from __future__` as a plain cell does
                run_statement(code, shell.user_global_ns, shell.user_ns)

    def _with_modes(self, nodes: list[ast.stmt], *, quiet: bool) -> list[tuple[ast.stmt, str]]:
        """Each statement with the mode it is compiled in: `single` displays its value."""
        wanted = self._shell.ast_node_interactivity
        nodes = list(nodes)
        if wanted == "last_expr_or_assign" and nodes and not quiet:
            name = _assigned_name(nodes[-1])
            if name is not None:
                nodes.append(ast.fix_missing_locations(ast.copy_location(ast.Expr(name), nodes[-1])))
        shown = 0
        if wanted == "all":
            shown = len(nodes)
        elif wanted == "last" or (wanted != "none" and nodes and isinstance(nodes[-1], ast.Expr)):
            shown = 1
        if quiet:
            shown = 0
        silent = len(nodes) - shown
        return [(node, "exec" if i < silent else "single") for i, node in enumerate(nodes)]


def run_statement(code: Any, global_ns: dict[str, Any], local_ns: dict[str, Any]) -> None:
    """The frame behind which everything is the user's; tracebacks are cut here."""
    exec(code, global_ns, local_ns)


BOUNDARY = run_statement.__name__


def awaits(tree: ast.Module, filename: str, flags: int) -> bool:
    """Whether a module only compiles, or runs, as a coroutine."""
    try:
        code = compile(tree, filename, "exec", flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return False  # the statement that is wrong says so when it is its turn
    return bool(code.co_flags & inspect.CO_COROUTINE)


def ends_in_semicolon(shell: Any, source: str) -> bool:
    try:
        return bool(shell.displayhook.semicolon_at_end_of_expression(source))
    except Exception:  # an unfinished string or bracket; the parser will say so
        return False


def _assigned_name(node: ast.stmt) -> ast.Name | None:
    if not isinstance(node, _ASSIGNMENTS):
        return None
    target = (
        node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else getattr(node, "target", None)
    )
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else None
