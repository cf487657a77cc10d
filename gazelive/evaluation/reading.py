"""Reading of a study's data: the scanpaths of a corpus or table, detected once and cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gazelive.errors import GazeliveError, RecordingError
from gazelive.evaluation.cache import Cache, code_key, content_key, key_of
from gazelive.evaluation.running import Runner
from gazelive.features import Scanpath
from gazelive.identification import Arrays, TrainingSet, training_set
from gazelive.models import read_arrays, write_arrays
from gazelive.observer import Observer
from gazelive.recordings import DEFAULT_PATTERNS, GeometryFlags, TrialPatterns, read_recording
from gazelive.system import limit_to_one_thread
from gazelive.workflows import Detector, Labelled, Reading, corpus_recordings, gather, source_kind

DETECTION = ("gaze", "recordings", "detection", "features", "analysis")
"""Packages whose code decides what the scanpaths of a recording are."""
WHOLE = 0.0
"""Stands for whole recordings among the lengths of pieces."""


@dataclass(frozen=True, eq=False)
class StudyData:
    """Labelled scanpaths of everybody."""

    whole: TrainingSet
    """Of images or, without images, of whole recordings."""
    pieces: dict[float, TrainingSet] = field(default_factory=dict)
    """Of pieces of recordings without images, by their length in seconds, detected alone."""


@dataclass(frozen=True)
class Selection:
    """What to read of a source."""

    source: Path
    sessions: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    exclude_viewers: tuple[str, ...] = ()
    flags: GeometryFlags | None = None
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS
    seconds: tuple[float, ...] = ()
    """Lengths of pieces, for recordings without images."""


def collect(
    selection: Selection, cache: Cache, runner: Runner, observer: Observer
) -> tuple[Path, StudyData]:
    """Return the data, and the file in the cache from which tasks read them."""
    kind = source_kind(selection.source)
    if kind == "fixations":
        key, data = _of_table(selection, cache, observer)
    else:
        key, data = _of_recordings(selection, cache, runner, observer)
    path = cache.path(key)
    if not path.exists():
        _write_data(path, data)
    return path, data


def _of_table(selection: Selection, cache: Cache, observer: Observer) -> tuple[str, StudyData]:
    parts = (content_key(selection.source), *_choices(selection))
    key = key_of("table", code_key(*DETECTION), *parts)
    if cache.path(key).exists():
        return key, read_data(cache.path(key))
    with observer.progress(f"Reading {selection.source.name}") as report:
        gathered = gather(
            selection.source,
            flags=selection.flags,
            sessions=selection.sessions,
            images=selection.images,
            exclude_viewers=selection.exclude_viewers,
            progress=report,
        )
    for warning in gathered.warnings:
        observer.warn(warning)
    labelled = [(p.viewer or "", p.session, path) for p in gathered.probes for path in p.scanpaths]
    return key, StudyData(training_set("fixations", labelled))


def _choices(selection: Selection) -> tuple[str, ...]:
    return (
        repr(selection.flags),
        repr(selection.trial_patterns),
        *(
            repr(sorted(c))
            for c in (selection.sessions, selection.images, selection.exclude_viewers)
        ),
        repr(selection.seconds),
    )


def _of_recordings(
    selection: Selection, cache: Cache, runner: Runner, observer: Observer
) -> tuple[str, StudyData]:
    entries, warnings = corpus_recordings(
        selection.source, selection.sessions, selection.exclude_viewers
    )
    reading = Reading(Detector(), selection.flags, False, selection.trial_patterns)
    common = ("recording", code_key(*DETECTION), *_choices(selection))
    keys = [key_of(*common, _recording_key(entry)) for entry in entries]
    missing = [i for i, key in enumerate(keys) if not cache.path(key).exists()]
    work = [(entries[i], reading, selection.seconds) for i in missing]
    with observer.progress(f"Finding saccades in {selection.source.name}") as report:
        for done, (number, read) in enumerate(runner.run(read_one, work), start=1):
            if isinstance(read, GazeliveError):
                warnings.append(f"{read}; the recording is left out")
            else:
                _write_pieces(cache.path(keys[missing[number]]), read)
            report(done / len(work))
    for warning in warnings:
        observer.warn(warning)
    found = [
        (entry, _read_pieces(cache.path(key)))
        for entry, key in zip(entries, keys, strict=True)
        if cache.path(key).exists()
    ]
    if not found:
        raise RecordingError("no recording could be read", path=selection.source)
    wanted = set(selection.images)

    def data_of(seconds: float) -> TrainingSet:
        return training_set(
            "samples",
            [
                (entry.viewer or "", entry.session, path)
                for entry, pieces in found
                for path in pieces.get(seconds, ())
                if not wanted or path.image in wanted
            ],
        )

    lengths = selection.seconds if any(len(pieces) > 1 for _, pieces in found) else ()
    data = StudyData(data_of(WHOLE), {seconds: data_of(seconds) for seconds in lengths})
    return key_of("corpus", *keys), data


def _recording_key(labelled: Labelled) -> str:
    assert isinstance(labelled.recording, Path)
    return f"{content_key(labelled.recording)} {labelled.screen!r}"


Pieces = dict[float, Sequence[Scanpath]]


def read_one(
    labelled: Labelled, reading: Reading, seconds: tuple[float, ...]
) -> Pieces | GazeliveError:
    """Read a recording; return its scanpaths, whole and (without images) in pieces."""
    limit_to_one_thread()
    assert isinstance(labelled.recording, Path)
    try:
        recording = read_recording(labelled.recording, trial_patterns=reading.trial_patterns)
        probe, _ = reading.probe_of(recording, labelled)
        pieces: Pieces = {WHOLE: probe.scanpaths}
        if not recording.trials:
            pieces |= {s: reading.pieces(labelled, recording, s) for s in seconds}
    except GazeliveError as error:
        return error
    return pieces


def _write_pieces(path: Path, pieces: Pieces) -> None:
    """Keep the scanpaths of one recording; the "session" of each is its length."""
    labelled = [("", repr(s), scanpath) for s, paths in pieces.items() for scanpath in paths]
    _write(path, {"": training_set("samples", labelled)}, lengths=list(pieces))


def _read_pieces(path: Path) -> Pieces:
    manifest, arrays = read_arrays(path)
    data = _set_of(manifest, arrays, "")
    pieces: dict[float, list[Scanpath]] = {float(s): [] for s in manifest["lengths"]}
    for session, scanpath in zip(data.sessions, data.scanpaths, strict=True):
        pieces[float(session)].append(scanpath)
    return dict(pieces)


def _write_data(path: Path, data: StudyData) -> None:
    sets = {"whole": data.whole, **{repr(s): piece for s, piece in data.pieces.items()}}
    _write(path, sets, lengths=list(data.pieces))


def read_data(path: Path) -> StudyData:
    """Read the file of `collect`."""
    manifest, arrays = read_arrays(path)
    pieces = {float(s): _set_of(manifest, arrays, repr(float(s))) for s in manifest["lengths"]}
    return StudyData(_set_of(manifest, arrays, "whole"), pieces)


def _write(path: Path, sets: dict[str, TrainingSet], lengths: list[float]) -> None:
    manifest: dict[str, object] = {"lengths": lengths}
    arrays: Arrays = {}
    for name, data in sets.items():
        content, own = data.to_arrays()
        manifest[name] = content | {"viewers": list(data.viewer_ids)}
        arrays |= {f"{name}/{key}": array for key, array in own.items()}
    write_arrays(path, manifest, arrays)


def _set_of(manifest: dict[str, Any], arrays: Arrays, name: str) -> TrainingSet:
    content = manifest[name]
    own = {k.removeprefix(f"{name}/"): a for k, a in arrays.items() if k.startswith(f"{name}/")}
    return TrainingSet.from_arrays(content, own, tuple(content["viewers"]))
