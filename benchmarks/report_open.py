"""Opening a report with 200 graphs and 10,000 kernels: under 1 s from the store to JSON, of a finished and of a live run.

`panel_open.py` measures the same in a browser.
"""

from __future__ import annotations

import os
import time
from statistics import median

import msgspec

from stc.analyse import build, judge, summarise
from stc.record.events import GraphSeen, RunEnded, RunStarted
from stc.record.fold import fold
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import (
    Environment,
    Graph,
    Group,
    Kernel,
    Layout,
    Location,
    NotFused,
    Operation,
    Origin,
    Report,
    Run,
)
from stc.record.writer import RunWriter

from .paired import Result, fresh_folder

GRAPHS, KERNELS = 200, 50


def graph(number: int) -> Graph:
    """A graph with 50 kernels of five operations each."""
    place = Location(file="In[2]", line=1 + number % 40, cell=2, column=8, text="x = self.layer(x)")
    name = f"{number}/0:forward"
    kernels = [
        Kernel(
            id=f"{name}:{k}", name=f"cpp_fused_add_mul_relu_{k}", kind="cpp", bytes_read=4096, bytes_written=2048,
            ops=[Operation(name="aten.mul.Tensor", location=place, node=f"mul_{o}") for o in range(5)],
            groups=[Group(ops=[0, 1, 2]), Group(ops=[3, 4])],
            layout=[Layout(buffer=f"buf{k}", role="write", dtype="float32", shape=["64"], stride=["1"])],
        )
        for k in range(KERNELS)
    ]  # fmt: skip
    edges = [
        NotFused(
            first=kernels[k].id, second=kernels[k + 1].id, reason="They loop over different sizes.", buffers=["buf"]
        )
        for k in range(KERNELS - 1)
    ]
    return Graph(
        id=name, phase="forward", compile_id=f"{number}/0", kernels=kernels, not_fused=edges, ops=kernels[0].ops
    )


def begin(store: Store) -> tuple[RunWriter, Report]:
    """A run of that size that goes on, and the report it will have had."""
    now = Run(
        id=new_run_id(), name="large", status="running", origin=Origin(kind="script", pid=os.getpid()), target="cpu",
        plan="inductor", started_at=time.time(), environment=Environment(python="", platform="", stc=""),
    )  # fmt: skip
    events = [RunStarted(run=now), *(GraphSeen(graph=graph(g)) for g in range(GRAPHS))]
    writer = store.begin(now)
    for event in events[1:]:
        writer.write(event)
    ended = RunEnded(status="completed", ended_at=time.time(), wall_s=1.0)
    return writer, judge(fold([*events, ended]))


def run() -> list[Result]:
    store = Store.open(fresh_folder())
    writer, report = begin(store)
    while len(store.events(report.run.id)) <= GRAPHS:
        time.sleep(0.05)
    found = [_opened(store, report.run.id, "live")]
    writer.close(report, summarise(report), timeout_s=60)
    return [*found, _opened(store, report.run.id, "finished")]


def _opened(store: Store, run_id: str, kind: str) -> Result:
    taken = []
    for _ in range(7):
        started = time.perf_counter()
        msgspec.json.encode(build(store, run_id))
        taken.append(time.perf_counter() - started)
    name = f"a {kind} run of 200 graphs, 10,000 kernels to JSON"
    return Result(name, f"{median(taken) * 1000:.0f} ms", "< 1 s", median(taken) < 1, len(taken))
