from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from gazelive.detection import (
    EngbertKlieglParameters,
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
)
from gazelive.detection.engbert_kliegl import (
    EngbertKlieglSaccades,
    find_saccades,
    median_deviation,
    pair_eyes,
    velocity,
)
from gazelive.detection.result import Outcome

TOOLBOX = EngbertKlieglParameters(threshold_noise=5.0, shortest_saccade_ms=6.0)


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> dict[str, np.ndarray]:
    folder = shared_data / "engbert-kliegl"
    return {
        name: np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        for name in ("position_deg", "velocity_R", "saccades_R")
    }


def test_velocities_are_those_of_the_authors(reference: dict[str, np.ndarray]) -> None:
    for axis in (0, 1):
        ours = velocity(reference["position_deg"][:, axis], 500.0)
        np.testing.assert_allclose(ours, reference["velocity_R"][:, axis], rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", ["centred", "2003"])
def test_saccades_are_those_of_the_authors(reference: dict[str, np.ndarray], form: str) -> None:
    x, y = np.ascontiguousarray(reference["position_deg"].T)
    parameters = EngbertKlieglParameters(
        threshold_noise=5.0,
        shortest_saccade_ms=6.0,
        threshold_form=form,  # type: ignore[arg-type]
    )
    found, _ = find_saccades(x, y, 500.0, parameters)
    theirs = reference["saccades_R"]
    np.testing.assert_array_equal(found.onset + 1, theirs[:, 0])  # R counts from 1
    np.testing.assert_array_equal(found.offset + 1, theirs[:, 1])
    ours = np.column_stack(
        (
            found.peak_velocity_deg_s,
            found.dx_deg,
            found.dy_deg,
            found.amplitude_x_deg,
            found.amplitude_y_deg,
        )
    )
    np.testing.assert_allclose(ours, theirs[:, 2:], rtol=0, atol=1e-9)


def test_binocular_saccades_of_a_real_recording(shared_data: Path) -> None:
    with gzip.open(shared_data / "engbert-kliegl" / "f01_005.csv.gz") as file:
        t_ms, *eyes = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    left, _ = find_saccades(eyes[0], eyes[1], 500.0, TOOLBOX)
    right, _ = find_saccades(eyes[2], eyes[3], 500.0, TOOLBOX)
    both_left, both_right = pair_eyes(left, right)
    assert 0 < len(both_left) <= min(len(left), len(right))
    # the definition, by brute force: a cluster is a stretch that either eye's saccades cover
    covered = np.zeros(len(t_ms) + 2, np.int8)
    for eye in (left, right):
        for a, b in zip(eye.onset, eye.offset, strict=True):
            covered[a + 1 : b + 2] = 1
    first, last = np.flatnonzero(np.diff(covered) == 1), np.flatnonzero(np.diff(covered) == -1) - 1
    expected = [
        (a, b)
        for a, b in zip(first, last, strict=True)
        if all(((eye.onset >= a) & (eye.offset <= b)).any() for eye in (left, right))
    ]
    assert len(both_left) == len(expected)
    detection = detect_engbert_kliegl_binocular(t_ms * 1000, *eyes, 500.0, TOOLBOX)
    np.testing.assert_array_equal(
        detection.saccade_samples[:, 0], np.minimum(both_left.onset, both_right.onset)
    )
    assert detection.outcome is Outcome.FOUND


def _saccades(*rows: tuple[int, int, float]) -> EngbertKlieglSaccades:
    table = np.array(rows, float).reshape(-1, 3)
    zeros = np.zeros(len(table))
    return EngbertKlieglSaccades(
        table[:, 0].astype(np.int64),
        table[:, 1].astype(np.int64),
        zeros,
        zeros,
        zeros,
        table[:, 2],
        zeros,
    )


def test_each_eyes_largest_saccade_stands_for_a_cluster() -> None:
    left = _saccades((10, 20, 1.0), (22, 30, 3.0), (100, 110, 1.0))
    right = _saccades((12, 28, 2.0), (200, 210, 1.0))
    both_left, both_right = pair_eyes(left, right)
    assert both_left.onset.tolist() == [22]
    assert both_right.onset.tolist() == [12]


def test_a_lost_sample_ends_a_run() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate((np.zeros(200), np.linspace(0, 10, 20), np.full(200, 10.0)))
    x += random.normal(0, 0.01, len(x))
    y = random.normal(0, 0.01, len(x))
    whole, _ = find_saccades(x, y, 500.0, TOOLBOX)
    assert len(whole) == 1
    x[210] = np.nan
    cut, _ = find_saccades(x, y, 500.0, TOOLBOX)
    assert len(cut) == 2
    assert (cut.offset < 210).tolist() == [True, False]
    assert np.isfinite(cut.peak_velocity_deg_s).all()


def test_the_deviation_falls_back_to_the_standard_deviation() -> None:
    mostly_still = np.zeros(100)
    mostly_still[:10] = 5.0
    assert median_deviation(mostly_still) == pytest.approx(np.std(mostly_still))
    assert median_deviation(np.zeros(100)) == 0.0
    assert median_deviation(np.full(3, np.nan)) == 0.0


def test_an_axis_that_never_moves_has_a_name() -> None:
    x = np.random.default_rng(0).normal(size=100)
    detection = detect_engbert_kliegl(np.arange(100) * 2000, x, np.zeros(100), 500.0)
    assert detection.outcome is Outcome.CONSTANT_GAZE
    assert detection.thresholds_deg_s is None
    assert detection.saccades == ()


def test_one_eye_missing_has_a_name() -> None:
    x = np.cumsum(np.random.default_rng(0).normal(size=100))
    lost = np.full(100, np.nan)
    detection = detect_engbert_kliegl_binocular(np.arange(100) * 2000, x, x, lost, lost, 500.0)
    assert detection.outcome is Outcome.ONE_EYE_MISSING
    assert detection.saccades == ()
