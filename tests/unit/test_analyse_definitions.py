"""The table of numbers: complete, unique, and what is made of it is current."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stc.analyse import definitions

ROOT = Path(__file__).parents[2]


def test_every_number_is_defined_once_with_window_and_source() -> None:
    table = definitions.DEFINITIONS
    assert len({d.id for d in table}) == len(table)
    assert all(d.label and d.definition.endswith(".") and d.window and d.source for d in table)


def test_the_docs_and_the_panels_table_are_current() -> None:
    given = [
        "--write-docs",
        str(ROOT / "docs/metrics.md"),
        "--write-json",
        str(ROOT / "labextension/src/definitions.json"),
    ]
    assert definitions.main([*given, "--check"]) == 0


def test_a_stale_file_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stale = tmp_path / "metrics.md"
    stale.write_text("old")
    assert definitions.main(["--write-docs", str(stale), "--check"]) == 1
    assert "Not current" in capsys.readouterr().err
    assert stale.read_text() == "old"


def test_the_panels_table_is_by_id(tmp_path: Path) -> None:
    path = tmp_path / "definitions.json"
    definitions.main(["--write-json", str(path)])
    assert json.loads(path.read_text())["steps.speedup.ratio"]["unit"] == "×"


def test_a_hover_gives_definition_window_and_source() -> None:
    text = definitions.hover("steps.eager.median_s")
    assert "Median time of a step" in text and "Window:" in text and "Source:" in text
    with pytest.raises(KeyError):
        definitions.hover("steps.nonsense")
