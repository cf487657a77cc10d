"""Documents that the engine publishes: one tagged union.

They are msgpack on the wire and JSON lines on disk, both by msgspec; an unknown tag or a wrong type
raises a `TransportError`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gazelive.errors import TransportError
from gazelive.gaze.events import Blink, Event, EventEye, Fixation, Pursuit, Saccade
from gazelive.gaze.samples import Eye
from gazelive.gaze.stream import StreamDescription
from gazelive.system import UNDECODABLE

PROTOCOL_VERSION = 1


class RunStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """First document of a run."""

    session: str
    stream: StreamDescription
    protocol_version: int = PROTOCOL_VERSION
    viewer: str | None = None
    """The viewer, if known (never used to identify)."""
    folder: str | None = None
    """The session folder on the host that records."""


class MainSequence(msgspec.Struct, frozen=True, kw_only=True):
    """Peak velocity against amplitude in a model's training population."""

    amplitude_deg: tuple[float, ...]
    low_deg_s: tuple[float, ...]
    median_deg_s: tuple[float, ...]
    high_deg_s: tuple[float, ...]
    """The 5th, 50th and 95th percentile around each amplitude."""


class ModelLoaded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The enrolled viewers: names are sent once, posteriors refer to them by index."""

    model: str
    method: str
    viewer_ids: tuple[str, ...]
    main_sequence: MainSequence | None = None
    method_kind: str | None = None
    """What the method is, in plain words such as "Fisher SVM"."""
    false_acceptance_rate: float | None = None
    """Share of strangers that are accepted; None in documents of 0.1."""
    stranger_prior: float | None = None
    """Probability of a stranger before any evidence; None in documents of 0.1."""


class TrialStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A viewing interval starts.

    Sent again for the same trial when its image or the image's onset becomes known.
    """

    trial: str
    tracker_time_us: int
    image: str | None = None
    image_rectangle_px: tuple[float, float, float, float] | None = None
    """Left, top, width and height on the screen, if known."""
    index: int | None = None
    n_trials: int | None = None
    """Trial `index` (from 1) of `n_trials`, if known."""


class GazeTrace(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Gaze as the detector sees it, for display: evenly timed float32 (little-endian), NaN missing.

    Not in the documents file: the samples themselves are in the session folder.
    """

    first_us: int
    interval_us: float
    x_deg: bytes
    y_deg: bytes
    speed_deg_s: bytes
    threshold_deg_s: float | None = None
    """The current velocity threshold along x."""


class SaccadeOnset(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The fast trigger: a saccade has probably started."""

    eye: EventEye
    onset_us: int
    detection_delay_ms: float
    confidence: float = 1.0


class Retraction(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Withdraws a saccade that was sent."""

    eye: EventEye
    onset_us: int
    reason: str


class Posterior(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Natural-log probabilities of the viewers, given that the viewer is enrolled."""

    tracker_time_us: int
    leading: tuple[int, ...]
    """Indices in `ModelLoaded.viewer_ids` of the most probable viewers, most probable first."""
    log_probabilities: tuple[float, ...]
    """One for each of `leading`."""
    log_unknown: float | None = None
    """Log probability that the viewer is not enrolled; displays show p·(1 − unknown). None if
    strangers cannot be detected."""
    accepted: bool | None = None
    """Whether the first of `leading` is accepted at the model's false-acceptance rate; None if
    strangers cannot be detected, and in documents of 0.1."""
    more_s: float | None = None
    """Seconds of viewing until it will probably be accepted; None if it is, or if that cannot be
    expected."""
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool


class IntervalSettled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The final events of a viewing interval, detected in the complete interval.

    Events sent one by one during the interval were preliminary.
    """

    trial: str
    start_us: int
    end_us: int
    """Samples at `start_us` or later, and before `end_us`."""
    image: str | None = None
    saccades: tuple[Saccade, ...] = ()
    fixations: tuple[Fixation, ...] = ()
    blinks: tuple[Blink, ...] = ()
    artefacts: tuple[Saccade, ...] = ()
    """Rapid movements that were none of the eye."""
    pursuits: tuple[Pursuit, ...] = ()


class Quality(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A data-quality problem; the run continues.

    Of frequent problems only the first per second is sent, then their number.
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
        "position",
        "dropouts",
        "off_screen",
        "frozen",
        "noise",
        "disk",
        "clock",
    ]
    text: str
    value: float | None = None


class QualitySummary(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Data quality of the last seconds; None if unknown."""

    tracker_time_us: int
    rate_asked_hz: float
    rate_received_hz: float
    n_lost_samples: int
    """Samples that never arrived, since the start of the run."""
    missing_fraction: float
    """Samples without gaze, of those that arrived."""
    rms_s2s_deg: float | None = None
    """Precision: RMS of sample-to-sample steps outside of saccades."""
    latency_ms: float | None = None
    """Latency from the arrival of a chunk to the publication of its results, 99th percentile."""
    clock_drift_ppm: float | None = None


class Validated(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The tracker was calibrated and validated."""

    eye: Eye
    mean_error_deg: float
    max_error_deg: float


class Notice(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A sentence for the user."""

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
    """Encode a document for the wire."""
    return _to_msgpack.encode(document)


def decode(data: bytes) -> Document:
    """Decode a document from the wire."""
    try:
        return _from_msgpack.decode(data)
    except UNDECODABLE as error:
        raise TransportError(f"not a document of this version: {error}") from error


def encode_line(document: Document) -> bytes:
    """Encode a document as one line of a documents file."""
    return _to_json.encode(document) + b"\n"


def decode_line(line: bytes) -> Document:
    """Decode a line of a documents file."""
    try:
        document = _from_json.decode(line)
        _to_msgpack.encode(document)  # refuses integers of more than 64 bits, which JSON may have
    except (*UNDECODABLE, OverflowError) as error:
        raise TransportError(f"not a document of this version: {error}") from error
    return document


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
