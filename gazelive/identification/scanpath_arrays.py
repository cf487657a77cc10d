"""The scanpaths a model was made from, kept in its file so that it can be refitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.features.scanpath import N_COLUMNS, Scanpath
from gazelive.identification.training_set import SourceKind, TrainingSet

Arrays = dict[str, npt.NDArray[Any]]


def scanpath_arrays(training: TrainingSet) -> tuple[dict[str, Any], Arrays]:
    """Return what a manifest and what a file keep of a training set.

    Columns that no saccade has (dynamics of a fixation table) are left out.
    """
    paths = training.scanpaths
    rows = training.rows()
    known = np.flatnonzero(np.isfinite(rows).any(axis=0))
    fixations = [path.fixations for path in paths]
    images = [path.image for path in paths]
    names = sorted({image for image in images if image is not None})
    sessions = sorted(set(training.sessions))
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
        "session": np.array([session_number[s] for s in training.sessions], np.int64),
        "viewer": training.viewers,
    }
    content = {"kind": training.kind, "images": names, "sessions": sessions}
    return content, arrays


def scanpaths_of_arrays(
    content: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], viewer_ids: tuple[str, ...]
) -> TrainingSet:
    """Return the training set that was kept."""
    rows = np.full((len(arrays["rows"]), N_COLUMNS), np.nan, np.float32)
    rows[:, arrays["columns"]] = arrays["rows"]
    of_paths = np.split(rows, np.cumsum(arrays["n_saccades"])[:-1])
    fixations = np.split(arrays["fixations"], np.cumsum(arrays["n_fixations"])[:-1])
    paths = []
    for number, (saccades, fixated) in enumerate(zip(of_paths, fixations, strict=True)):
        if number == len(arrays["seconds"]):
            break  # np.split of nothing gives one empty part
        image, rate = int(arrays["image"][number]), float(arrays["rates_hz"][number])
        paths.append(
            Scanpath(
                saccades,
                fixated,
                float(arrays["seconds"][number]),
                None if image < 0 else str(content["images"][image]),
                None if np.isnan(rate) else rate,
            )
        )
    kind: SourceKind = "fixations" if content["kind"] == "fixations" else "samples"
    return TrainingSet(
        kind,
        viewer_ids,
        tuple(paths),
        np.asarray(arrays["viewer"], np.int64),
        tuple(str(content["sessions"][i]) for i in arrays["session"]),
    )
