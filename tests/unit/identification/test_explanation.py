"""Explanations of posteriors: contributions of features add up to the log odds."""

import numpy as np
import pytest
from scipy import special

from gazelive.features.scanpath import N_COLUMNS, Scanpath
from gazelive.identification import explanation
from gazelive.identification.explanation import N_SHOWN, THE_REST, explain_probe
from gazelive.identification.registry import fit_method

from ...support.people import identified, people, training_of


@pytest.fixture(scope="module", params=["gazelive", "fisher-markov", "markov"])
def linear(request):
    return fit_method(request.param, training_of(people(4), "fixations", 10, 14)).identifier


@pytest.fixture(scope="module")
def embedding():
    return fit_method("gazelive", training_of(people(4), "samples", 8, 20)).identifier


def looks(kind, n=6):
    return [people(2)[1].looks(kind, 14, 70 + i) for i in range(n)]


def log_odds(identifier, paths, leader):
    logs = identified(identifier, paths).log_probabilities
    others = np.delete(logs, leader)
    return logs[leader] - others @ special.softmax(others)


@pytest.mark.parametrize("leader", [None, 0, 2])
def test_the_features_add_up_to_the_leaders_odds(linear, monkeypatch, leader):
    monkeypatch.setattr(explanation, "N_SHOWN", 1000)
    paths = looks("fixations")
    empty = Scanpath(np.empty((0, N_COLUMNS), np.float32), np.empty((0, 3)), 3.0)
    parts = explain_probe(linear, [*paths, empty], leader)
    best = identified(linear, paths).best if leader is None else leader
    total = sum(evidence for _, evidence in parts)
    assert total == pytest.approx(log_odds(linear, paths, best), abs=1e-6)
    assert len({feature for feature, _ in parts}) == len(parts)


def test_correlated_units_of_recordings_add_up(monkeypatch):
    monkeypatch.setattr(explanation, "N_SHOWN", 1000)
    training = training_of(people(4), "samples", 8, 20)
    identifier = fit_method("fisher-markov-dynamics", training).identifier
    paths = looks("samples")
    parts = explain_probe(identifier, paths)
    total = sum(evidence for _, evidence in parts)
    best = identified(identifier, paths).best
    assert total == pytest.approx(log_odds(identifier, paths, best), abs=1e-6)


def test_the_strongest_come_first(linear):
    parts = explain_probe(linear, looks("fixations"))
    sizes = [abs(evidence) for _, evidence in parts[:N_SHOWN]]
    assert sizes == sorted(sizes, reverse=True)
    assert 0 < len(parts) <= N_SHOWN + 1


def test_embeddings_add_up_with_the_rest_summed(embedding):
    paths = looks("samples")
    parts = explain_probe(embedding, paths)
    assert len(parts) == N_SHOWN + 1
    assert parts[-1][0] == THE_REST
    total = sum(evidence for _, evidence in parts)
    best = identified(embedding, paths).best
    assert total == pytest.approx(log_odds(embedding, paths, best), abs=1e-3)
    assert any(feature.startswith("fixation before: ") for feature, _ in parts)


@pytest.mark.parametrize("kind", ["samples", "fixations"])
def test_parameters_of_scenewalk_add_up(kind):
    identifier = fit_method("fisher-scenewalk", training_of(people(3), kind, 4, 8)).identifier
    paths = looks(kind, 3)
    parts = explain_probe(identifier, paths)
    best = identified(identifier, paths).best
    total = sum(evidence for _, evidence in parts)
    assert total == pytest.approx(log_odds(identifier, paths, best), abs=1e-6)
    assert "attention rate" in dict(parts)
    assert explain_probe(identifier, []) == []


def test_nothing_was_seen(linear, embedding):
    assert all(evidence == 0 for _, evidence in explain_probe(linear, []))
    assert explain_probe(embedding, []) == []


def test_a_single_viewer():
    identifier = fit_method("markov", training_of(people(1), "fixations", 8, 14)).identifier
    assert all(
        np.isfinite(evidence) for _, evidence in explain_probe(identifier, looks("fixations"))
    )
