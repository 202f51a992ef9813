"""The run list, one run's report, and renaming and deleting it."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import HTTPError, authenticated

from .base import StcHandler

MAX_NAME = 200


class RunsHandler(StcHandler):
    @authenticated
    @authorized
    async def get(self) -> None:
        self.json({"runs": await self.access.runs()})


class RunHandler(StcHandler):
    @authenticated
    @authorized
    async def get(self, run_id: str) -> None:
        self.set_header("Content-Type", "application/json")
        await self.finish(await self.access.report(run_id))

    @authenticated
    @authorized
    async def patch(self, run_id: str) -> None:
        name = self.body().get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
            raise HTTPError(400, f"A name is one line of 1 to {MAX_NAME} characters.")
        self.json(await self.access.rename(run_id, name.strip()))

    @authenticated
    @authorized
    async def delete(self, run_id: str) -> None:
        await self.access.delete(run_id)
        self.set_status(204)
        await self.finish()
