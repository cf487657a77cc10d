"""The Fisher SVM on Gaussian-process densities; what all do is in the contract suite."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from gazelive.features.scanpath import Column
from gazelive.identification import Options, fit_method
from gazelive.models.gp_density_kernels import bin_number

from ....support.people import people, training_of

METHODS = ("fisher-abdelwahab", "fisher-abdelwahab-dynamics")
TRAINING = training_of(people(5), "samples", 10, 15)


@pytest.fixture(scope="module", params=METHODS)
def identifier(request):
    return fit_method(request.param, TRAINING).identifier


@pytest.fixture(scope="module")
def rows():
    rows = people(9)[7].looks("samples", 40, 3).saccades.copy()
    hidden = np.random.default_rng(4).random(rows.shape) < 0.2
    hidden[:, : Column.DX_DEG] = False
    rows[hidden] = np.nan
    return rows


def log_likelihood(scoring, rows, weights, of_shares):
    """Return ln p of saccades under p(x) ∝ base(x)·exp(Φw), but for what w does not change."""
    features, total = scoring.features, 0.0
    log_shares = special.log_softmax(np.log(scoring.shares) + of_shares)
    values = features.values(rows)
    for i, u in enumerate(features.types(rows)):
        if u < 0:
            continue
        total += log_shares[u]
        for f, x in enumerate(values[i]):
            if np.isfinite(x):
                deviation = scoring.directions[u, f] @ weights[u, f]
                total += deviation[bin_number(x, scoring.bins[u, f])]
    return total


def test_scores_are_gradients_of_the_log_likelihood(identifier, rows):
    scoring = identifier.scoring
    n_types, n_features, _, n_directions = scoring.directions.shape
    found = scoring.row_scores(rows).sum(axis=0)
    shape, step = (n_types, n_features, n_directions), 1e-4

    def slope(at):
        packed = np.zeros(len(found))
        packed[at] = step
        of_values = packed[:-n_types].reshape(shape)
        of_shares = packed[-n_types:] / np.sqrt(scoring.shares)
        up = log_likelihood(scoring, rows, of_values, of_shares)
        down = log_likelihood(scoring, rows, -of_values, -of_shares)
        return (up - down) / (2 * step)

    for at in range(0, len(found), 7):
        assert_allclose(slope(at), found[at], rtol=1e-5, atol=1e-6)
    for at in range(len(found) - n_types, len(found)):
        assert_allclose(slope(at), found[at], rtol=1e-5, atol=1e-6)


def test_scores_of_everybody_are_0_on_average(identifier):
    rows = np.concatenate([path.saccades for path in TRAINING.scanpaths])
    n_types = len(identifier.scoring.shares)
    scores = identifier.scoring.row_scores(rows)[:, :-n_types]
    errors = scores.std(axis=0) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0)) <= 4 * errors + 1e-12).all()


def test_the_table_gives_what_the_machines_decide(identifier, rows):
    machine, scoring = identifier.machine, identifier.scoring
    scores = scoring.row_scores(rows).sum(axis=0)
    logits = machine.logits.after(machine.whitening)
    of_rows = sum(part for _, part in identifier.weights[0].contributions(rows))
    assert_allclose(of_rows + identifier.constant, logits(scores), atol=1e-9)


def test_a_search_chooses_the_cost_too():
    found = fit_method("fisher-abdelwahab", TRAINING, Options(search=True)).hyperparameters
    assert found["cost"] in (0.003, 0.01, 0.03, 0.1)
    assert "deviation of amplitude" in found
