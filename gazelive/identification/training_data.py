"""Training sets: labelled scanpaths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelFormatError
from gazelive.features import N_COLUMNS, Column, Rows, Scanpath, Turn, mean_rate_deg
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.contract import Arrays
from gazelive.identification.units import N_FOLDS, unit_folds
from gazelive.models import StoredArrays

SourceKind = Literal["samples", "fixations"]
"""Recordings or fixation tables; a model is for one or the other."""


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Labelled scanpaths; `viewers` and `sessions` are codes into the names."""

    kind: SourceKind
    viewer_ids: tuple[str, ...]
    scanpaths: tuple[Scanpath, ...]
    viewers: Integers
    """(scanpaths,)"""
    sessions: tuple[str, ...]
    """(scanpaths,): the name of each one's session."""

    def __len__(self) -> int:
        return len(self.scanpaths)

    @property
    def n_viewers(self) -> int:
        """Number of viewers."""
        return len(self.viewer_ids)

    @property
    def n_sessions(self) -> int:
        """The least number of sessions that any viewer has."""
        counts = Counter(viewer for viewer, _ in self.viewer_sessions)
        return min((counts[viewer] for viewer in self.viewer_ids), default=0)

    @property
    def viewer_sessions(self) -> set[tuple[str, str]]:
        """Each viewer's sessions, as (viewer, session)."""
        codes = self.viewers.tolist()
        return {(self.viewer_ids[i], s) for i, s in zip(codes, self.sessions, strict=True)}

    def rows(self) -> Rows:
        """Return the rows of all saccades."""
        parts = [path.saccades for path in self.scanpaths]
        return np.concatenate(parts) if parts else np.empty((0, N_COLUMNS), np.float32)

    def of_viewer(self, viewer: int) -> Iterator[Scanpath]:
        """Yield the scanpaths of one viewer."""
        for i in np.flatnonzero(self.viewers == viewer):
            yield self.scanpaths[i]

    def folds(self, scanpaths: Integers, n_folds: int = N_FOLDS) -> Integers:
        """Return the fold of each unit (`unit_folds`), given each one's scanpath."""
        images = [self.scanpaths[i].image for i in scanpaths]
        return unit_folds(images, scanpaths, self.viewers[scanpaths], n_folds=n_folds)

    def subset(self, chosen: Flags) -> TrainingSet:
        """Return the chosen scanpaths, of the same viewers."""
        where = np.flatnonzero(chosen)
        return TrainingSet(
            self.kind,
            self.viewer_ids,
            tuple(self.scanpaths[i] for i in where),
            self.viewers[where],
            tuple(self.sessions[i] for i in where),
        )

    def select(self, kept: Integers) -> TrainingSet:
        """Return the scanpaths of some viewers only, in the order of their positions `kept`."""
        stays = self.subset(np.isin(self.viewers, kept))
        number = {int(old): new for new, old in enumerate(kept)}
        codes = np.array([number[int(old)] for old in stays.viewers], np.int64)
        names = tuple(self.viewer_ids[i] for i in kept)
        return TrainingSet(self.kind, names, stays.scanpaths, codes, stays.sessions)

    def append(self, other: TrainingSet) -> TrainingSet:
        """Return the set with the scanpaths of another; new viewers come after these."""
        names = tuple(dict.fromkeys(self.viewer_ids + other.viewer_ids))
        number = {viewer: i for i, viewer in enumerate(names)}
        codes = np.array([number[viewer] for viewer in other.viewer_ids], np.int64)
        return TrainingSet(
            self.kind,
            names,
            self.scanpaths + other.scanpaths,
            np.concatenate((self.viewers, codes[other.viewers])),
            self.sessions + other.sessions,
        )

    def to_arrays(self) -> tuple[dict[str, Any], Arrays]:
        """Return JSON and arrays for a model file, which keeps the scanpaths for a refit.

        Columns that no saccade has (dynamics of a fixation table) are left out.
        """
        paths = self.scanpaths
        rows = self.rows()
        known = np.flatnonzero(np.isfinite(rows).any(axis=0))
        fixations = [path.fixations for path in paths]
        images = [path.image for path in paths]
        names = sorted({image for image in images if image is not None})
        sessions = sorted(set(self.sessions))
        image_number: dict[str | None, int] = {None: -1} | {n: i for i, n in enumerate(names)}
        session_number = {name: i for i, name in enumerate(sessions)}
        arrays: Arrays = {
            "rows": rows[:, known],
            "columns": known,
            "n_saccades": np.array([path.n_saccades for path in paths], np.int64),
            "fixations": np.concatenate(fixations) if fixations else np.empty((0, 3)),
            "n_fixations": np.array([len(found) for found in fixations], np.int64),
            "seconds": np.array([path.seconds for path in paths]),
            "rates_hz": np.array([path.sampling_rate_hz or np.nan for path in paths]),
            "image": np.array([image_number[image] for image in images], np.int64),
            "session": np.array([session_number[s] for s in self.sessions], np.int64),
            "viewer": self.viewers,
        }
        content = {"kind": self.kind, "images": names, "sessions": sessions}
        return content, arrays

    @classmethod
    def from_arrays(
        cls,
        content: Mapping[str, Any],
        arrays: Mapping[str, npt.NDArray[Any]],
        viewer_ids: tuple[str, ...],
    ) -> TrainingSet:
        """Return the training set of a model file."""
        stored = StoredArrays(arrays)
        images, sessions = (msgspec.convert(content[n], list[str]) for n in ("images", "sessions"))

        def numbers(name: str, least: int, most: int) -> Integers:
            found = stored.take(name, "scanpaths", least=least, most=most, whole=True)
            return np.asarray(found, np.int64)

        def parts(table: Rows | Floats, lengths: str) -> list[Any]:
            counts = numbers(lengths, 0, len(table))
            if counts.sum() != len(table):
                raise ModelFormatError(f"{lengths} are not those of the scanpaths")
            return np.split(table, np.cumsum(counts)[:-1]) if len(counts) else []

        columns = stored.take("columns", "columns", least=0, most=N_COLUMNS - 1, whole=True)
        known = stored.take("rows", "saccades", "columns", least=-np.inf, most=np.inf, holes=True)
        rows = np.full((len(known), N_COLUMNS), np.nan, np.float32)
        rows[:, columns] = known
        if (rows[:, Column.TURN] > max(Turn)).any():
            raise ModelFormatError("there are turns of an unknown kind")
        fixations = stored.take("fixations", "fixations", 3, holes=True)
        rates_hz = stored.take("rates_hz", "scanpaths", least=1e-3, holes=True)
        seconds = stored.take("seconds", "scanpaths", least=0)
        image = numbers("image", -1, len(images) - 1)
        return cls(
            msgspec.convert(content["kind"], SourceKind),
            viewer_ids,
            tuple(
                Scanpath(
                    saccades,
                    fixated,
                    float(seconds[i]),
                    None if image[i] < 0 else images[image[i]],
                    None if np.isnan(rates_hz[i]) else float(rates_hz[i]),
                )
                for i, (saccades, fixated) in enumerate(
                    zip(parts(rows, "n_saccades"), parts(fixations, "n_fixations"), strict=True)
                )
            ),
            numbers("viewer", 0, len(viewer_ids) - 1),
            tuple(sessions[i] for i in numbers("session", 0, len(sessions) - 1)),
        )


def training_set(kind: SourceKind, labelled: Sequence[tuple[str, str, Scanpath]]) -> TrainingSet:
    """Return the set of (viewer, session, scanpath) without scanpaths that have no saccade."""
    kept = [entry for entry in labelled if entry[2].n_saccades]
    viewer_ids = tuple(sorted({viewer for viewer, _, _ in kept}))
    number = {viewer: i for i, viewer in enumerate(viewer_ids)}
    return TrainingSet(
        kind,
        viewer_ids,
        tuple(path for _, _, path in kept),
        np.array([number[viewer] for viewer, _, _ in kept], np.int64),
        tuple(session for _, session, _ in kept),
    )


def fit_vigor_rate_deg(training: TrainingSet) -> float:
    """Return b*: the mean over viewers of each one's least-squares rate."""
    amplitude, velocity = Column.AMPLITUDE_DEG, Column.PEAK_VELOCITY_DEG_S
    people = []
    for viewer in range(training.n_viewers):
        parts = [path.saccades for path in training.of_viewer(viewer)]
        rows = np.concatenate(parts).astype(np.float64)
        people.append((rows[:, amplitude], rows[:, velocity]))
    return mean_rate_deg(people)
