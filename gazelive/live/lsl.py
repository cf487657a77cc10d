"""Gaze and posteriors for the lab streaming layer (extra `lsl`), described by XDF's conventions.

Gaze: https://github.com/sccn/xdf/wiki/Gaze-Meta-Data. Time stamps are those of LSL's clock at
the moment of the sample, computed from the tracker's clock and the fastest arrivals so far, without
the jitter of chunks.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from gazelive.clock import Clock, MonotonicClock
from gazelive.errors import TransportError
from gazelive.gaze import (
    EYE_FIELDS,
    Chunk,
    Coordinates,
    Document,
    Floats,
    Integers,
    ModelLoaded,
    Posterior,
    RunStarted,
    StreamDescription,
)

GAZE_NAME = "gazelive gaze"
POSTERIOR_NAME = "gazelive posterior"
POSTERIOR_CHANNELS = {
    "leading": "index",
    "probability": "normalized",
    "unknown": "normalized",
    "saccades": "count",
    "images": "count",
    "seconds": "seconds",
    "settled": "boolean",
    "accepted": "boolean",
}
"""Channels and units: position of the leading viewer among the enrolled (`desc/enrolled`), its
probability given that the person is enrolled, the probability of a stranger, the evidence, 1 if the
posterior is settled, and 1 if the leading viewer is accepted. The probability of a stranger and
`accepted` are NaN if strangers cannot be detected."""
_EYE_WORDS = {"L": "left", "R": "right"}
_UNITS = {
    Coordinates.SCREEN_PX: "pixels",
    Coordinates.DEGREES: "degrees",
    Coordinates.HREF: "href",
    Coordinates.RAW: "camera",
}
_FORGETTING_S = 1e-4
"""Allowance for clock drift: growth of the smallest delay, in seconds per second."""


def load_pylsl() -> ModuleType:
    """Return the library, or say how to get it."""
    try:
        import pylsl
    except (ImportError, RuntimeError, OSError) as error:
        raise TransportError("pylsl is not installed: pip install 'gazelive[lsl]'") from error
    library: ModuleType = pylsl
    return library


class ArrivalClock:
    """Estimates the time of a sample on LSL's clock."""

    def __init__(self) -> None:
        self._ahead_s: float | None = None
        self._last_s = 0.0

    def time_stamps(self, times_us: Integers, now_s: float) -> Floats:
        """Return the time stamps of samples of which the last has just arrived."""
        tracker_s = times_us / 1e6
        ahead_s = now_s - float(tracker_s[-1])
        if self._ahead_s is None or abs(ahead_s - self._ahead_s) > 1.0:
            self._ahead_s = ahead_s  # the first, or another clock
        else:
            allowed_s = self._ahead_s + _FORGETTING_S * (now_s - self._last_s)
            self._ahead_s = min(allowed_s, ahead_s)
        self._last_s = now_s
        stamps: Floats = tracker_s + self._ahead_s
        return stamps


class GazeOutlet:
    """A `ChunkSink`: one LSL stream per kind of block, of type Gaze."""

    def __init__(self, session: str, *, clock: Clock | None = None) -> None:
        self._lsl = load_pylsl()
        self._session = session
        self._clock = clock or MonotonicClock()
        self._outlet: Any = None
        self._stream: StreamDescription | None = None
        self._fields: list[str] = []
        self._arrivals = ArrivalClock()

    def __call__(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Send the samples of a chunk."""
        if stream != self._stream:
            self._open(stream)
        if len(chunk.samples):
            columns = [chunk.samples[field] for field in self._fields]
            late_s = max(0.0, self._clock.now_s() - chunk.arrival_s)
            now_s = self._lsl.local_clock() - (late_s if late_s < 1.0 else 0.0)
            stamps = self._arrivals.time_stamps(chunk.samples["tracker_time_us"], now_s)
            rows = np.column_stack(columns).astype(np.float32)
            self._outlet.push_chunk(rows.tolist(), stamps.tolist())

    def close(self) -> None:
        """End the stream; a second call does nothing."""
        self._outlet = None

    def _open(self, stream: StreamDescription) -> None:
        self._fields = [field for eye in stream.eyes for field in EYE_FIELDS[eye]]
        info = self._lsl.StreamInfo(
            GAZE_NAME,
            "Gaze",
            len(self._fields),
            stream.sampling_rate_hz,
            "float32",
            f"gazelive-gaze-{self._session}",
        )
        description = info.desc()
        description.append_child_value("manufacturer", "gazelive")
        acquisition = description.append_child("acquisition")
        acquisition.append_child_value("model", stream.device)
        channels = description.append_child("channels")
        unit = _UNITS[stream.coordinates]
        pupil = ("Diameter", "mm") if stream.pupil == "diameter" else ("Area", "arbitrary")
        for eye in stream.eyes:
            for label, (kind, of) in zip(
                EYE_FIELDS[eye], (("ScreenX", unit), ("ScreenY", unit), pupil), strict=True
            ):
                channel = channels.append_child("channel")
                channel.append_child_value("label", label)
                channel.append_child_value("eye", _EYE_WORDS[eye])
                channel.append_child_value("type", kind)
                channel.append_child_value("unit", of)
                if kind.startswith("Screen"):
                    channel.append_child_value("coordinate_system", "image-space")
        self._describe_screen(description, stream)
        self._outlet = self._lsl.StreamOutlet(info)
        self._stream = stream

    @staticmethod
    def _describe_screen(description: Any, stream: StreamDescription) -> None:
        screen = stream.screen
        if screen is None:
            return
        display = description.append_child("display")
        for name, value in (
            ("width_px", screen.width_px),
            ("height_px", screen.height_px),
            ("width_mm", screen.width_mm),
            ("height_mm", screen.height_mm),
            ("eye_distance_mm", screen.eye_distance_mm),
        ):
            display.append_child_value(name, f"{value:g}")


class PosteriorOutlet:
    """A `DocumentSink`: posteriors as an irregular LSL stream."""

    def __init__(self, session: str) -> None:
        self._lsl = load_pylsl()
        self._session = session
        self._outlet: Any = None
        self._is_closed = False

    def write(self, document: Document) -> None:
        """Send a posterior; other documents are not for LSL."""
        if self._is_closed:
            raise ValueError("the outlet is closed")
        if isinstance(document, RunStarted):
            self._outlet = None
        elif isinstance(document, ModelLoaded):
            self._open(document)
        elif isinstance(document, Posterior) and self._outlet is not None:
            self._outlet.push_sample(posterior_values(document))

    def recall(self, document: Document) -> None:
        """Open the stream of a run that was begun before the engine was started again."""
        if isinstance(document, RunStarted | ModelLoaded):
            self.write(document)

    def close(self) -> None:
        """End the stream; a second call does nothing."""
        self._outlet = None
        self._is_closed = True

    def _open(self, model: ModelLoaded) -> None:
        info = self._lsl.StreamInfo(
            POSTERIOR_NAME,
            "Identity",
            len(POSTERIOR_CHANNELS),
            self._lsl.IRREGULAR_RATE,
            "double64",
            f"gazelive-posterior-{self._session}",
        )
        description = info.desc()
        description.append_child_value("manufacturer", "gazelive")
        description.append_child_value("model", model.model)
        description.append_child_value("method", model.method)
        for name in ("false_acceptance_rate", "stranger_prior"):
            value = getattr(model, name)
            if value is not None:
                description.append_child_value(name, f"{value:g}")
        channels = description.append_child("channels")
        for label, unit in POSTERIOR_CHANNELS.items():
            channel = channels.append_child("channel")
            channel.append_child_value("label", label)
            channel.append_child_value("type", "Identity")
            channel.append_child_value("unit", unit)
        enrolled = description.append_child("enrolled")
        for viewer_id in model.viewer_ids:
            enrolled.append_child_value("viewer", viewer_id)
        self._outlet = self._lsl.StreamOutlet(info)


def posterior_values(posterior: Posterior) -> list[float]:
    """Return the values of the channels."""
    log_unknown = posterior.log_unknown
    return [
        float(posterior.leading[0]),
        math.exp(posterior.log_probabilities[0]),
        float("nan") if log_unknown is None else math.exp(log_unknown),
        float(posterior.n_saccades),
        float(posterior.n_images),
        posterior.seconds,
        float(posterior.settled),
        float("nan") if posterior.accepted is None else float(posterior.accepted),
    ]
