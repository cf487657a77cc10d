"""Labelled scanpaths: whatever `train` and `identify` are given, read and analysed.

A corpus or a recording goes through detection, interval by interval; a fixation table is taken as
it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from gazelive.errors import ConfigError, RecordingError
from gazelive.identification.training_set import SourceKind
from gazelive.offline.probes import Detector, Gathered, Labelled, Reading
from gazelive.offline.table_probes import table_probes
from gazelive.recordings.corpus import CORPUS_NAME, read_corpus, screen_in_corpus
from gazelive.recordings.doubts import Doubt, sentences
from gazelive.recordings.fixation_table import read_fixation_table
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.opening import kind_of
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

Progress = Callable[[float], None]
N_REASONS = 5
"""So many recordings that were left out are named where nothing else is left."""
N_THREADS = min(4, os.cpu_count() or 1)
"""Reading and kernels let go of the interpreter's lock; more threads than this do not help."""
IN_MEMORY = Path("recordings in memory")
"""What stands in the place of a source's name."""


def source_kind(source: Path) -> SourceKind:
    """Say what `gather` will make scanpaths from, without reading it all."""
    return "fixations" if kind_of(_folder_of(source)) == "fixation table" else "samples"


def gather(
    source: Path,
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
    """Read the scanpaths of a corpus, a recording or a fixation table.

    With `running` also what was known while they ran, saccade by saccade.

    `sessions` and `images` choose (empty: all); a session or viewer that is named and does not
    occur is an error, because it is a slip of the pen. Of the images only some need occur: a list
    may serve several corpora.
    """
    source = _folder_of(source)
    reading = Reading(detector or Detector(), flags, running, trial_patterns)
    kind = kind_of(source)
    if kind == "fixation table":
        gathered = table_probes(read_fixation_table(source, progress=progress), reading)
    elif kind == "corpus":
        gathered = _of_corpus(source, reading, sessions, exclude_viewers, progress)
    else:
        alone = Labelled(source, str(source), screen=screen_in_corpus(source))
        probe, doubts = reading.probe(alone)
        probes = (replace(probe, name=source.name),)
        gathered = Gathered("samples", probes, tuple(sentences(doubts)), trial_patterns)
    return _chosen(gathered, source, set(sessions), set(images), set(exclude_viewers))


def gather_recordings(
    recordings: Sequence[Labelled],
    *,
    detector: Detector | None = None,
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    exclude_viewers: Collection[str] = (),
    running: bool = False,
) -> Gathered:
    """Return the scanpaths of recordings that somebody has at hand; one that is broken raises.

    The patterns are for those that must still be read.
    """
    _refuse_unknown(IN_MEMORY, "session", set(sessions), {one.session for one in recordings})
    known = {one.viewer for one in recordings if one.viewer is not None}
    _refuse_unknown(IN_MEMORY, "viewer", set(exclude_viewers), known)
    chosen = [
        one
        for one in recordings
        if (not sessions or one.session in sessions) and one.viewer not in exclude_viewers
    ]
    reading = Reading(detector or Detector(), flags, running, trial_patterns)
    with ThreadPoolExecutor(N_THREADS) as pool:
        found = list(pool.map(reading.probe, chosen))
    told = sentences(doubt for _, doubts in found for doubt in doubts)
    probes = tuple(probe for probe, _ in found)
    gathered = Gathered("samples", probes, tuple(told), trial_patterns)
    return _chosen(gathered, IN_MEMORY, set(sessions), set(images), set(exclude_viewers))


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
    probes = []
    doubts: list[Doubt] = []
    with ThreadPoolExecutor(N_THREADS) as pool:
        for done, found in enumerate(pool.map(reading.try_probe, entries)):
            if isinstance(found, RecordingError):
                warnings.append(f"{found}; the recording is left out")
            else:
                probes.append(found[0])
                doubts += found[1]
            if progress is not None:
                progress((done + 1) / len(entries))
    told = dict.fromkeys((*warnings, *sentences(doubts)))
    return Gathered("samples", tuple(probes), tuple(told), reading.trial_patterns)


def _name_in(folder: Path, recording: Path) -> str:
    """Return a recording's name as `corpus.csv` has it; it may lie on another drive."""
    inside = recording.is_relative_to(folder)
    return (recording.relative_to(folder) if inside else recording).as_posix()


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
    return replace(gathered, probes=tuple(probes), warnings=warnings)


def _refuse_unknown(source: Path, what: str, named: set[str], known: set[str]) -> None:
    unknown = sorted(named - known)
    if unknown:
        there = ", ".join(sorted(known)[:10]) or "none"
        raise ConfigError(f"{source} has no {what} {', '.join(unknown)}; it has {there}")
