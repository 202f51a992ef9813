"""Fail where the docs no longer agree with the code: a finding without its entry or the reverse, an option that
the README lacks, a link to a file that is not there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from stc.analyse.rules import rules
from stc.options import ARGUMENTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^## ([a-z]+(?:-[a-z]+)*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)#:\s]+)(?:#[^)]*)?\)")


def main() -> int:
    complaints = [*findings(), *options(), *links()]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


def findings() -> Iterator[str]:
    described = set(CODE.findall((ROOT / "docs" / "findings.md").read_text()))
    for code in sorted(set(rules()) - described):
        yield f"docs/findings.md: no heading for `{code}`"
    for code in sorted(described - set(rules())):
        yield f"docs/findings.md: `{code}` has a heading, but no rule in python_pkg/stc/analyse/rules has that code"


def options() -> Iterator[str]:
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `--")]
    for argument in ARGUMENTS:
        row = next((r for r in rows if r.startswith(f"| `{argument.option}`")), None)
        if row is None:
            yield f"README.md: the table of options lacks {argument.option}"
        elif missing := [choice for choice in argument.choices if f"`{choice}`" not in row]:
            yield f"README.md: the row of {argument.option} lacks {', '.join(missing)}"


def links() -> Iterator[str]:
    for page in DOCS:
        for target in LINK.findall(page.read_text()):
            if not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: {target} is not there"


if __name__ == "__main__":
    sys.exit(main())
