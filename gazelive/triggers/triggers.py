"""Triggers from the samples of a device, as they arrive."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gazelive.analysis import EyeChoice
from gazelive.clock import Clock
from gazelive.detection import compiled_trace
from gazelive.gaze import Chunk, Geometry, StreamDescription
from gazelive.system import get_logger
from gazelive.triggers.area import Area
from gazelive.triggers.parameters import TriggerParameters
from gazelive.triggers.rules import (
    BlinkRule,
    DwellRule,
    EndRule,
    Found,
    Movement,
    OnsetRule,
    RestRule,
    Rule,
)
from gazelive.triggers.step import NAN, Seen, Step, Stretch
from gazelive.triggers.trigger import GazePoint, Trigger
from gazelive.triggers.watch import Watch

log = get_logger(__name__)


class Triggers:
    """Finds what scripts wait for in the samples of a device.

    `take` is a sink of the device's recorder and runs in the device's thread; everything else may
    be called from any thread.
    """

    def __init__(
        self,
        screen: Geometry | None,
        clock: Clock,
        parameters: TriggerParameters | None = None,
        *,
        eye: EyeChoice | None = None,
    ) -> None:
        """`screen` converts pixels to degrees; `clock` is that of the chunks' `arrival_s`.

        Both eyes are used where both are recorded, unless one `eye` is chosen.
        """
        self.host_time_s: Callable[[int], float | None] | None = None
        """Returns the host's time of a tracker time (`Recorder.host_time_s`), for `sample_s`."""
        self._screen = screen
        self._clock = clock
        self._parameters = parameters or TriggerParameters()
        self._eye = eye
        self._watches: tuple[Watch, ...] = ()
        self._changing = threading.Lock()
        self._is_closed = False
        self._stretch: Stretch | None = None
        self._refused: int | None = None
        """Number of a block that cannot be understood."""
        self._newest: Seen | None = None
        self._failure: BaseException | None = None
        compiled_trace()  # not in the middle of a recording

    # the device's side

    def take(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Take the next chunk (a `ChunkSink`); never raises: `check` does, in the script."""
        if chunk.block == self._refused:
            return
        try:
            self._take(chunk, stream)
        except Exception as error:  # the recording is worth more than its triggers
            log.exception("no triggers in block %d", chunk.block + 1)
            self._refused, self._newest, self._failure = chunk.block, None, error

    def _take(self, chunk: Chunk, stream: StreamDescription) -> None:
        stretch, watches = self._stretch, self._watches
        starts_anew = stretch is None or chunk.block != stretch.number
        if stretch is None or starts_anew:
            stretch = Stretch(
                chunk.block,
                stream,
                self._screen,
                self._parameters.detector,
                self._eye,
                self._stretch,
            )
            self._stretch = stretch
        step, was_set_back = stretch.take(chunk)
        self._newest = stretch.newest
        if starts_anew or was_set_back:
            for watch in watches:
                watch.rule.begin()
        if step is None:
            return
        for watch in watches:
            for found in watch.rule.find(step):
                self._deliver(watch, self._trigger(watch.rule, found, step, chunk.arrival_s))

    def _trigger(self, rule: Rule, found: Found, step: Step, arrival_s: float) -> Trigger:
        time_us = int(step.times_us[found.sample])
        seen = step.last_seen(found.sample) or Seen(time_us, NAN, NAN)
        x_deg, y_deg, x_px, y_px, _ = seen.point(self._screen)
        sample_s = None if self.host_time_s is None else self.host_time_s(time_us)
        return Trigger(
            kind=rule.kind,
            tracker_time_us=time_us,
            event_us=found.event_us,
            x_deg=x_deg,
            y_deg=y_deg,
            x_px=x_px,
            y_px=y_px,
            direction_deg=found.direction_deg,
            amplitude_deg=found.amplitude_deg,
            arrival_s=arrival_s,
            sample_s=NAN if sample_s is None else sample_s,
        )

    def _deliver(self, watch: Watch, trigger: Trigger) -> None:
        try:
            watch.deliver(trigger)
        except BaseException as error:  # of the script's callback, which may want to exit
            log.exception("the callback of a %s trigger failed", trigger.kind)
            self._failure = error
            self._remove(watch)

    # the script's side

    @property
    def gaze(self) -> GazePoint | None:
        """Gaze at the newest sample; None where it was lost, or before the first."""
        newest = self._newest
        return None if newest is None else newest.point(self._screen)

    @property
    def is_watched(self) -> bool:
        """True if anything is waited for."""
        return bool(self._watches)

    def check(self) -> None:
        """Raise, once, what a callback raised or why there are no triggers."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Close all watches, now and later: the device has stopped."""
        self._is_closed = True
        for watch in self._watches:
            watch.close()

    def saccade_onset(
        self,
        *,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Watch:
        """Watch for saccades as they begin, a few milliseconds after their onset.

        It fires at the first sample at which gaze has left its place, by `min_amplitude_deg` if
        given; at most once a saccade. With a direction (0 right, 90 up), the movement must start
        out at most `within_deg` from it (`TriggerParameters`).
        """
        wanted = Movement(direction_deg, within_deg, min_amplitude_deg)
        return self._watch(OnsetRule(wanted, self._parameters))

    def saccade_end(
        self,
        *,
        direction_deg: float | None = None,
        within_deg: float = 45.0,
        min_amplitude_deg: float = 0.0,
    ) -> Watch:
        """Watch for saccades that have ended; the conditions hold for the whole saccade."""
        return self._watch(EndRule(Movement(direction_deg, within_deg, min_amplitude_deg)))

    def fixation(self, ms: float, area: Area | None = None) -> Watch:
        """Watch for the eye at rest for `ms`, without a saccade or loss: once a fixation.

        With an area, all of that time inside it. Rest before the watch was made does not count.
        """
        return self._watch(RestRule(ms, area))

    def enter(self, area: Area, for_ms: float = 0.0) -> Watch:
        """Watch for gaze coming into an area and staying for `for_ms`.

        It also fires if gaze is inside already at the first sample. Losses of up to 20 ms do not
        interrupt a stay.
        """
        return self._watch(DwellRule("enter", area, for_ms))

    def leave(self, area: Area, for_ms: float = 0.0) -> Watch:
        """Watch for gaze going out of an area and staying outside for `for_ms`.

        It also fires if gaze is outside already at the first sample. Lost gaze is not outside.
        """
        return self._watch(DwellRule("leave", area, for_ms))

    def blink(self) -> Watch:
        """Watch for gaze being lost for as long as the shortest blink (25 ms)."""
        return self._watch(BlinkRule(self._parameters.detector.shortest_blink_ms))

    def _watch(self, rule: Rule) -> Watch:
        watch = Watch(rule, self._clock, self._remove)
        with self._changing:
            self._watches = (*self._watches, watch)
        if self._is_closed:
            watch.close()
        return watch

    def _remove(self, watch: Watch) -> None:
        with self._changing:
            self._watches = tuple(other for other in self._watches if other is not watch)
