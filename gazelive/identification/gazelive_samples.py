"""The `gazelive` method on recordings: how the eye moves, compared in a whitened space.

Features of the saccade, of the 48 ms after it and of the fixation before it, and how they differ
from what is usual at that amplitude; a robust log-normal (signed: normal) density of each for 12
types of saccades (four directions, three sizes). Where a density lies tells people apart; how
wide it is does not, so only the first entry of each score is kept.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.features.feature_set import (
    DIRECTIONS_AND_SIZES,
    Feature,
    FeatureSet,
    copied,
    fitted_residual,
)
from gazelive.features.scanpath import Column, Rows
from gazelive.features.schema import AFTER, MOVEMENT, TEXTURE
from gazelive.identification.embedding import Embedding, OpenWindow
from gazelive.identification.representation import Block, robust_block
from gazelive.identification.training_set import TrainingSet
from gazelive.identification.units import unit_windows

Floats = npt.NDArray[np.float64]
SingleFloats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

LEAST_AMPLITUDE_DEG = 0.3
STEP = 5
RIDGE = 0.5
"""Added to each eigenvalue of the windows' covariance, in units of the mean eigenvalue."""
MOST_DIMENSIONS = 400
_ALONG = "movement_amplitude"
_RELATIVE_TO_AMPLITUDE = (
    "movement_duration",
    "movement_peak_velocity",
    "movement_mean_velocity",
    "movement_peak_acceleration",
    "movement_peak_deceleration",
    "movement_mean_acceleration",
    "movement_peak_jerk",
    "movement_acceleration_time",
    "movement_deceleration_time",
    "movement_peak_to_mean_velocity",
    "after_oscillation_range",
    "after_reverse_velocity",
    "after_second_velocity",
    "after_glissade",
)
_RELATIVE_PER_AXIS = (
    "movement_peak_velocity",
    "movement_peak_acceleration",
    "movement_peak_deceleration",
)


def identity_features(rows: Rows, *, texture: bool = True) -> list[Feature]:
    """Return the features, with residuals fitted to the rows of training.

    Without `texture` nothing of the fixation before is used: its noise may be the recording's
    rather than the person's.
    """
    groups = (*MOVEMENT, *AFTER, *(TEXTURE if texture else ()))
    features = copied([f.name for f in groups if not f.signed])
    features += copied([f.name for f in groups if f.signed], signed=True)
    relative = [(name, _ALONG) for name in _RELATIVE_TO_AMPLITUDE]
    relative += [
        (f"{name}_{axis}", f"{_ALONG}_{axis}") for name in _RELATIVE_PER_AXIS for axis in "xy"
    ]
    for a, b in relative:
        residual = fitted_residual(f"{a} for its amplitude", a, b, rows)
        if residual is not None:
            features.append(residual)
    return features


def fit_embedding(training: TrainingSet, *, texture: bool = True) -> Embedding:
    """Fit densities, centre and whitening to all windows of a training set."""
    rows = training.rows()
    rows = rows[rows[:, Column.AMPLITUDE_DEG] >= LEAST_AMPLITUDE_DEG]
    block = robust_block(
        FeatureSet(DIRECTIONS_AND_SIZES, identity_features(rows, texture=texture)),
        rows,
        family="log-gaussian",
        entries=1,
    )
    tempered = _tempered_windows(training, block)
    if len(tempered) < 2:
        raise ModelError("too few saccades to learn from")
    mean = tempered.mean(axis=0)
    centred = tempered - mean
    eigenvalues, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    kept = np.flatnonzero(eigenvalues > 1e-10 * eigenvalues[-1])[-MOST_DIMENSIONS:]
    reach = np.sqrt(eigenvalues[kept] + RIDGE * eigenvalues.mean())
    projection = (vectors[:, kept] / reach).astype(np.float32)
    return Embedding(block, mean, projection, STEP, LEAST_AMPLITUDE_DEG)


def _tempered_windows(training: TrainingSet, block: Block) -> Floats:
    """Return the tempered score of every window of every scanpath."""
    n_dimensions = block.n_dimensions
    nothing = Embedding(
        block, np.zeros(n_dimensions), np.zeros((n_dimensions, 1), np.float32), STEP, 0.0
    )
    window = OpenWindow(nothing)
    found = []
    for path in training.scanpaths:
        rows = path.saccades[path.saccades[:, Column.AMPLITUDE_DEG] >= LEAST_AMPLITUDE_DEG]
        for first, beyond in unit_windows(len(rows), STEP):
            window.clear()
            for row in rows[first:beyond]:
                window.add(row)
            found.append(window.tempered().astype(np.float64))
    return np.array(found).reshape(-1, n_dimensions)


def viewer_directions(embedding: Embedding, training: TrainingSet) -> SingleFloats:
    """Return the unit vector of each viewer's mean embedding."""
    summed = np.zeros((training.n_viewers, embedding.n_embedded))
    for path, viewer in zip(training.scanpaths, training.viewers, strict=True):
        windows, n_saccades = embedding.windows(path)
        summed[viewer] += n_saccades @ windows.astype(np.float64)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return (summed / np.maximum(lengths, 1e-12)).astype(np.float32)
