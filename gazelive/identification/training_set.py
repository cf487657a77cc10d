"""What identification is learned from: scanpaths, and who looked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gazelive.features.scanpath import N_COLUMNS, Rows, Scanpath

Integers = npt.NDArray[np.int64]
SourceKind = Literal["samples", "fixations"]
"""What scanpaths were made from; a model is for one or the other."""


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
        seen = set(zip(self.viewers.tolist(), self.sessions, strict=True))
        counts = np.bincount([viewer for viewer, _ in seen], minlength=self.n_viewers)
        return int(counts.min(initial=len(seen)))

    def rows(self) -> Rows:
        """Return the rows of all saccades."""
        parts = [path.saccades for path in self.scanpaths]
        return np.concatenate(parts) if parts else np.empty((0, N_COLUMNS), np.float32)

    def of_viewer(self, viewer: int) -> Iterator[Scanpath]:
        """Yield the scanpaths of one viewer."""
        for path, who in zip(self.scanpaths, self.viewers, strict=True):
            if who == viewer:
                yield path

    def subset(self, chosen: npt.NDArray[np.bool_]) -> TrainingSet:
        """Return the chosen scanpaths, of the same viewers."""
        where = np.flatnonzero(chosen)
        return TrainingSet(
            self.kind,
            self.viewer_ids,
            tuple(self.scanpaths[i] for i in where),
            self.viewers[where],
            tuple(self.sessions[i] for i in where),
        )


def training_set(kind: SourceKind, labelled: Sequence[tuple[str, str, Scanpath]]) -> TrainingSet:
    """Return the set of (viewer, session, scanpath); those without a saccade are left out."""
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
