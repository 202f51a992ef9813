"""The JSON Schema of a report, exported from the structs; ``python -m stc.record.schema --check | --write``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from .types import SCHEMA_VERSION, Report, RunSummary

FILE = Path(__file__).with_name("schema.json")


def schema() -> dict[str, Any]:
    """Schema of `Report`; `RunSummary` is among its definitions."""
    _, parts = msgspec.json.schema_components([Report, RunSummary], ref_template="#/$defs/{name}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report",
        "version": SCHEMA_VERSION,
        "$ref": "#/$defs/Report",
        "$defs": parts,
    }


def text() -> str:
    return json.dumps(schema(), indent=1) + "\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        FILE.write_text(text())
        return 0
    if arguments == ["--check"]:
        current = FILE.exists() and FILE.read_text() == text()
        if not current:
            sys.stderr.write(f"{FILE.name} is not current; run: python -m stc.record.schema --write\n")
        return 0 if current else 1
    sys.stdout.write(text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
