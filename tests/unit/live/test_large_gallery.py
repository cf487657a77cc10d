"""5,000 enrolled viewers: documents and displays stay small, enrolment stays possible."""

import functools
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from gazelive.dashboard.state.posteriors import ROWS
from gazelive.dashboard.state.state import DashboardState
from gazelive.gaze import ModelLoaded, Posterior, encode
from gazelive.identification.enrolment import enrol, forget, merge
from gazelive.identification.model_file import Provenance, TrainedModel, new_model
from gazelive.identification.registry import fit_method
from gazelive.identification.training_data import TrainingSet
from gazelive.live.pipeline.evidence import N_LEADING, Evidence

from ...support.people import people, training_of

N_VIEWERS = 5000
every_method = pytest.mark.parametrize("method", ["gazelive", "fisher-markov-dynamics"])


@functools.cache
def large(method) -> TrainedModel:
    """Return a model of eight people, each of them enrolled many times under other names."""
    training = training_of(people(8), "samples", 6, 16)
    model = new_model(fit_method(method, training), training, None, Provenance(source="made up"))
    state, n = model.identifier.state(), 8
    while n < N_VIEWERS:
        state, n = state.append(n, state.viewers()), 2 * n
    names = tuple(f"viewer {number:05}" for number in range(N_VIEWERS))
    identifier = type(model.identifier).from_state(
        method, names, state.select(np.arange(N_VIEWERS))
    )
    first = [next(training.of_viewer(number % 8)) for number in range(N_VIEWERS)]
    return replace(
        model,
        fitted=replace(model.fitted, identifier=identifier),
        training=TrainingSet(
            "samples", names, tuple(first), np.arange(N_VIEWERS), ("1",) * N_VIEWERS
        ),
    )


@every_method
def test_documents_and_the_dashboard_stay_small(method):
    identifier = large(method).identifier
    evidence = Evidence(identifier)
    (posterior,) = evidence.settle(people(8)[3].looks("samples", 16, 700), 1_000_000)
    assert isinstance(posterior, Posterior)
    assert len(posterior.leading) == N_LEADING
    assert len(encode(posterior)) < 500
    loaded = ModelLoaded(model="m", method=method, viewer_ids=identifier.viewer_ids)
    assert len(encode(loaded)) < 20 * N_VIEWERS
    state = DashboardState()
    state.apply_all([loaded, posterior])
    ranking = state.ranking
    assert ranking is not None
    assert len(ranking.candidates) <= ROWS + 1
    assert ranking.candidates[-1].kind == "others"
    assert len(state.history.points[-1].shown) <= N_LEADING + 1


@every_method
def test_one_more_viewer_is_enrolled_forgotten_and_merged(method):
    model, newcomer = large(method), training_of(people(1, first=20), "samples", 6, 16)
    tracemalloc.start()
    more = enrol(model, newcomer)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 6e8  # a number for each unit and viewer would take 1.2e9
    assert len(more.identifier.viewer_ids) == N_VIEWERS + 1
    assert merge(model, more).identifier.viewer_ids == more.identifier.viewer_ids
    fewer = forget(more, model.identifier.viewer_ids[:-1])
    assert fewer.identifier.viewer_ids == (model.identifier.viewer_ids[-1], "p0020")
