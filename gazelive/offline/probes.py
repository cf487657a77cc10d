"""From a recording to a probe: the scanpaths of its viewing intervals.

The label of a probe travels beside its scanpaths and is never looked at to identify it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from gazelive.detection import Method
from gazelive.errors import RecordingError
from gazelive.features.interval import Parameters
from gazelive.features.running import RunningGaze, RunningSaccade
from gazelive.features.scanpath import Scanpath, scanpath_of
from gazelive.gaze.screen import ScreenGeometry
from gazelive.identification.training_set import SourceKind
from gazelive.offline.analysis import Analysis, analyse, interval_gaze
from gazelive.recordings.doubts import Doubt, some_damage, trials_not_found
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.intervals import calibrations_before
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns


@dataclass(frozen=True, eq=False)
class Probe:
    """The scanpaths of one recording, or of one session of one viewer label of a table."""

    name: str
    viewer: str | None
    session: str
    scanpaths: tuple[Scanpath, ...]
    running: tuple[tuple[RunningSaccade, ...], ...] = ()
    """What was known while each of them ran; empty where nobody asked for it."""

    def followed_by(self, other: Probe) -> Probe:
        """Return the probe with the scanpaths of another after its own."""
        return replace(
            self, scanpaths=self.scanpaths + other.scanpaths, running=self.running + other.running
        )

    def only(self, images: Collection[str]) -> Probe:
        """Return the probe with nothing but some images (none: all)."""
        if not images:
            return self
        kept = [i for i, path in enumerate(self.scanpaths) if path.image in images]
        return replace(
            self,
            scanpaths=tuple(self.scanpaths[i] for i in kept),
            running=tuple(self.running[i] for i in kept) if self.running else (),
        )

    @property
    def n_saccades(self) -> int:
        """Number of saccades in all scanpaths."""
        return sum(path.n_saccades for path in self.scanpaths)

    @property
    def seconds(self) -> float:
        """How long was looked."""
        return sum(path.seconds for path in self.scanpaths)


@dataclass(frozen=True, eq=False)
class Gathered:
    """What was read, and what a user should know of it."""

    kind: SourceKind
    probes: tuple[Probe, ...]
    warnings: tuple[str, ...] = ()
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS
    """How trials were found in the messages."""

    @property
    def sampling_rates_hz(self) -> tuple[float, ...]:
        """The rates of the recordings, ascending; none for fixation tables."""
        rates = {
            path.sampling_rate_hz
            for probe in self.probes
            for path in probe.scanpaths
            if path.sampling_rate_hz is not None
        }
        return tuple(sorted(rates))


@dataclass(frozen=True)
class Detector:
    """How saccades are found in samples."""

    method: Method = "settled"
    parameters: Parameters | None = None


@dataclass(frozen=True, eq=False)
class Labelled:
    """A recording, in a file or in memory, and what is said of it."""

    recording: Recording | Path
    name: str
    """What it is called in results and warnings."""
    viewer: str | None = None
    session: str = ""
    screen: ScreenGeometry | None = None
    """As a corpus has it."""


@dataclass(frozen=True)
class Reading:
    """How recordings become probes."""

    detector: Detector
    flags: GeometryFlags | None
    running: bool
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS

    def probe(self, labelled: Labelled) -> tuple[Probe, list[Doubt]]:
        """Return what a recording is found to hold, and what a user should know of it.

        What is damaged was told of a recording in memory when it was read.
        """
        recording, name = labelled.recording, labelled.name
        doubts = []
        if isinstance(recording, Path):
            recording = read_recording(recording, trial_patterns=self.trial_patterns)
            doubts += some_damage(recording, name)
            unfound = trials_not_found(recording, self.trial_patterns)
            doubts += [] if unfound is None else [Doubt(name, unfound)]
        probe, warnings = self.probe_of(recording, labelled)
        return probe, doubts + [Doubt(name, text) for text in warnings]

    def probe_of(self, recording: Recording, labelled: Labelled) -> tuple[Probe, list[str]]:
        """Return the probe of a recording that has been read."""
        analysis = analyse(
            recording,
            method=self.detector.method,
            parameters=self.detector.parameters,
            flags=self.flags,
            corpus_screen=labelled.screen,
        )
        paths = tuple(scanpath_of(found.gaze, found.interval.image) for found in analysis.intervals)
        steps = running_saccades(analysis) if self.running else ()
        counts = [found.interval.counts for found in analysis.intervals]
        warnings = list(analysis.warnings)
        if not all(counts):
            n = counts.count(False)
            warnings.append(
                f"{n} trial{' was' if n == 1 else 's were'} skipped or repeated: left out"
            )
            paths = tuple(itertools.compress(paths, counts))
            steps = tuple(itertools.compress(steps, counts))
        return Probe(labelled.name, labelled.viewer, labelled.session, paths, steps), warnings

    def try_probe(self, labelled: Labelled) -> tuple[Probe, list[Doubt]] | RecordingError:
        """Return the same, or why there is no probe: other recordings may be whole."""
        try:
            return self.probe(labelled)
        except RecordingError as error:
            return error


def running_saccades(analysis: Analysis) -> tuple[tuple[RunningSaccade, ...], ...]:
    """Return what the engine knows of each interval while it runs."""
    recording, calibrations = analysis.recording, 0
    gaze = RunningGaze(analysis.parameters)
    found = []
    for interval in (one.interval for one in analysis.intervals):
        before, calibrations = calibrations, calibrations_before(recording, interval.start_us)
        if before != calibrations:
            gaze.forget()
        geometry = analysis.geometries[interval.block]
        viewed = interval_gaze(recording, interval, geometry, analysis.eye)
        found.append(tuple(gaze.saccades(viewed)))
    return tuple(found)
