"""JSON in and out. What a newer version wrote is kept: unknown fields survive reading and writing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from .events import EVENTS, Event
from .types import Report

E = TypeVar("E", bound=Event)

_BY_KIND: dict[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in EVENTS}
_DECODERS = {kind: msgspec.json.Decoder(struct) for kind, struct in _BY_KIND.items()}
_ENCODER = msgspec.json.Encoder()


def encode_event(event: Event) -> tuple[str, bytes]:
    """Kind and JSON of an event."""
    return str(type(event).__struct_config__.tag), _ENCODER.encode(event)


def decode_event(kind: str, payload: bytes) -> Event | None:
    """The event, or None where its kind is unknown or it is damaged: a reader goes on without it."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        return None
    try:
        return decoder.decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


@dataclass(frozen=True)
class Document:
    """A report with the whole of the JSON it was read from, so that nothing unknown is lost."""

    report: Report
    raw: dict[str, Any]


def decode(data: bytes) -> Document:
    """Read a report document.

    Raises:
        msgspec.MsgspecError: it is not JSON, or a field that this version knows has a wrong type.
    """
    raw = msgspec.json.decode(data)
    return Document(msgspec.convert(raw, Report), raw)


def encode(document: Document) -> bytes:
    """Write it: known fields from the typed report, unknown ones as they were read."""
    return _ENCODER.encode(_merged(document.raw, msgspec.to_builtins(document.report)))


def _merged(raw: Any, known: Any) -> Any:
    if isinstance(raw, dict) and isinstance(known, dict):
        return {**raw, **{k: _merged(raw.get(k), v) for k, v in known.items()}}
    if isinstance(raw, list) and isinstance(known, list) and len(raw) == len(known):
        return [_merged(a, b) for a, b in zip(raw, known, strict=True)]
    return known
