"""Embeddings of models of 0.1: those that grow saccade by saccade are those of whole windows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.features.scanpath import Column
from gazelive.identification.comparison.counted_saccades import LEAST_AMPLITUDE_DEG
from gazelive.identification.comparison.embedding import (
    Embedding,
    EmbeddingIdentifier,
    OpenInterval,
    best_match,
    tempered_windows,
)
from gazelive.identification.methods import gazelive_samples as samples
from gazelive.identification.open_set import NO_STRANGERS
from gazelive.identification.units import unit_windows

from ....support.people import Person, identified, people, training_of

STEP = 5


@pytest.fixture(scope="module")
def training():
    return training_of(people(6), "samples", 4, 40)


@pytest.fixture(scope="module")
def embedding(training) -> Embedding:
    block = samples.fit_block(training)
    windows = tempered_windows(training.scanpaths, block, STEP, LEAST_AMPLITUDE_DEG)
    projection = np.random.default_rng(0).normal(size=(block.n_dimensions, 60))
    mean = windows.scores.mean(axis=0, dtype=np.float64)
    return Embedding(block, mean, projection.astype(np.float32), STEP, LEAST_AMPLITUDE_DEG)


def plain_weighted(embedding: Embedding, rows: np.ndarray) -> np.ndarray:
    """Return the mean embedding of the windows times the number of saccades, step by step."""
    rows = rows[rows[:, Column.AMPLITUDE_DEG] >= embedding.least_amplitude_deg]
    windows = unit_windows(len(rows), embedding.step)
    if not windows:
        return np.zeros(embedding.n_embedded)
    scores = embedding.block.row_scores(rows)
    total, n = np.zeros(embedding.n_embedded), 0
    for first, beyond in windows:
        mean = scores[first:beyond].sum(axis=0) / (beyond - first)
        tempered = np.sign(mean) * np.sqrt(np.abs(mean)) - embedding.mean
        total += (beyond - first) * (tempered @ embedding.projection.astype(np.float64))
        n += beyond - first
    return total / n * len(rows)


@settings(max_examples=40)
@given(n=st.integers(0, 70), seed=st.integers(0, 1000), step=st.integers(1, 7))
def test_growing_windows_are_windows_of_the_whole(embedding, n, seed, step):
    from dataclasses import replace

    embedding = replace(embedding, step=step)
    rows = Person(seed % 20).looks("samples", n, seed).saccades
    rows[np.random.default_rng(seed).random(n) < 0.1, Column.AMPLITUDE_DEG] = 0.1
    interval = OpenInterval(embedding)
    for row in rows:
        interval.add(row)
    expected = plain_weighted(embedding, rows)
    size = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(interval.weighted(), expected, atol=1e-4 * size)
    assert interval.n_saccades == np.sum(rows[:, Column.AMPLITUDE_DEG] >= 0.3)
    interval.clear()
    assert not interval.weighted().any()


def test_training_windows_are_the_same_windows(embedding, training):
    windows = embedding.windows(training.scanpaths)
    vectors = embedding.embed(windows).astype(np.float64)
    for number, path in enumerate(training.scanpaths[:5]):
        own = windows.scanpath == number
        weighted = windows.weight[own] @ vectors[own]
        expected = plain_weighted(embedding, path.saccades)
        np.testing.assert_allclose(weighted, expected, atol=1e-3 * np.abs(expected).max())
        taken = np.sum(path.saccades[:, Column.AMPLITUDE_DEG] >= LEAST_AMPLITUDE_DEG)
        assert windows.weight[own].sum() == pytest.approx(taken)


def test_the_posterior_is_the_tempered_cosine(embedding):
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(4, embedding.n_embedded))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    made = EmbeddingIdentifier(
        "gazelive",
        ("a", "b", "c", "d"),
        embedding,
        directions.astype(np.float32),
        48.0,
        NO_STRANGERS,
    )
    paths = [people(1)[0].looks("samples", n, n) for n in (12, 35)]
    total = sum(plain_weighted(embedding, path.saccades) for path in paths)
    logits = 48.0 * directions @ (total / np.linalg.norm(total))
    expected = logits - np.logaddexp.reduce(logits)
    found = identified(made, paths).log_probabilities
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_array_equal(made.cosines(np.zeros(embedding.n_embedded)), np.zeros(4))


@pytest.mark.parametrize(
    ("cosines", "expected"), [([0.5], 0.5), ([0.2, 0.6], 0.5), ([-0.4, 0.1, 0.3], 0.25)]
)
def test_the_best_match_stands_out(cosines, expected):
    assert best_match(np.array(cosines)) == pytest.approx(expected)
