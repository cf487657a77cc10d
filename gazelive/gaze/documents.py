"""The documents that travel from the engine to whoever listens: one tagged union.

They are msgpack on the wire and JSON lines on disk, both by msgspec; a reader that meets an
unknown tag or a wrong type gets a `TransportError` that says so.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gazelive.errors import TransportError
from gazelive.gaze.events import Blink, Event, EventEye, Fixation, Saccade
from gazelive.gaze.samples import Eye
from gazelive.gaze.stream import StreamDescription

PROTOCOL_VERSION = 1


class RunStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """First document of a run."""

    session: str
    stream: StreamDescription
    protocol_version: int = PROTOCOL_VERSION
    viewer: str | None = None
    """Who is looking, where that is known (never used to identify)."""
    folder: str | None = None
    """The session folder on the host that records."""


class MainSequence(msgspec.Struct, frozen=True, kw_only=True):
    """Peak velocity against amplitude in the population that a model was made from."""

    amplitude_deg: tuple[float, ...]
    low_deg_s: tuple[float, ...]
    median_deg_s: tuple[float, ...]
    high_deg_s: tuple[float, ...]
    """The 5th, 50th and 95th percentile around each amplitude."""


class ModelLoaded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Who can be recognised: names travel once, posteriors refer to them by position."""

    model: str
    method: str
    viewer_ids: tuple[str, ...]
    main_sequence: MainSequence | None = None


class TrialStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A viewing interval begins.

    Sent again for the same trial when more is known of it: its image, or the image's onset.
    """

    trial: str
    tracker_time_us: int
    image: str | None = None
    image_rectangle_px: tuple[float, float, float, float] | None = None
    """Left, top, width and height on the screen, where they are known."""
    index: int | None = None
    n_trials: int | None = None
    """Trial `index` (from 1) of `n_trials`, where that is known."""


class GazeTrace(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Gaze as the detector sees it, to be looked at; evenly timed, little-endian float32, NaN lost.

    Not for the documents file: the samples themselves are in the session folder.
    """

    first_us: int
    interval_us: float
    x_deg: bytes
    y_deg: bytes
    speed_deg_s: bytes
    threshold_deg_s: float | None = None
    """The speed along x that counts as a saccade just now."""


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
    """Who is looking: natural-log probabilities, given that it is one of the enrolled."""

    tracker_time_us: int
    leading: tuple[int, ...]
    """Positions in `ModelLoaded.viewer_ids` of the most probable viewers, most probable first."""
    log_probabilities: tuple[float, ...]
    """Of each of the leading."""
    log_unknown: float | None = None
    """That it is none of the enrolled; what is shown of a viewer is p·(1 − unknown)."""
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool


class IntervalSettled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The events of a viewing interval, found anew in the whole of it: the ones that count.

    Those that came one by one while it lasted were preliminary.
    """

    trial: str
    start_us: int
    end_us: int
    """Samples at `start_us` or later, and before `end_us`."""
    image: str | None = None
    saccades: tuple[Saccade, ...] = ()
    fixations: tuple[Fixation, ...] = ()
    blinks: tuple[Blink, ...] = ()


class Quality(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How good the data are, or what was wrong with them; the run goes on.

    Of what happens often in a second only the first is told, then how many there were in all.
    """

    tracker_time_us: int
    kind: Literal[
        "lost_samples",
        "time_gap",
        "time_order",
        "rate",
        "duplicate",
        "summary",
        "eye",
        "interval",
        "message",
    ]
    text: str
    value: float | None = None


class QualitySummary(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How good the data of the last seconds are; None is not known."""

    tracker_time_us: int
    rate_asked_hz: float
    rate_received_hz: float
    n_lost_samples: int
    """Samples that never arrived, since the run began."""
    missing_fraction: float
    """Samples without gaze, of those that arrived."""
    rms_s2s_deg: float | None = None
    """Precision: RMS of sample-to-sample steps outside of saccades."""
    latency_ms: float | None = None
    """From the arrival of a chunk to the publication of what was found in it, 99th percentile."""
    clock_drift_ppm: float | None = None


class Validated(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The tracker was calibrated and validated."""

    eye: Eye
    mean_error_deg: float
    max_error_deg: float


class Notice(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A sentence for whoever watches."""

    level: Literal["info", "warning", "error"]
    text: str


class TrialStopped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A viewing interval ended."""

    trial: str
    tracker_time_us: int


class RunStopped(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Last document of a run."""

    reason: str


Document = (
    RunStarted
    | ModelLoaded
    | TrialStarted
    | GazeTrace
    | SaccadeOnset
    | Saccade
    | Fixation
    | Blink
    | Retraction
    | IntervalSettled
    | Posterior
    | Quality
    | QualitySummary
    | Validated
    | Notice
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
    "GazeTrace",
    "IntervalSettled",
    "MainSequence",
    "ModelLoaded",
    "Notice",
    "Posterior",
    "Quality",
    "QualitySummary",
    "Retraction",
    "RunStarted",
    "RunStopped",
    "Saccade",
    "SaccadeOnset",
    "TrialStarted",
    "TrialStopped",
    "Validated",
    "decode",
    "decode_line",
    "encode",
    "encode_line",
]
