"""Run the quickstart notebook in a real kernel, then print what came of it and where the report lies."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import msgspec
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbconvert import HTMLExporter

from stc.analyse import build, summaries
from stc.record.store import Store
from stc.record.types import Report

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"
OUTPUT = ROOT / ".stc-build" / "demo"
PROGRESS_S = 20.0


def main() -> int:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    store = Store.open()
    before = {run.id for run in store.runs()}
    print(
        f"Running {NOTEBOOK.relative_to(ROOT)} in a kernel of its own: a minute or two, more on a busy machine.",
        flush=True,
    )

    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=None,  # how long it takes is the machine's affair; progress shows that it goes on
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        extra_arguments=["--log-level=ERROR"],  # else the kernel warns that its sockets on 127.0.0.1 are not encrypted
    )
    ended = threading.Event()
    threading.Thread(target=tell_progress, args=(before, ended), daemon=True).start()
    try:
        client.execute()
    except (CellExecutionError, DeadKernelError) as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        ended.set()

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


def tell_progress(before: set[str], ended: threading.Event) -> None:
    """Print now and then where the run stands, until it has ended."""
    while not ended.wait(PROGRESS_S):
        newest = next((s for s in summaries(Store.open()) if s.run.id not in before), None)
        if newest is not None and newest.run.status == "running":
            print(f"  {newest.headline}", flush=True)


def print_outcome(report: Report, path: Path) -> None:
    print(f"{report.run.name}: {report.headline}")
    for finding in report.findings:
        place = f" ({finding.location.file}, line {finding.location.line})" if finding.location else ""
        print(f"  {finding.severity}: {finding.message}{place}")
    print(f"  Report: {path}  (also: stc show {report.run.id})")


if __name__ == "__main__":
    sys.exit(main())
