"""What writing an event costs the thread that trains: less than 0.1 ms, while the writer's thread is at work."""

from __future__ import annotations

import time
from statistics import median

from stc.record.events import StepsTaken, UnitSeen
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Environment, Origin, Run, StepSeries, Unit

from .paired import Result, fresh_folder


def run() -> list[Result]:
    store = Store.open(fresh_folder())
    writer = store.begin(
        Run(
            id=new_run_id(), name="bench", status="running", origin=Origin(kind="script"), target="cpu", plan="inductor",
            started_at=time.time(), environment=Environment(python="", platform="", stc=""),
        )
    )  # fmt: skip
    steps = StepsTaken(series=StepSeries(index=[0] * 50, start_s=[0.0] * 50, duration_s=[0.001] * 50, kind="c" * 50))
    unit = UnitSeen(unit=Unit(id="model-1", kind="model", name="model", type="Net", state="found"))
    costs = []
    for number in range(4000):
        event = steps if number % 2 else unit
        started = time.perf_counter()
        writer.write(event)
        costs.append(time.perf_counter() - started)
        if number % 40 == 0:
            time.sleep(0.01)
    writer.close()
    costs.sort()
    typical, late = median(costs) * 1e6, costs[int(len(costs) * 0.99)] * 1e6
    return [
        Result("writing an event, median", f"{typical:.1f} µs", "< 100 µs", typical < 100, len(costs)),
        Result("writing an event, 99th percentile", f"{late:.1f} µs", "< 100 µs", late < 100, len(costs)),
    ]
