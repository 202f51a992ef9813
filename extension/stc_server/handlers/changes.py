"""The websocket that tells the panel which runs changed. It only speaks; what a client sends is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketHandler

if TYPE_CHECKING:
    from stc_server.watch import Watch


class ChangesHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    auth_resource = "stc"

    def initialize(self, watch: Watch) -> None:
        self.watch = watch

    def set_default_headers(self) -> None:
        """None of the page headers make sense on a websocket."""

    @ws_authenticated
    @authorized
    async def get(self, *args: Any, **kwargs: Any) -> None:
        await super().get(*args, **kwargs)

    def open(self, *args: str, **kwargs: str) -> None:
        super().open(*args, **kwargs)
        self.watch.add(self)

    def on_message(self, message: str | bytes) -> None:
        """Nothing to hear."""

    def on_close(self) -> None:
        self.watch.remove(self)
