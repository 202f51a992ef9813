"""A real Jupyter server with the STC extension, a token, and a store of the test's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403  # fixtures are found by their presence here, for this folder alone

from stc.record.events import RunEnded
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Environment, Origin, Run
from stc.record.writer import RunWriter


@pytest.fixture
def jp_server_config(stc_home: Path) -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": {"stc_server": True, "jupyter_server_terminals": False},
            # A handler that forgets to authenticate then fails here.
            "allow_unauthenticated_access": False,
        },
    }


@pytest.fixture
def live(stc_home: Path) -> Iterator[Callable[..., tuple[str, RunWriter]]]:
    """Begin a run and leave it running; its writer is closed afterwards."""
    stores: list[Store] = []
    writers: list[RunWriter] = []

    def begin(*, name: str = "a run", started_at: float = 1.0) -> tuple[str, RunWriter]:
        store = Store.open()
        run = Run(
            id=new_run_id(started_at), name=name, status="running", origin=Origin(kind="function", pid=os.getpid()), target="cpu",
            plan="inductor", started_at=started_at, environment=Environment(python="3.11", platform="here", stc="0"),
        )  # fmt: skip
        writer = store.begin(run)
        stores.append(store)
        writers.append(writer)
        return run.id, writer

    yield begin
    for writer in writers:
        writer.close()
    for store in stores:
        store.close()


@pytest.fixture
def record(live: Callable[..., tuple[str, RunWriter]]) -> Callable[..., str]:
    """Write a whole run, and say its id."""

    def write(*, ended: bool = True, artefacts: dict[str, str] | None = None, **run: Any) -> str:
        run_id, writer = live(**run)
        for name, text in (artefacts or {}).items():
            writer.artefact(name, text)
        if ended:
            writer.write(RunEnded(status="completed", ended_at=2.0, wall_s=1.0))
            writer.close()
        return run_id

    return write
