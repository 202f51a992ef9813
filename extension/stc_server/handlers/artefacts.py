"""One text artefact of a run, such as generated code; always sent as plain text, so that a browser never runs it."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from .base import StcHandler


class ArtefactHandler(StcHandler):
    @authenticated
    @authorized
    async def get(self, run_id: str, name: str) -> None:
        text = await self.access.artefact(run_id, name)
        self.set_header("X-Content-Type-Options", "nosniff")
        await self.finish(text.encode(), set_content_type="text/plain; charset=UTF-8")
