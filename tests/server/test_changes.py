"""The websocket that tells the panel what changed, over a real server and a real store."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from stc.record.events import RunEnded, RunProgress
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Progress

WITHIN_S = 5


async def say(socket: Any) -> dict[str, Any]:
    """The next message."""
    return json.loads(await asyncio.wait_for(socket.read_message(), WITHIN_S))


async def until(socket: Any, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first message that is right."""
    while True:
        message = await say(socket)
        if right(message):
            return message


@pytest.fixture
def watch(jp_serverapp: Any) -> Any:
    return next(iter(jp_serverapp.extension_manager.extension_apps["stc_server"])).watch


async def test_a_socket_without_a_token_is_refused(jp_ws_fetch: Callable[..., Any]) -> None:
    with pytest.raises(HTTPClientError) as error:
        await jp_ws_fetch("stc/api/changes", headers={"Authorization": ""})
    assert error.value.code == 403


async def test_greets_with_its_version(jp_ws_fetch: Callable[..., Any]) -> None:
    socket = await jp_ws_fetch("stc/api/changes")
    message = await say(socket)
    assert message["type"] == "hello"
    assert message["version"]
    socket.close()


async def test_tells_of_a_run_that_begins_goes_on_and_is_deleted(
    jp_ws_fetch: Callable[..., Any], live: Callable[..., Any]
) -> None:
    # given a panel that listens
    socket = await jp_ws_fetch("stc/api/changes")
    assert (await say(socket))["type"] == "hello"
    await asyncio.sleep(0.3)
    # when a run begins, it hears of it
    run, writer = live()
    assert run in (await until(socket, lambda m: m["runs"]))["runs"]
    # and when it goes on
    writer.write(RunProgress(progress=Progress(message="Compiling graph 1", at=2.0)))
    assert run in (await until(socket, lambda m: m["runs"]))["runs"]
    # and when it is deleted
    writer.write(RunEnded(status="completed", ended_at=3.0, wall_s=2.0))
    writer.close()
    await asyncio.sleep(0.5)
    Store.open().delete(run)
    message = await until(socket, lambda m: m["removed"])
    assert message["removed"] == [run]
    assert run not in message["runs"]
    socket.close()


async def test_many_changes_become_at_most_four_messages_a_second(
    jp_ws_fetch: Callable[..., Any], live: Callable[..., Any]
) -> None:
    # given a panel that notes when it hears something, and a run that writes all the time
    arrived: list[float] = []
    socket = await jp_ws_fetch("stc/api/changes", on_message_callback=lambda message: arrived.append(time.monotonic()))
    _, writer = live()
    # when it has written for two seconds
    began = time.monotonic()
    while time.monotonic() - began < 2:
        writer.write(RunProgress(progress=Progress(message="on and on", at=time.time())))
        await asyncio.sleep(0.02)
    # then the panel heard of it several times after the greeting, and never more than four times a second
    assert 3 <= len(arrived) <= 10
    gaps = [later - earlier for earlier, later in pairwise(arrived[1:])]
    assert min(gaps) > 0.2
    socket.close()


async def test_nothing_is_polled_without_listeners_nor_after_the_server_stops(
    jp_ws_fetch: Callable[..., Any], jp_serverapp: Any, watch: Any
) -> None:
    # given a server to which nobody listens: it does not poll
    assert not watch.polling
    # when one of two listeners leaves, it goes on; when the last one does, it ends
    first, second = await jp_ws_fetch("stc/api/changes"), await jp_ws_fetch("stc/api/changes")
    await say(first)
    await say(second)
    assert watch.polling
    first.close()
    await asyncio.sleep(0.3)
    assert watch.polling
    second.close()
    await asyncio.sleep(0.3)
    assert not watch.polling
    # and when the server stops while somebody listens, the socket closes and nothing is left pending
    third = await jp_ws_fetch("stc/api/changes")
    await say(third)
    await jp_serverapp.extension_manager.stop_all_extensions()
    assert await asyncio.wait_for(third.read_message(), WITHIN_S) is None
    assert not [t for t in asyncio.all_tasks() if "Watch" in repr(t)]


BEGIN_AND_WAIT = """
import sys, time
from stc.record.events import RunProgress
from stc.record.ids import new_run_id
from stc.record.store import Store
from stc.record.types import Environment, Origin, Progress, Run

run = Run(
    id=sys.argv[1], name="doomed", status="running", origin=Origin(kind="script"), target="cpu", plan="inductor", started_at=time.time(),
    environment=Environment(python="3.11", platform="here", stc="0"),
)
writer = Store.open().begin(run)
writer.write(RunProgress(progress=Progress(message="Compiling graph 1", at=time.time())))
print("begun", flush=True)
time.sleep(60)
"""


async def test_tells_of_a_run_whose_process_was_killed(
    jp_ws_fetch: Callable[..., Any], jp_fetch: Callable[..., Any], stc_home: Path
) -> None:
    # given a panel that sees a run go on in another process
    run = new_run_id()
    process = subprocess.Popen([sys.executable, "-c", BEGIN_AND_WAIT, run], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    socket = await jp_ws_fetch("stc/api/changes")
    await asyncio.sleep(0.5)
    (line,) = json.loads((await jp_fetch("stc/api/runs")).body)["runs"]
    assert line["run"]["status"] == "running"
    # when that process is killed
    process.kill()
    process.wait()
    # then the panel hears of it, and the run is lost, with what it had recorded kept
    assert run in (await until(socket, lambda m: m.get("runs")))["runs"]
    report = await fetch_until_lost(jp_fetch, run)
    assert report["run"]["partial"] is True
    assert report["run"]["partial_reason"]
    assert "run-partial" in [f["code"] for f in report["findings"]]
    socket.close()


async def fetch_until_lost(jp_fetch: Callable[..., Any], run: str) -> dict[str, Any]:
    deadline = time.monotonic() + WITHIN_S
    while True:
        report: dict[str, Any] = json.loads((await jp_fetch("stc/api/runs", run)).body)
        if report["run"]["status"] == "lost" or time.monotonic() > deadline:
            assert report["run"]["status"] == "lost"
            return report
        await asyncio.sleep(0.2)
