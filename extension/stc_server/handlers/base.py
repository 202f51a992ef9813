"""What all REST handlers share: the store, JSON answers by msgspec, and errors through the one mapper."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado.web import HTTPError, authenticated

from stc_server.errors import answer, is_expected

if TYPE_CHECKING:
    from stc_server.access import StoreAccess

# What cannot be an id or a name never reaches the store: no separators, no leading dot.
RUN_ID = r"(?P<run_id>[A-Za-z0-9][A-Za-z0-9_-]{0,63})"
ARTEFACT = r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,120})"


class StcHandler(APIHandler):
    """Base of the REST handlers."""

    auth_resource = "stc"
    _track_activity = False  # a panel that looks does not keep an idle server alive

    def initialize(self, access: StoreAccess) -> None:
        self.access = access

    def json(self, value: Any, status: int = 200) -> None:
        """Answer with a record, or anything msgspec can encode."""
        self.set_status(status)
        self.finish(msgspec.json.encode(value))

    def body(self) -> dict[str, Any]:
        """The request's JSON object.

        Raises:
            HTTPError: 400, it is not one.
        """
        try:
            value = json.loads(self.request.body)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise HTTPError(400, "The request needs a JSON object as its body.")
        return value

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        exc_info = kwargs.get("exc_info")
        reply = answer(exc_info[1] if exc_info else None, status_code)
        self.set_status(reply.status)
        self.finish(msgspec.json.encode(reply.body()))

    def log_exception(
        self, typ: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        if is_expected(value):
            self.log.info("%s %s: %s", self.request.method, self.request.path, value)
        else:
            super().log_exception(typ, value, tb)


class NothingHandler(StcHandler):
    """Every other address below ours: JSON, where Jupyter would answer with a page."""

    @authenticated
    @authorized
    async def get(self, *args: str) -> None:
        raise HTTPError(404, "There is nothing at this address.")

    put = post = patch = delete = get
