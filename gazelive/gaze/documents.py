"""The documents that travel from the engine to whoever listens: one tagged union.

They are msgpack on the wire and JSON lines on disk, both by msgspec; a reader that meets an
unknown tag or a wrong type gets a `TransportError` that says so.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gazelive.errors import TransportError
from gazelive.gaze.events import Blink, Event, EventEye, Fixation, Saccade
from gazelive.gaze.stream import StreamDescription

PROTOCOL_VERSION = 1


class RunStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """First document of a run."""

    session: str
    stream: StreamDescription
    protocol_version: int = PROTOCOL_VERSION
    viewer_ids: tuple[str, ...] = ()
    """The enrolled viewers: names travel once, posteriors refer to them by position."""


class TrialStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A viewing interval begins."""

    trial: str
    tracker_time_us: int
    image: str | None = None


class SaccadeOnset(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The fast trigger: a saccade seems to have begun."""

    eye: EventEye
    onset_us: int
    detection_delay_ms: float
    confidence: float = 1.0


class Retraction(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A saccade that was sent is none after all."""

    eye: EventEye
    onset_us: int
    reason: str


class Posterior(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Who is looking: natural-log probabilities over the enrolled, given that it is one of them."""

    log_probabilities: tuple[float, ...]
    log_unknown: float | None = None
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool


class Quality(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How good the data are, or what was wrong with them; the run goes on."""

    tracker_time_us: int
    kind: Literal["lost_samples", "time_gap", "time_order", "rate", "duplicate", "summary"]
    text: str
    value: float | None = None


class TrialStopped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A viewing interval ended."""

    trial: str
    tracker_time_us: int


class RunStopped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Last document of a run."""

    reason: str


Document = (
    RunStarted
    | TrialStarted
    | SaccadeOnset
    | Saccade
    | Fixation
    | Blink
    | Retraction
    | Posterior
    | Quality
    | TrialStopped
    | RunStopped
)

_to_msgpack = msgspec.msgpack.Encoder()
_from_msgpack: msgspec.msgpack.Decoder[Document] = msgspec.msgpack.Decoder(Document)
_to_json = msgspec.json.Encoder()
_from_json: msgspec.json.Decoder[Document] = msgspec.json.Decoder(Document)


def encode(document: Document) -> bytes:
    """Return the document as it goes over the wire."""
    return _to_msgpack.encode(document)


def decode(data: bytes) -> Document:
    """Return the document that came over the wire."""
    try:
        return _from_msgpack.decode(data)
    except msgspec.MsgspecError as error:
        raise TransportError(f"not a document of this version: {error}") from error


def encode_line(document: Document) -> bytes:
    """Return the document as one line of a documents file."""
    return _to_json.encode(document) + b"\n"


def decode_line(line: bytes) -> Document:
    """Return the document that a line holds."""
    try:
        return _from_json.decode(line)
    except msgspec.MsgspecError as error:
        raise TransportError(f"not a document of this version: {error}") from error


__all__ = [
    "PROTOCOL_VERSION",
    "Blink",
    "Document",
    "Event",
    "Fixation",
    "Posterior",
    "Quality",
    "Retraction",
    "RunStarted",
    "RunStopped",
    "Saccade",
    "SaccadeOnset",
    "TrialStarted",
    "TrialStopped",
    "decode",
    "decode_line",
    "encode",
    "encode_line",
]
