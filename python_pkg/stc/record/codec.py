"""JSON in and out. What a newer version wrote is kept: unknown fields survive reading and writing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

import msgspec

from .events import EVENTS, Event
from .types import Environment, Origin, Report, Run

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


class _Version(msgspec.Struct):
    schema_version: int


def version_of(data: bytes) -> int | None:
    """The schema version that a report document names; None where it is damaged."""
    try:
        return msgspec.json.decode(data, type=_Version).schema_version
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def encode(document: Document) -> bytes:
    """Write it: known fields from the typed report, unknown ones as they were read."""
    return _ENCODER.encode(_merged(document.raw, msgspec.to_builtins(document.report)))


def understood(data: bytes) -> Run:
    """The parts of a run that this version can read, for a run of a version whose values it does not all know.

    Raises:
        msgspec.MsgspecError: it is not a JSON object.
    """
    raw = msgspec.json.decode(data, type=dict[str, Any])
    hints = get_type_hints(Run)
    known: dict[str, Any] = {}
    for name in Run.__struct_fields__:
        try:
            known[name] = msgspec.convert(raw[name], hints[name])
        except (KeyError, msgspec.MsgspecError):
            continue
    unknown = Environment(python="unknown", platform="unknown", stc="unknown")
    without = {
        "id": "unknown", "name": "unknown", "origin": Origin(kind="script"), "target": "unknown", "plan": "unknown",
        "started_at": 0.0, "environment": unknown,
    }  # fmt: skip
    if "status" not in known:
        known |= {
            "status": "lost",
            "partial": True,
            "partial_reason": f"Its status {raw.get('status')!r} is not known here.",
        }
    return Run(**{**without, **known})


def _merged(raw: Any, known: Any) -> Any:
    if isinstance(raw, dict) and isinstance(known, dict):
        return {**raw, **{k: _merged(raw.get(k), v) for k, v in known.items()}}
    if isinstance(raw, list) and isinstance(known, list) and len(raw) == len(known):
        return [_merged(a, b) for a, b in zip(raw, known, strict=True)]
    return known
