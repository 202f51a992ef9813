"""Rewrites a branch on a tensor with torch.where, where the branch is simple enough that the result is sure to be right."""

from __future__ import annotations

import ast

from stc.record.types import Location, Report

from .code import expressions, statement_at

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip


def with_where(report: Report, location: Location | None) -> str | None:
    """The `if` at a place, written with torch.where; None where it does more than choose one value."""
    found = statement_at(report, location)
    if found is None:
        return None
    block, position = found
    statement = block[position]
    if isinstance(statement, ast.If):
        return _rewritten(statement, block[position + 1 : position + 2])
    choice = next(expressions(statement, ast.IfExp), None)
    if isinstance(choice, ast.IfExp):
        text = ast.unparse(statement)
        return text.replace(ast.unparse(choice), _where(choice.test, choice.body, choice.orelse))
    return None


def _rewritten(branch: ast.If, following: list[ast.stmt]) -> str | None:
    if len(branch.body) != 1 or len(branch.orelse) > 1:
        return None
    then = branch.body[0]
    other = branch.orelse[0] if branch.orelse else None
    if isinstance(then, ast.Return):
        other = other if other is not None else next(iter(following), None)
        if then.value is None or not isinstance(other, ast.Return) or other.value is None:
            return None
        return f"return {_where(branch.test, then.value, other.value)}" if _plain(then.value, other.value) else None
    target, value = _assigned(then)
    if target is None or value is None:
        return None
    if other is None:
        otherwise: ast.expr = target
    else:
        second, otherwise_value = _assigned(other)
        if second is None or otherwise_value is None or ast.unparse(second) != ast.unparse(target):
            return None
        otherwise = otherwise_value
    if not _plain(value, otherwise):
        return None
    return f"{ast.unparse(target)} = {_where(branch.test, value, otherwise)}"


def _assigned(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """Target and new value of `x = ...` or `x += ...`."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    if isinstance(statement, ast.AugAssign) and type(statement.op) in _SYMBOLS:
        text = f"{ast.unparse(statement.target)} {_SYMBOLS[type(statement.op)]} ({ast.unparse(statement.value)})"
        return statement.target, ast.parse(text, mode="eval").body
    return None, None


def _plain(*values: ast.expr) -> bool:
    """One value each, not a tuple, text or None, which torch.where cannot choose between."""
    wrong = (ast.Tuple, ast.List, ast.Dict, ast.JoinedStr, ast.Lambda)
    return not any(
        isinstance(v, wrong) or (isinstance(v, ast.Constant) and not isinstance(v.value, int | float)) for v in values
    )


def _where(test: ast.expr, then: ast.expr, other: ast.expr) -> str:
    return f"torch.where({ast.unparse(test)}, {ast.unparse(then)}, {ast.unparse(other)})"
