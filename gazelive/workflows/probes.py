"""Probes of recordings: the scanpaths of their viewing intervals.

The label of a probe travels beside its scanpaths and is never looked at to identify it.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gazelive.analysis import Parameters, RunningSaccade, analyse, running_saccades
from gazelive.detection import Method
from gazelive.errors import RecordingError
from gazelive.features import Scanpath, scanpath_of
from gazelive.gaze import ScreenGeometry
from gazelive.identification import SourceKind
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    Caveat,
    GeometryFlags,
    Recording,
    TrialPatterns,
    read_recording,
    some_damage,
    trials_not_found,
)


@dataclass(frozen=True, eq=False)
class Probe:
    """The scanpaths of one recording, or of one session of one viewer label of a table."""

    name: str
    viewer: str | None
    session: str
    scanpaths: tuple[Scanpath, ...]
    running: tuple[tuple[RunningSaccade, ...], ...] = ()
    """Features known live during each scanpath; empty unless requested."""

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
        """Viewing time."""
        return sum(path.seconds for path in self.scanpaths)


@dataclass(frozen=True, eq=False)
class Gathered:
    """Probes that were read, with warnings."""

    kind: SourceKind
    probes: tuple[Probe, ...]
    warnings: tuple[str, ...] = ()
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS
    """Message patterns of the trials."""

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


def cut(recording: Recording, seconds: float) -> Iterator[Recording]:
    """Yield the pieces of each block, as recordings of their own; the last may be 10 % shorter."""
    for block in recording.blocks:
        n = round(seconds * block.stream.sampling_rate_hz)
        for first in range(0, len(block.samples) - int(0.9 * n) + 1, n):
            samples = block.samples[first : first + n]
            times_us = samples["tracker_time_us"]
            piece = replace(
                block,
                samples=samples,
                start_us=int(times_us[0]),
                end_us=int(times_us[-1]),
                extras={name: column[first : first + n] for name, column in block.extras.items()},
            )
            yield replace(recording, blocks=(piece,), messages=(), tracker_events=(), trials=())


@dataclass(frozen=True)
class Detector:
    """Detection method and parameters."""

    method: Method = "settled"
    parameters: Parameters | None = None


@dataclass(frozen=True, eq=False)
class Labelled:
    """A recording, in a file or in memory, and its labels."""

    recording: Recording | Path
    name: str
    """Name in results and warnings."""
    viewer: str | None = None
    session: str = ""
    screen: ScreenGeometry | None = None
    """Screen given by the corpus."""


@dataclass(frozen=True)
class Reading:
    """Settings for turning recordings into probes."""

    detector: Detector
    flags: GeometryFlags | None
    running: bool
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS

    def probe(self, labelled: Labelled) -> tuple[Probe, list[Caveat]]:
        """Return the probe of a recording, with caveats about the data.

        Damage is reported only for files; a recording in memory was checked when it was read.
        """
        recording, name = labelled.recording, labelled.name
        caveats = []
        if isinstance(recording, Path):
            recording = read_recording(recording, trial_patterns=self.trial_patterns)
            caveats += some_damage(recording, name)
            unfound = trials_not_found(recording, self.trial_patterns)
            caveats += [] if unfound is None else [Caveat(name, unfound)]
        probe, warnings = self.probe_of(recording, labelled)
        return probe, caveats + [Caveat(name, text) for text in warnings]

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

    def pieces(self, labelled: Labelled, recording: Recording, seconds: float) -> list[Scanpath]:
        """Return a scanpath of each whole piece of a recording without trials, detected alone."""
        found: list[Scanpath] = []
        for piece in cut(recording, seconds):
            found += self.probe_of(piece, labelled)[0].scanpaths
        return found

    def try_probe(self, labelled: Labelled) -> tuple[Probe, list[Caveat]] | RecordingError:
        """Return the same, or why there is no probe: other recordings may be whole."""
        try:
            return self.probe(labelled)
        except RecordingError as error:
            return error
