"""The rules as a whole: found by being there, documented, pure, and ordered worst first."""

from __future__ import annotations

from pathlib import Path

from fixtures.made import example, report
from stc.analyse import judge, summarise
from stc.analyse.rules import findings, rules
from stc.record.types import Gap, Limit

DOCS = Path(__file__).parents[2] / "docs" / "findings.md"


def test_every_code_of_the_first_release_has_a_rule() -> None:
    assert set(rules()) == {
        "nothing-compiled", "graph-break", "recompilation", "recompile-limit", "not-worth-compiling", "compile-failed",
        "capture-incomplete", "option-without-effect", "run-partial",
    }  # fmt: skip


def test_every_code_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert [code for code in rules() if f"\n## {code}\n" not in text] == []


def test_findings_come_worst_first_and_a_recompile_limit_leads() -> None:
    found = findings(example("troubled"))
    assert found[0].code == "recompile-limit"
    order = [("error", "warning", "info").index(f.severity) for f in found]
    assert order == sorted(order)


def test_a_healthy_run_has_no_findings() -> None:
    assert findings(example("healthy")) == []


def test_every_finding_says_what_to_do_and_on_what_evidence() -> None:
    for name in ("troubled", "left_eager", "empty"):
        for finding in findings(example(name)):
            assert finding.next_step is not None and finding.next_step.text
            assert finding.evidence
            assert finding.message.endswith(".") and "!" not in finding.message


def test_the_stored_examples_are_judged_as_today() -> None:
    for name in ("healthy", "troubled", "left_eager", "running", "empty"):
        assert judge(example(name)) == example(name)


def test_a_summary_counts_the_findings() -> None:
    judged = judge(
        report(limits=[Limit(function="forward", limit=8, guard="x == 8")], gaps=[Gap(part="bytes", reason="No.")])
    )
    line = summarise(judged)
    assert (line.errors, line.warnings, line.infos) == (1, 0, 1)
    assert line.headline == judged.headline
