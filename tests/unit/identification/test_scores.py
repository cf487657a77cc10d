"""Fisher scores of saccades."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.features.feature_set import ALL_ALIKE, DIRECTIONS, TURNS, Feature, FeatureSet
from gazelive.features.scanpath import N_COLUMNS, Column
from gazelive.identification.scores import Representation, gradient_block, robust_block
from gazelive.identification.units import unit_windows
from gazelive.models import StoredArrays, typed_density_kernels as kernels
from gazelive.models.markov import markov_dynamics_features

from ...support.markov_models import fit_markov
from ...support.people import Person, people

AMPLITUDE = Feature(name="amplitude", a="amplitude_deg")
DX = Feature(name="dx", a="dx_deg", operation="copy", signed=True)


def rows_of(values, column=Column.AMPLITUDE_DEG):
    rows = np.full((len(values), N_COLUMNS), np.nan, np.float32)
    rows[:, column] = values
    return rows


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), n=st.integers(0, 40))
def test_a_gradient_block_has_the_models_gradient(seed, n):
    features = markov_dynamics_features(6.0)
    model = fit_markov(features, [p.looks("samples", 50, 0) for p in people(6)])
    path = Person(seed).looks("samples", n, seed)
    block = gradient_block(model)
    summed = block.row_scores(path.saccades).sum(axis=0)
    n_types, n_features = model.shape.shape
    expected = model.fisher_score(path).reshape(n_types, 1 + 2 * n_features)
    np.testing.assert_allclose(
        summed, np.concatenate((expected[:, 1:].reshape(-1), expected[:, 0])), atol=1e-9
    )


class TestRobustBlocks:
    @pytest.mark.parametrize("family", ["gamma", "log-gaussian"])
    def test_scores_of_training_data_are_white(self, family):
        rng = np.random.default_rng(0)
        x = rng.gamma(4, 2, 40_000) if family == "gamma" else np.exp(rng.normal(1, 0.5, 40_000))
        block = robust_block(FeatureSet(ALL_ALIKE, [AMPLITUDE]), rows_of(x), family=family)
        scores = block.row_scores(rows_of(x))[:, :2]
        np.testing.assert_allclose(scores.mean(axis=0), 0, atol=0.03)
        np.testing.assert_allclose(scores.T @ scores / len(x), np.eye(2), atol=0.1)

    def test_frequencies_are_white_too(self):
        rng = np.random.default_rng(1)
        rows = rows_of(rng.choice(4, 40_000, p=[0.4, 0.3, 0.2, 0.1]), Column.TURN)
        scores = robust_block(FeatureSet(TURNS), rows).row_scores(rows)
        covariance = scores.T @ scores / len(rows)
        shares = np.sqrt([0.4, 0.3, 0.2, 0.1])
        np.testing.assert_allclose(covariance, np.eye(4) - np.outer(shares, shares), atol=0.02)

    @pytest.mark.parametrize("features", [AMPLITUDE, DX])
    def test_no_single_saccade_decides(self, features):
        rng = np.random.default_rng(2)
        column = Column.AMPLITUDE_DEG if features is AMPLITUDE else Column.DX_DEG
        x = rng.gamma(4, 2, 500)
        block = robust_block(FeatureSet(ALL_ALIKE, [features]), rows_of(x, column))
        extreme = block.row_scores(rows_of([1e-30, 1e30, 3e38], column))
        assert np.isfinite(extreme).all()
        assert (np.abs(extreme) <= kernels.LARGEST_SCORE).all()

    def test_values_that_hardly_vary_stay_finite(self):
        x = np.full(200, 0.25)
        x[:5] = 0.3
        for family in ("gamma", "log-gaussian"):
            block = robust_block(FeatureSet(ALL_ALIKE, [AMPLITUDE]), rows_of(x), family=family)
            assert np.isfinite(block.row_scores(rows_of([0.1, 0.25, 9.0]))).all()

    def test_too_few_values_make_no_density(self):
        x = np.arange(1.0, 20)
        features = FeatureSet(ALL_ALIKE, [AMPLITUDE])
        assert not robust_block(features, rows_of(x)).row_scores(rows_of(x)).any()
        assert robust_block(features, rows_of(x), min_values=10).row_scores(rows_of(x)).any()

    def test_of_one_entry_only_the_first_is_kept(self):
        rows = people(1)[0].looks("samples", 300, 0).saccades
        features = FeatureSet(DIRECTIONS, [AMPLITUDE, DX])
        both = robust_block(features, rows).row_scores(rows)
        first = robust_block(features, rows, entries=1).row_scores(rows)
        assert first.shape[1] == 4 * 2 + 4
        np.testing.assert_array_equal(first[:, :8], both[:, :16:2])
        np.testing.assert_array_equal(first[:, 8:], both[:, 16:])


@pytest.fixture(scope="module")
def representation():
    rows = np.concatenate([p.looks("samples", 80, 0).saccades for p in people(5)])
    return Representation(
        (
            robust_block(FeatureSet(DIRECTIONS, [AMPLITUDE, DX]), rows),
            robust_block(FeatureSet(TURNS), rows),
            robust_block(FeatureSet(TURNS, [DX]), rows, entries=1, frequencies=False),
        )
    )


class TestRepresentation:
    def test_blocks_lie_side_by_side(self, representation):
        rows = people(3)[2].looks("samples", 12, 4).saccades
        scores = representation.row_scores(rows)
        assert representation.borders == [0, 20, 24, 32]
        assert representation.n_dimensions == scores.shape[1] == 32
        np.testing.assert_array_equal(scores[:, 20:24], representation.blocks[1].row_scores(rows))

    def test_every_dimension_has_a_name(self, representation):
        names = [block.dimension_names() for block in representation.blocks]
        assert [len(of_block) for of_block in names] == [20, 4, 8]
        assert names[0][:4] == ["amplitude", "amplitude", "dx", "dx"]
        assert [*names[1], names[2][0]] == [*["frequency of turn"] * 4, "dx"]

    @given(n=st.integers(0, 75))
    def test_units_are_sums_over_windows(self, representation, n):
        path = people(1)[0].looks("samples", n, 3)
        units, counts = representation.unit_scores(path)
        scores = representation.row_scores(path.saccades)
        windows = unit_windows(n)
        assert counts.tolist() == [beyond - first for first, beyond in windows]
        for unit, (first, beyond) in zip(units, windows, strict=True):
            np.testing.assert_allclose(unit, scores[first:beyond].sum(axis=0))

    def test_stored_statistics_score_bit_equally(self, representation):
        again = Representation.from_file(
            representation.to_json(), StoredArrays(representation.to_arrays())
        )
        rows = people(1)[0].looks("samples", 40, 5).saccades
        np.testing.assert_array_equal(again.row_scores(rows), representation.row_scores(rows))
        for ours, theirs in zip(again.blocks, representation.blocks, strict=True):
            assert ours.dimension_names() == theirs.dimension_names()
