"""The REST interface, over a real server and a real store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from stc.record.events import GraphSeen, RunEnded
from stc.record.store import Store
from stc.record.types import SCHEMA_VERSION, Graph

Fetch = Callable[..., Any]
ENDPOINTS = [
    ("GET", "stc/api/status"),
    ("GET", "stc/api/runs"),
    ("GET", "stc/api/runs/some-run"),
    ("PATCH", "stc/api/runs/some-run"),
    ("DELETE", "stc/api/runs/some-run"),
    ("GET", "stc/api/runs/some-run/artefacts/code.py"),
    ("GET", "stc/api/nothing/here"),
]


async def refused(answer: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of a request that has to fail."""
    with pytest.raises(HTTPClientError) as error:
        await answer
    response = error.value.response
    assert response is not None
    return error.value.code, json.loads(response.body) if response.body else {}


class TestAccess:
    @pytest.mark.parametrize(("method", "path"), ENDPOINTS)
    async def test_every_endpoint_refuses_a_request_without_a_token(
        self, jp_fetch: Fetch, method: str, path: str
    ) -> None:
        body = "{}" if method == "PATCH" else None
        status, _ = await refused(jp_fetch(path, method=method, body=body, headers={"Authorization": ""}))
        assert status == 403


class TestStatus:
    async def test_says_versions_and_that_the_store_is_in_order(self, jp_fetch: Fetch, stc_home: Path) -> None:
        reply = json.loads((await jp_fetch("stc/api/status")).body)
        assert reply["schema_version"] == SCHEMA_VERSION
        assert reply["version"]
        assert reply["store"]["ok"] is True
        assert Path(reply["store"]["path"]) == stc_home

    async def test_says_why_a_store_cannot_be_opened(self, jp_fetch: Fetch, stc_home: Path) -> None:
        # given a file where the store's folder should be
        stc_home.rmdir()
        stc_home.write_text("in the way")
        # when the panel asks
        reply = json.loads((await jp_fetch("stc/api/status")).body)
        # then it hears the reason, and the list is refused with a remedy and not as a fault of ours
        assert reply["store"]["ok"] is False
        assert str(stc_home) in reply["store"]["reason"]
        status, body = await refused(jp_fetch("stc/api/runs"))
        assert status == 409
        assert body["message"]
        assert body["remedy"]
        # and when the way is free, the next request finds the store
        stc_home.unlink()
        assert json.loads((await jp_fetch("stc/api/runs")).body) == {"runs": []}

    async def test_says_where_a_damaged_store_was_put(self, jp_fetch: Fetch, stc_home: Path) -> None:
        (stc_home / "runs.db").write_bytes(b"this was never a database " * 400)
        reply = json.loads((await jp_fetch("stc/api/status")).body)
        assert reply["store"]["ok"] is True
        (aside,) = stc_home.glob("runs.damaged-*")
        assert str(aside) in reply["store"]["reason"]

    async def test_a_store_that_was_removed_is_opened_anew(
        self, jp_fetch: Fetch, record: Callable[..., str], stc_home: Path
    ) -> None:
        record()
        assert len(json.loads((await jp_fetch("stc/api/runs")).body)["runs"]) == 1
        shutil.rmtree(stc_home)
        assert json.loads((await jp_fetch("stc/api/runs")).body) == {"runs": []}


class TestRuns:
    async def test_an_empty_store_has_an_empty_list(self, jp_fetch: Fetch) -> None:
        assert json.loads((await jp_fetch("stc/api/runs")).body) == {"runs": []}

    async def test_lists_runs_newest_first(self, jp_fetch: Fetch, record: Callable[..., str]) -> None:
        first, second = record(name="first", started_at=1000.0), record(name="second", started_at=2000.0)
        runs = json.loads((await jp_fetch("stc/api/runs")).body)["runs"]
        assert [r["run"]["id"] for r in runs] == [second, first]
        assert all(r["headline"] for r in runs)

    async def test_a_run_that_goes_on_is_listed_while_it_does(
        self, jp_fetch: Fetch, record: Callable[..., str]
    ) -> None:
        run = record(ended=False)
        runs = json.loads((await jp_fetch("stc/api/runs")).body)["runs"]
        assert [(r["run"]["id"], r["run"]["status"]) for r in runs] == [(run, "running")]

    async def test_a_report_has_every_part(self, jp_fetch: Fetch, record: Callable[..., str]) -> None:
        run = record()
        report = json.loads((await jp_fetch("stc/api/runs", run)).body)
        assert report["schema_version"] == SCHEMA_VERSION
        assert report["run"]["id"] == run
        assert {"compile", "steps", "findings", "headline"} <= set(report)

    async def test_a_report_is_built_anew_when_the_run_has_gone_on(
        self, jp_fetch: Fetch, live: Callable[..., Any]
    ) -> None:
        # given a report that has been read once
        run, writer = live()
        assert json.loads((await jp_fetch("stc/api/runs", run)).body)["compile"]["graphs"] == []
        # when the run records a graph and ends
        writer.write(GraphSeen(graph=Graph(id="0/0:forward", phase="forward")))
        writer.write(RunEnded(status="completed", ended_at=2.0, wall_s=1.0))
        writer.close()
        # then the next reading has it
        report = json.loads((await jp_fetch("stc/api/runs", run)).body)
        assert [g["id"] for g in report["compile"]["graphs"]] == ["0/0:forward"]
        assert report["run"]["status"] == "completed"

    async def test_an_unknown_run_is_not_found(self, jp_fetch: Fetch) -> None:
        status, body = await refused(jp_fetch("stc/api/runs/no-such-run"))
        assert status == 404
        assert body["message"]
        assert body["remedy"]

    @pytest.mark.parametrize("bad", ["..", ".hidden", "a/../../etc", "a b", "<b>", "x" * 200, "%2e%2e"])
    async def test_an_id_that_cannot_be_one_never_reaches_the_store(self, jp_fetch: Fetch, bad: str) -> None:
        for method in ("GET", "DELETE"):
            status, _ = await refused(jp_fetch("stc/api/runs", bad, method=method))
            assert status in (400, 404)


class TestRename:
    async def test_a_new_name_is_kept(self, jp_fetch: Fetch, record: Callable[..., str]) -> None:
        run = record(name="old")
        reply = await jp_fetch("stc/api/runs", run, method="PATCH", body=json.dumps({"name": " new <b>name</b> "}))
        assert json.loads(reply.body)["run"]["name"] == "new <b>name</b>"
        assert json.loads((await jp_fetch("stc/api/runs", run)).body)["run"]["name"] == "new <b>name</b>"
        assert Store.open().run(run).name == "new <b>name</b>"

    @pytest.mark.parametrize(
        "body", ["", "no json", "[]", "{}", '{"name": ""}', '{"name": "  "}', '{"name": 3}', '{"name": "a\\nb"}']
    )
    async def test_what_is_no_name_is_refused_in_a_sentence(
        self, jp_fetch: Fetch, record: Callable[..., str], body: str
    ) -> None:
        status, reply = await refused(jp_fetch("stc/api/runs", record(), method="PATCH", body=body))
        assert status == 400
        assert reply["message"].endswith(".")


class TestDelete:
    async def test_a_deleted_run_is_gone_and_nothing_else_is(
        self, jp_fetch: Fetch, record: Callable[..., str], stc_home: Path
    ) -> None:
        gone, kept = record(artefacts={"code.py": "x = 1"}), record(artefacts={"code.py": "x = 2"})
        reply = await jp_fetch("stc/api/runs", gone, method="DELETE")
        assert reply.code == 204
        assert [r.id for r in Store.open().runs()] == [kept]
        assert (await refused(jp_fetch("stc/api/runs", gone)))[0] == 404
        assert (await jp_fetch("stc/api/runs", kept, "artefacts", "code.py")).body == b"x = 2"

    async def test_deleting_twice_is_not_found(self, jp_fetch: Fetch, record: Callable[..., str]) -> None:
        run = record()
        await jp_fetch("stc/api/runs", run, method="DELETE")
        assert (await refused(jp_fetch("stc/api/runs", run, method="DELETE")))[0] == 404


class TestArtefacts:
    async def test_text_is_sent_as_text_that_no_browser_runs(self, jp_fetch: Fetch, record: Callable[..., str]) -> None:
        text = "<script>alert('×')</script>"
        run = record(artefacts={"graph-0_0.py": text})
        reply = await jp_fetch("stc/api/runs", run, "artefacts", "graph-0_0.py")
        assert reply.body.decode() == text
        assert reply.headers["Content-Type"].startswith("text/plain")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"

    @pytest.mark.parametrize("name", ["missing.py", "..", "../secret", "..%2fsecret", ".hidden"])
    async def test_what_is_no_artefact_of_the_run_is_not_found(
        self, jp_fetch: Fetch, record: Callable[..., str], stc_home: Path, name: str
    ) -> None:
        (stc_home / "secret").write_text("not yours")
        run = record(artefacts={"code.py": "x"})
        status, _ = await refused(jp_fetch("stc/api/runs", run, "artefacts", name))
        assert status in (400, 404)


class TestFaults:
    async def test_a_fault_of_ours_is_one_fixed_sentence_and_logged_whole(
        self,
        jp_fetch: Fetch,
        jp_serverapp: Any,
        record: Callable[..., str],
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        # given a store that breaks in a way nobody foresaw
        run = record()
        access = next(iter(jp_serverapp.extension_manager.extension_apps["stc_server"])).access
        monkeypatch.setattr(access, "_opened", lambda: None)
        # when a report is asked for
        status, body = await refused(jp_fetch("stc/api/runs", run))
        # then the answer tells nothing of the inside, and the log everything
        assert (status, body) == (
            500,
            {"message": "The STC server extension failed; its log says why.", "remedy": None},
        )
        assert "AttributeError" in caplog.text


class TestCookies:
    """A browser that has logged in sends a cookie in place of the token."""

    async def test_a_change_needs_the_xsrf_token_that_the_panel_sends_along(
        self, jp_fetch: Fetch, jp_serverapp: Any, record: Callable[..., str]
    ) -> None:
        # given a browser that has opened a page with the token in its address
        run = record()
        token = jp_serverapp.identity_provider.token
        form = await jp_fetch("login", headers={"Authorization": "none"})
        page = await jp_fetch("api/me", params={"token": token}, headers={"Authorization": "none"})
        cookies = [c.split(";")[0] for reply in (form, page) for c in reply.headers.get_list("Set-Cookie")]
        xsrf = next(c.partition("=")[2] for c in cookies if c.startswith("_xsrf="))
        headers = {"Authorization": "none", "Cookie": "; ".join(cookies)}
        # when a page of somebody else makes it send a request, that has the cookie alone and is refused
        status, body = await refused(jp_fetch("stc/api/runs", run, method="DELETE", headers=headers))
        assert status == 403
        assert body["message"]
        # and the panel's own request is carried out
        reply = await jp_fetch("stc/api/runs", run, method="DELETE", headers={**headers, "X-XSRFToken": xsrf})
        assert reply.code == 204
