"""The rules: one module each, found by being here. Each turns named signals of a report into findings.

A rule module has ``CODE``, the finding's stable code, and ``rule(report)``, a pure generator of findings. It says in its
docstring which signals it reads, and beside each threshold why it stands where it does.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache

from stc.record.types import Finding, Report

Rule = Callable[[Report], Iterable[Finding]]

_SEVERITIES = ("error", "warning", "info")
# Within one severity: what stops compiling altogether, then what costs every step, then what costs once, then what is unknown.
_ORDER = (
    "recompile-limit", "nothing-compiled", "compile-failed", "graph-break", "recompilation", "not-worth-compiling",
    "option-without-effect", "run-partial", "capture-incomplete",
)  # fmt: skip


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its code."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            found[loaded.CODE] = loaded.rule
    return found


def findings(report: Report) -> list[Finding]:
    """What the rules conclude, worst first."""
    made = [finding for rule in rules().values() for finding in rule(report)]
    return sorted(made, key=_rank)


def _rank(finding: Finding) -> tuple[int, int]:
    order = _ORDER.index(finding.code) if finding.code in _ORDER else len(_ORDER)
    return _SEVERITIES.index(finding.severity), order
