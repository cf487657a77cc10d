"""Triggers from the samples of a device, as they arrive."""

from __future__ import annotations

from collections.abc import Callable

from gazelive.analysis import EyeChoice
from gazelive.clock import Clock
from gazelive.detection import DetectorParameters
from gazelive.gaze import Chunk, Geometry, StreamDescription
from gazelive.triggers.area import Area
from gazelive.triggers.trigger import GazePoint
from gazelive.triggers.watch import Watch


class Triggers:
    """Finds what scripts wait for in the samples of a device.

    `take` is a sink of the device's recorder and runs in the device's thread; everything else may
    be called from any thread.
    """

    host_time_s: Callable[[int], float | None] | None = None
    """Returns the host's time of a tracker time (`Recorder.host_time_s`), for `sample_s`."""

    def __init__(
        self,
        screen: Geometry | None,
        clock: Clock,
        parameters: DetectorParameters | None = None,
        *,
        eye: EyeChoice | None = None,
    ) -> None:
        """`screen` converts pixels to degrees; `clock` is that of the chunks' `arrival_s`.

        Both eyes are used where both are recorded, unless one `eye` is chosen.
        """

    def take(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Take the next chunk (a `ChunkSink`); bad data never raises."""
        raise NotImplementedError

    @property
    def gaze(self) -> GazePoint | None:
        """Gaze at the newest sample; None where it was lost, or before the first."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise what a callback raised, once."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all watches: nobody waits for a device that has stopped."""
        raise NotImplementedError

    def saccade_onset(
        self,
        *,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Watch:
        """Watch for saccades as they begin, a few milliseconds after their onset.

        It fires at the first sample at which gaze has left its place, in a direction at most
        `within_deg` from `direction_deg` and by at least `min_amplitude_deg`; at most once a
        saccade.
        """
        raise NotImplementedError

    def saccade_end(
        self,
        *,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Watch:
        """Watch for saccades that have ended; the conditions hold for the whole saccade."""
        raise NotImplementedError

    def fixation(self, ms: float, area: Area | None = None) -> Watch:
        """Watch for the eye at rest for `ms`, without a saccade or loss: once a fixation.

        With an area, all of that time inside it.
        """
        raise NotImplementedError

    def enter(self, area: Area, for_ms: float = 0.0) -> Watch:
        """Watch for gaze coming into an area and staying for `for_ms`.

        It also fires if gaze is inside already at the first sample. Losses of up to 20 ms do not
        interrupt a stay.
        """
        raise NotImplementedError

    def leave(self, area: Area, for_ms: float = 0.0) -> Watch:
        """Watch for gaze going out of an area and staying outside for `for_ms`.

        It also fires if gaze is outside already at the first sample. Lost gaze is not outside.
        """
        raise NotImplementedError

    def blink(self) -> Watch:
        """Watch for gaze being lost for as long as the shortest blink (25 ms)."""
        raise NotImplementedError
