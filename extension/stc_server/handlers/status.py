"""Which version runs here and whether the store can be read; answers even where nothing else can."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado.web import authenticated

from .base import StcHandler


class StatusHandler(StcHandler):
    @authenticated
    @authorized
    async def get(self) -> None:
        self.json(await self.access.status())
