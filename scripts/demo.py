"""Run the quickstart notebook in a real kernel, then print what came of it and where the report lies."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter

from stc.analyse import build
from stc.record.store import Store
from stc.record.types import Report

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"
OUTPUT = ROOT / ".stc-build" / "demo"
TIMEOUT_S = 900


def main() -> int:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    store = Store.open()
    before = {run.id for run in store.runs()}
    print(f"Running {NOTEBOOK.relative_to(ROOT)} in a kernel of its own. Compiling takes a while.", flush=True)

    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        extra_arguments=["--log-level=ERROR"],  # else the kernel warns that its sockets on 127.0.0.1 are not encrypted
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(error, file=sys.stderr)
        return 1

    page = OUTPUT / "quickstart.html"
    page.write_text(HTMLExporter().from_notebook_node(notebook)[0])
    runs = [run for run in store.runs() if run.id not in before]
    if not runs:
        print("The notebook ran, but no run was recorded. `stc doctor` may say why.", file=sys.stderr)
        return 1
    for run in reversed(runs):
        report = build(store, run.id)
        path = OUTPUT / f"{run.id}.json"
        path.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
        print()
        print_outcome(report, path)
    print(f"\nThe notebook with its outputs: {page}")
    print("`make lab` opens JupyterLab, where the STC panel shows this run in depth.")
    return 0


def print_outcome(report: Report, path: Path) -> None:
    print(f"{report.run.name}: {report.headline}")
    for finding in report.findings:
        place = f" ({finding.location.file}, line {finding.location.line})" if finding.location else ""
        print(f"  {finding.severity}: {finding.message}{place}")
    print(f"  Report: {path}  (also: stc show {report.run.id})")


if __name__ == "__main__":
    sys.exit(main())
