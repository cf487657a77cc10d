"""Labelled scanpaths: whatever `train` and `identify` are given, read and analysed.

A corpus or a recording goes through detection, interval by interval; a fixation table is taken as
it is. The label of a probe travels beside its scanpaths and is never looked at to identify it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.detection import Method
from gazelive.errors import ConfigError, RecordingError
from gazelive.features.interval import Parameters
from gazelive.features.running import RunningGaze, RunningSaccade, running_of_fixations
from gazelive.features.scanpath import Scanpath, scanpath_of, scanpath_of_fixations
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import ScreenGeometry
from gazelive.identification.training_set import SourceKind
from gazelive.offline.analysis import Analysis, analyse, interval_gaze
from gazelive.recordings.corpus import CORPUS_NAME, CorpusEntry, read_corpus, screen_in_corpus
from gazelive.recordings.fixation_table import FixationTable, read_fixation_table
from gazelive.recordings.geometry import HOW_TO_GIVE, GeometryFlags
from gazelive.recordings.intervals import calibrations_before
from gazelive.recordings.opening import kind_of, read_recording

Progress = Callable[[float], None]
N_REASONS = 5
"""So many recordings that were left out are named where nothing else is left."""
N_THREADS = min(4, os.cpu_count() or 1)
"""Reading and kernels let go of the interpreter's lock; more threads than this do not help."""


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


@dataclass(frozen=True)
class Detector:
    """How saccades are found in samples."""

    method: Method = "settled"
    parameters: Parameters | None = None


@dataclass(frozen=True, eq=False)
class Gathered:
    """What was read, and what a user should know of it."""

    kind: SourceKind
    probes: tuple[Probe, ...]
    warnings: tuple[str, ...] = ()

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


def source_kind(source: Path) -> SourceKind:
    """Say what `gather` will make scanpaths from, without reading it all."""
    return "fixations" if kind_of(_folder_of(source)) == "fixation table" else "samples"


def gather(
    source: Path,
    *,
    detector: Detector | None = None,
    flags: GeometryFlags | None = None,
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    exclude_viewers: Collection[str] = (),
    running: bool = False,
    progress: Progress | None = None,
) -> Gathered:
    """Read the scanpaths of a corpus, a recording or a fixation table.

    With `running` also what was known while they ran, saccade by saccade.

    `sessions` and `images` choose (empty: all); a session or viewer that is named and does not
    occur is an error, because it is a slip of the pen. Of the images only some need occur: a list
    may serve several corpora.
    """
    source = _folder_of(source)
    reading = Reading(detector or Detector(), flags, running=running)
    kind = kind_of(source)
    if kind == "fixation table":
        gathered = _of_table(read_fixation_table(source, progress=progress), reading)
    elif kind == "corpus":
        gathered = _of_corpus(source, reading, sessions, exclude_viewers, progress)
    else:
        entry = CorpusEntry(source, "", "", screen_in_corpus(source))
        probe, warnings = reading.probe(entry, source.name)
        gathered = Gathered("samples", (replace(probe, viewer=None),), warnings)
    return _chosen(gathered, source, set(sessions), set(images), set(exclude_viewers))


@dataclass(frozen=True)
class Reading:
    """How recordings become probes."""

    detector: Detector
    flags: GeometryFlags | None
    running: bool

    def probe(self, entry: CorpusEntry, name: str) -> tuple[Probe, tuple[str, ...]]:
        """Return what a recording is found to hold, and what a user should know of it."""
        recording = read_recording(entry.recording)
        analysis = analyse(
            recording,
            method=self.detector.method,
            parameters=self.detector.parameters,
            flags=self.flags,
            corpus_screen=entry.screen,
        )
        paths = tuple(scanpath_of(found.gaze, found.interval.image) for found in analysis.intervals)
        steps = running_saccades(analysis) if self.running else ()
        counts = [found.interval.counts for found in analysis.intervals]
        warnings = analysis.warnings
        if not all(counts):
            n = counts.count(False)
            left_out = f"{n} trial{' was' if n == 1 else 's were'} skipped or repeated: left out"
            warnings = (*warnings, f"{name}: {left_out}")
            paths = tuple(itertools.compress(paths, counts))
            steps = tuple(itertools.compress(steps, counts))
        return Probe(name, entry.viewer, entry.session, paths, steps), warnings

    def try_probe(self, entry: CorpusEntry, name: str) -> tuple[Probe | None, tuple[str, ...]]:
        """Return the probe, or None and why there is none: other recordings may be whole."""
        try:
            return self.probe(entry, name)
        except RecordingError as error:
            return None, (f"{error}; the recording is left out",)


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


def _folder_of(source: Path) -> Path:
    """Return a corpus where its table was named."""
    return source.parent if source.name == CORPUS_NAME and source.is_file() else source


def _of_corpus(
    source: Path,
    reading: Reading,
    sessions: Collection[str],
    exclude_viewers: Collection[str],
    progress: Progress | None,
) -> Gathered:
    corpus = read_corpus(source)
    known = {entry.session for entry in corpus.entries}
    _refuse_unknown(source, "session", set(sessions), known)
    _refuse_unknown(source, "viewer", set(exclude_viewers), set(corpus.viewers))
    entries = [
        entry
        for entry in corpus.entries
        if (not sessions or entry.session in sessions) and entry.viewer not in exclude_viewers
    ]
    warnings = [f"{skipped.recording}: left out: {skipped.reason}" for skipped in corpus.skipped]
    probes = []
    with ThreadPoolExecutor(N_THREADS) as pool:
        names = [_name_in(corpus.path, entry.recording) for entry in entries]
        for done, (probe, told) in enumerate(pool.map(reading.try_probe, entries, names)):
            warnings += told
            if probe is not None:
                probes.append(probe)
            if progress is not None:
                progress((done + 1) / len(entries))
    return Gathered("samples", tuple(probes), tuple(_once(warnings)))


def _name_in(folder: Path, recording: Path) -> str:
    """Return a recording's name as `corpus.csv` has it; it may lie on another drive."""
    inside = recording.is_relative_to(folder)
    return (recording.relative_to(folder) if inside else recording).as_posix()


def _of_table(table: FixationTable, reading: Reading) -> Gathered:
    x_deg, y_deg = _table_degrees(table, reading.flags)
    codes = (table.viewer, table.session, table.image)
    order = np.lexsort((table.fixation, table.image, table.session, table.viewer))
    label = np.stack([code[order] for code in codes])
    borders = np.flatnonzero((np.diff(label, axis=1) != 0).any(axis=0)) + 1
    paths: dict[tuple[int, int], list[Scanpath]] = {}
    for rows in np.split(order, borders) if len(order) else ():
        viewer, session, image = (int(code[rows[0]]) for code in codes)
        path = scanpath_of_fixations(
            x_deg[rows], y_deg[rows], table.duration_ms[rows] / 1000, table.image_names[image]
        )
        paths.setdefault((viewer, session), []).append(path)
    probes = []
    for (viewer, session), found in paths.items():
        name = table.viewer_names[viewer]
        steps = [tuple(running_of_fixations(path)) for path in found] if reading.running else ()
        probes.append(Probe(name, name, table.session_names[session], tuple(found), tuple(steps)))
    warnings = [f"{table.path}: {problem.text}" for problem in table.problems]
    return Gathered("fixations", tuple(probes), tuple(warnings))


def _table_degrees(
    table: FixationTable, flags: GeometryFlags | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if table.coordinates is Coordinates.DEGREES:
        return table.x, table.y
    screen: ScreenGeometry | None = table.screen
    if flags is not None and flags.given:
        screen = flags.screen_geometry()
    if screen is None:
        raise RecordingError(
            "has positions in pixels and says nothing about the screen: add " + HOW_TO_GIVE,
            path=table.path,
        )
    return screen.px_to_deg(table.x, table.y)


def _chosen(
    gathered: Gathered, source: Path, sessions: set[str], images: set[str], excluded: set[str]
) -> Gathered:
    """Leave out what was not asked for."""
    if gathered.kind == "fixations":
        _refuse_unknown(source, "session", sessions, {p.session for p in gathered.probes})
        _refuse_unknown(source, "viewer", excluded, {p.viewer or "" for p in gathered.probes})
    known = {path.image for probe in gathered.probes for path in probe.scanpaths}
    if images and not images & known:
        raise ConfigError(
            f"none of the {len(images)} images named is in {source}, which has "
            f"{', '.join(sorted(map(str, known - {None}))[:5]) or 'none'}",
            key="--images",
        )
    warnings = gathered.warnings
    if images - known:
        warnings += (
            f"{len(images - known)} of the {len(images)} images named are not in {source}",
        )
    probes = []
    for probe in gathered.probes:
        if (sessions and probe.session not in sessions) or probe.viewer in excluded:
            continue
        kept = probe.only(images)
        if kept.scanpaths or not images:
            probes.append(kept)
    if not probes:
        reasons = "".join(f"\n  {warning}" for warning in gathered.warnings[:N_REASONS])
        raise RecordingError("nothing is left of it after what was left out" + reasons, path=source)
    return Gathered(gathered.kind, tuple(probes), warnings)


def _refuse_unknown(source: Path, what: str, named: set[str], known: set[str]) -> None:
    unknown = sorted(named - known)
    if unknown:
        there = ", ".join(sorted(known)[:10]) or "none"
        raise ConfigError(f"{source} has no {what} {', '.join(unknown)}; it has {there}")


def _once(texts: Iterable[str]) -> Sequence[str]:
    return list(dict.fromkeys(texts))
