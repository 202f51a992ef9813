"""One mapper from exceptions to answers: the user's errors are 4xx with a remedy, ours are logged whole and answered with one sentence."""

from __future__ import annotations

from http.client import responses
from typing import NamedTuple

from tornado.web import HTTPError

from stc.errors import RunNotFound, StcUserError, StoreUnusable

OUR_FAULT = "The STC server extension failed; its log says why."
_STATUS: dict[type[StcUserError], int] = {RunNotFound: 404, StoreUnusable: 409}


class Answer(NamedTuple):
    """What a failed request is answered with."""

    status: int
    message: str
    remedy: str | None = None

    def body(self) -> dict[str, str | None]:
        return {"message": self.message, "remedy": self.remedy}


def answer(error: BaseException | None, status: int = 500) -> Answer:
    """The answer to a request that ended with an error; status is the one Tornado would send."""
    if isinstance(error, StcUserError):
        return Answer(_STATUS.get(type(error), 400), error.message, error.remedy)
    if isinstance(error, HTTPError) and error.status_code < 500:
        said = error.log_message % error.args if error.log_message and error.args else error.log_message
        return Answer(error.status_code, said or error.reason or responses.get(error.status_code, "Refused."))
    if error is None and status < 500:
        return Answer(status, responses.get(status, "Refused."))
    return Answer(500, OUR_FAULT)


def is_expected(error: BaseException | None) -> bool:
    """True for errors that need no traceback in the server's log."""
    return isinstance(error, StcUserError) or (isinstance(error, HTTPError) and error.status_code < 500)
