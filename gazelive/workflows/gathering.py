"""Gathering of labelled scanpaths for training and identification.

Recordings go through detection, interval by interval; fixation tables are taken as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazelive.analysis import running_of_fixations
from gazelive.errors import ConfigError, RecordingError
from gazelive.features import Scanpath, scanpaths_of_fixations
from gazelive.gaze import Coordinates, Flags, Floats, ScreenGeometry
from gazelive.identification import SourceKind
from gazelive.recordings import (
    CORPUS_NAME,
    DEFAULT_PATTERNS,
    HOW_TO_GIVE,
    Caveat,
    Codes,
    FixationTable,
    GeometryFlags,
    TrialPatterns,
    kind_of,
    read_corpus,
    read_fixation_table,
    screen_in_corpus,
    sentences,
)
from gazelive.workflows.probes import Detector, Gathered, Labelled, Probe, Reading


def table_probes(table: FixationTable, reading: Reading, chosen: Flags) -> Gathered:
    """Return the probes of the chosen rows of a fixation table, without detection."""
    x_deg, y_deg = _table_degrees(table, reading.flags)
    codes = (table.viewer, table.session, table.image)
    order = np.lexsort((table.fixation, table.image, table.session, table.viewer))
    order = order[chosen[order]]
    label = np.stack([code[order] for code in codes])
    borders = np.flatnonzero((np.diff(label, axis=1) != 0).any(axis=0)) + 1
    starts = np.concatenate(([0], borders, [len(order)])) if len(order) else np.zeros(1, np.int64)
    viewers, sessions, images = label[:, starts[:-1]].tolist()
    found = scanpaths_of_fixations(
        x_deg[order],
        y_deg[order],
        table.duration_ms[order] / 1000,
        starts,
        [table.image_names[image] for image in images],
    )
    paths: dict[tuple[int, int], list[Scanpath]] = {}
    for viewer, session, path in zip(viewers, sessions, found, strict=True):
        paths.setdefault((viewer, session), []).append(path)
    probes = []
    for (viewer, session), found in paths.items():
        name = table.viewer_names[viewer]
        steps = [tuple(running_of_fixations(path)) for path in found] if reading.running else ()
        probes.append(Probe(name, name, table.session_names[session], tuple(found), tuple(steps)))
    warnings = [f"{table.path}: {problem.text}" for problem in table.problems]
    if reading.trial_patterns != DEFAULT_PATTERNS:
        warnings.append(f"{table.path}: a fixation table has no messages, so none start a trial")
    return Gathered("fixations", tuple(probes), tuple(warnings))


def _table_degrees(table: FixationTable, flags: GeometryFlags | None) -> tuple[Floats, Floats]:
    if table.coordinates is Coordinates.DEGREES:
        return table.x, table.y
    screen: ScreenGeometry | None = table.screen
    if flags is not None and flags.given:
        screen = flags.screen_geometry()
    if screen is None:
        raise RecordingError(
            "has positions in pixels but no screen geometry: add " + HOW_TO_GIVE,
            path=table.path,
        )
    return screen.px_to_deg(table.x, table.y)


Progress = Callable[[float], None]
N_REASONS = 5
"""Recordings named in the error if none is left."""
N_THREADS = min(4, os.cpu_count() or 1)
"""Reading and kernels release the interpreter's lock; more threads do not help."""
IN_MEMORY = Path("recordings in memory")
"""Stands for the path of recordings in memory."""


def source_kind(source: Path | Sequence[Labelled]) -> SourceKind:
    """Return the kind of data that `gather` will read."""
    if not isinstance(source, Path):
        return "samples"
    return "fixations" if kind_of(_folder_of(source)) == "fixation table" else "samples"


def gather(
    source: Path | Sequence[Labelled],
    *,
    detector: Detector | None = None,
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    exclude_viewers: Collection[str] = (),
    running: bool = False,
    progress: Progress | None = None,
) -> Gathered:
    """Read the scanpaths of a corpus, a recording, a fixation table or several recordings.

    With `running` also the features known live, saccade by saccade.

    `sessions` and `images` choose (empty: all); a session or viewer that is named and does not
    occur is an error, because it is a slip of the pen. Of the images only some need occur: a list
    may serve several corpora.
    """
    reading = Reading(detector or Detector(), flags, running, trial_patterns)
    if not isinstance(source, Path):
        gathered = _of_recordings(source, reading, sessions, exclude_viewers)
        return _only_images(gathered, IN_MEMORY, set(images))
    source = _folder_of(source)
    kind = kind_of(source)
    if kind == "fixation table":
        table = read_fixation_table(source, progress=progress)
        return _of_table(table, reading, set(sessions), set(images), set(exclude_viewers))
    if kind == "corpus":
        gathered = _of_corpus(source, reading, sessions, exclude_viewers, progress)
    else:
        alone = Labelled(source, str(source), screen=screen_in_corpus(source))
        probe, caveats = reading.probe(alone)
        probes = () if sessions else (replace(probe, name=source.name),)
        gathered = Gathered("samples", probes, tuple(sentences(caveats)), trial_patterns)
    return _only_images(gathered, source, set(images))


def _of_table(
    table: FixationTable,
    reading: Reading,
    sessions: set[str],
    images: set[str],
    excluded: set[str],
) -> Gathered:
    """Return the scanpaths of the chosen rows of a table: only these are made."""
    source = table.path
    _refuse_unknown(source, "session", sessions, set(table.session_names))
    _refuse_unknown(source, "viewer", excluded, set(table.viewer_names))
    missing = _missing_images(source, images, set(table.image_names))

    def rows(codes: Codes, names: Sequence[str], chosen: set[str]) -> Flags:
        return np.isin(codes, [code for code, name in enumerate(names) if name in chosen])

    kept = ~rows(table.viewer, table.viewer_names, excluded)
    if sessions:
        kept &= rows(table.session, table.session_names, sessions)
    if images:
        kept &= rows(table.image, table.image_names, images)
    gathered = table_probes(table, reading, kept)
    return _checked(replace(gathered, warnings=gathered.warnings + missing), source)


def _of_recordings(
    recordings: Sequence[Labelled],
    reading: Reading,
    sessions: Collection[str],
    exclude_viewers: Collection[str],
) -> Gathered:
    """Return the scanpaths of recordings that are named one by one; a broken one raises."""
    _refuse_unknown(IN_MEMORY, "session", set(sessions), {one.session for one in recordings})
    known = {one.viewer for one in recordings if one.viewer is not None}
    _refuse_unknown(IN_MEMORY, "viewer", set(exclude_viewers), known)
    chosen = [
        one
        for one in recordings
        if (not sessions or one.session in sessions) and one.viewer not in exclude_viewers
    ]
    with ThreadPoolExecutor(N_THREADS) as pool:
        found = list(pool.map(reading.probe, chosen))
    warnings = sentences(caveat for _, caveats in found for caveat in caveats)
    probes = tuple(probe for probe, _ in found)
    return Gathered("samples", probes, tuple(warnings), reading.trial_patterns)


def _folder_of(source: Path) -> Path:
    """Return a corpus where its table was named."""
    return source.parent if source.name == CORPUS_NAME and source.is_file() else source


def corpus_recordings(
    source: Path, sessions: Collection[str] = (), exclude_viewers: Collection[str] = ()
) -> tuple[list[Labelled], list[str]]:
    """Return the recordings of a corpus, and warnings about those it leaves out."""
    corpus = read_corpus(source)
    known = {entry.session for entry in corpus.entries}
    _refuse_unknown(source, "session", set(sessions), known)
    _refuse_unknown(source, "viewer", set(exclude_viewers), set(corpus.viewers))
    entries = [
        Labelled(
            entry.recording,
            _name_in(corpus.path, entry.recording),
            entry.viewer,
            entry.session,
            entry.screen,
        )
        for entry in corpus.entries
        if (not sessions or entry.session in sessions) and entry.viewer not in exclude_viewers
    ]
    warnings = [f"{skipped.recording}: left out: {skipped.reason}" for skipped in corpus.skipped]
    return entries, warnings


def _of_corpus(
    source: Path,
    reading: Reading,
    sessions: Collection[str],
    exclude_viewers: Collection[str],
    progress: Progress | None,
) -> Gathered:
    entries, warnings = corpus_recordings(source, sessions, exclude_viewers)
    probes = []
    caveats: list[Caveat] = []
    with ThreadPoolExecutor(N_THREADS) as pool:
        for done, found in enumerate(pool.map(reading.try_probe, entries)):
            if isinstance(found, RecordingError):
                warnings.append(f"{found}; the recording is left out")
            else:
                probes.append(found[0])
                caveats += found[1]
            if progress is not None:
                progress((done + 1) / len(entries))
    told = dict.fromkeys((*warnings, *sentences(caveats)))
    return Gathered("samples", tuple(probes), tuple(told), reading.trial_patterns)


def _name_in(folder: Path, recording: Path) -> str:
    """Return a recording's name as `corpus.csv` has it; it may lie on another drive."""
    inside = recording.is_relative_to(folder)
    return (recording.relative_to(folder) if inside else recording).as_posix()


def _only_images(gathered: Gathered, source: Path, images: set[str]) -> Gathered:
    """Return nothing but some images (none: all) of what was read."""
    known = {path.image for probe in gathered.probes for path in probe.scanpaths if path.image}
    missing = _missing_images(source, images, known)
    kept = [probe.only(images) for probe in gathered.probes]
    probes = tuple(probe for probe in kept if probe.scanpaths or not images)
    warnings = gathered.warnings + missing
    return _checked(replace(gathered, probes=probes, warnings=warnings), source)


def _missing_images(source: Path, images: set[str], known: set[str]) -> tuple[str, ...]:
    """Return a warning if some images are not there; raise if none is."""
    if images and not images & known:
        raise ConfigError(
            f"none of the {len(images)} images named is in {source}, which has "
            f"{', '.join(sorted(known)[:5]) or 'none'}",
            key="--images",
        )
    n = len(images - known)
    return (f"{n} of the {len(images)} images named are not in {source}",) if n else ()


def _checked(gathered: Gathered, source: Path) -> Gathered:
    if not gathered.probes:
        reasons = "".join(f"\n  {warning}" for warning in gathered.warnings[:N_REASONS])
        raise RecordingError("no recordings left after filtering" + reasons, path=source)
    return gathered


def _refuse_unknown(source: Path, what: str, named: set[str], known: set[str]) -> None:
    unknown = sorted(named - known)
    if unknown:
        there = ", ".join(sorted(known)[:10]) or "none"
        raise ConfigError(f"{source} has no {what} {', '.join(unknown)}; it has {there}")
