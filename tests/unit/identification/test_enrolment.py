"""Enrolling, forgetting and merging: recognition afterwards, and refused requests."""

import functools
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from gazelive.errors import IncompatibleModelError, ModelError
from gazelive.identification.enrolment import enrol, forget, merge
from gazelive.identification.model_file import (
    Provenance,
    TrainedModel,
    load_model,
    new_model,
    save_model,
)
from gazelive.identification.registry import fit_method
from gazelive.identification.scores import training_units
from gazelive.identification.training_data import training_set
from gazelive.simulation.corpus import CorpusPlan, write_corpus
from gazelive.workflows.gathering import gather
from gazelive.workflows.training import refit

from ...support.people import identified, labelled_looks, people, training_of

METHODS = [
    ("gazelive", "samples"),
    ("gazelive", "fixations"),
    ("fisher-markov-dynamics", "samples"),
    ("fisher-markov", "fixations"),
    ("markov-dynamics", "samples"),
    ("markov", "fixations"),
]
"""Quick ones; the contract suite has laws for all."""
every_method = pytest.mark.parametrize(
    ("method", "kind"), METHODS, ids=[" on ".join(each) for each in METHODS]
)
N_BASE = 5


@functools.cache
def base(method, kind, n_viewers=N_BASE) -> TrainedModel:
    training = training_of(people(n_viewers), kind, 10, 16)
    return new_model(fit_method(method, training), training, None, Provenance(source="made up"))


def looks_of(person, kind):
    return [person.looks(kind, 16, 600 + i) for i in range(12)]


def newcomers(kind, n=1, first=20, n_scanpaths=10):
    return training_of(people(n, first=first), kind, n_scanpaths, 16)


@every_method
class TestEnrol:
    def test_newcomers_are_recognised_and_not_mistaken_for_others(self, method, kind):
        model = enrol(base(method, kind), newcomers(kind, 2))
        everybody = [*people(N_BASE), *people(2, first=20)]
        assert model.identifier.viewer_ids == tuple(p.name for p in everybody)
        best = [identified(model.identifier, looks_of(p, kind)).best for p in everybody]
        assert best[-2:] == [5, 6]
        assert np.mean([found == number for number, found in enumerate(best)]) >= 6 / 7

    def test_many_newcomers_are_recognised_almost_as_after_a_refit(self, method, kind):
        n_base, n_new = 12, 8
        training = training_of(people(n_base), kind, 12, 16)
        model = new_model(fit_method(method, training), training, None, Provenance(source=""))
        enrolled = enrol(model, newcomers(kind, n_new, first=n_base, n_scanpaths=12))
        right = [
            np.array(
                [
                    identified(made.identifier, looks_of(person, kind)).best == number
                    for number, person in enumerate(people(n_base + n_new))
                ]
            )
            for made in (enrolled, refit(enrolled).model)
        ]
        for group in (slice(0, n_base), slice(n_base, None)):
            assert right[0][group].mean() >= right[1][group].mean() - 0.2

    def test_scanpaths_are_kept_for_a_refit(self, method, kind):
        model = enrol(base(method, kind), newcomers(kind))
        assert len(model.training) == (N_BASE + 1) * 10
        assert model.training.viewers[-10:].tolist() == [N_BASE] * 10
        assert model.provenance.n_scanpaths == len(model.training)
        again = refit(model).model
        assert again.identifier.viewer_ids == model.identifier.viewer_ids
        assert again.base_id != model.base_id
        assert again.provenance.changes == ("enrolled 1 viewer", "refitted")
        found = identified(again.identifier, looks_of(people(1, first=20)[0], kind))
        assert found.best == N_BASE

    def test_enrolling_beside_a_single_viewer(self, method, kind):
        model = enrol(base(method, kind, 1), newcomers(kind))
        for number, person in enumerate([people(1)[0], people(1, first=20)[0]]):
            estimate = identified(model.identifier, looks_of(person, kind))
            assert np.isfinite(estimate.log_probabilities).all()
            if (method, kind) != ("gazelive", "samples"):
                # whose densities and whitening know one person only: nothing to go by yet
                assert estimate.best == number
        again = refit(model).model
        for number, person in enumerate([people(1)[0], people(1, first=20)[0]]):
            assert identified(again.identifier, looks_of(person, kind)).best == number

    def test_enrolling_with_one_scanpath(self, method, kind):
        model = enrol(base(method, kind), newcomers(kind, n_scanpaths=1))
        estimate = identified(model.identifier, looks_of(people(1, first=20)[0], kind))
        assert np.isfinite(estimate.log_probabilities).all()

    def test_an_enrolled_viewer_is_not_listed_as_left_out(self, method, kind):
        model = base(method, kind)
        told = ("viewer p0020: asked for", "viewer somebody: asked for")
        provenance = msgspec.structs.replace(model.provenance, left_out=told)
        changed = enrol(replace(model, provenance=provenance), newcomers(kind))
        assert changed.provenance.left_out == told[1:]

    def test_newcomers_and_more_sessions_together(self, method, kind):
        before = base(method, kind)
        more = training_of(people(2, first=3), kind, 4, 16, 3000, sessions=("2", "3"))
        model = enrol(before, newcomers(kind, 2).append(more))
        assert model.provenance.changes == ("enrolled 2 viewers, 4 more sessions of 2 viewers",)
        assert model.provenance.sessions == ("1", "2", "3")
        assert model.identifier.viewer_ids[:N_BASE] == before.identifier.viewer_ids
        assert np.bincount(model.training.viewers).tolist() == [10, 10, 10, 18, 18, 10, 10]
        best = [identified(model.identifier, looks_of(p, kind)).best for p in people(N_BASE)]
        assert best == list(range(N_BASE))
        again = refit(model).model
        assert again.identifier.viewer_ids == model.identifier.viewer_ids

    def test_a_saved_model_grows_as_one_in_memory(self, method, kind, tmp_path):
        more = training_of(people(1, first=3), kind, 4, 16, 3000, sessions=("2",))
        save_model(base(method, kind), tmp_path / "a.model")
        first, second = (
            enrol(model, more).identifier.state().viewers()
            for model in (base(method, kind), load_model(tmp_path / "a.model"))
        )
        for name, array in first.items():
            np.testing.assert_allclose(second[name], array, 1e-9, 1e-9, err_msg=name)

    @pytest.mark.parametrize(("session", "called"), [("1", "session 1"), ("", "without a name")])
    def test_a_session_that_is_there_is_refused(self, method, kind, session, called):
        again = training_of(people(1, first=3), kind, 2, 16, sessions=(session,))
        model = base(method, kind)
        if not session:
            model = enrol(model, again)
        with pytest.raises(ModelError, match=rf"p0003 \(.*{called}\) is enrolled already"):
            enrol(model, again)

    def test_another_kind_of_data_is_refused(self, method, kind):
        other = "fixations" if kind == "samples" else "samples"
        with pytest.raises(IncompatibleModelError, match=f"{kind}, and these are {other}"):
            enrol(base(method, kind), newcomers(other))


@pytest.fixture(scope="module")
def three_sessions(tmp_path_factory):
    """Return the sessions of simulated people, who differ from day to day."""
    folder = tmp_path_factory.mktemp("simulated") / "corpus"
    plan = CorpusPlan(
        n_viewers=8, n_images=4, n_pool=4, n_sessions=3, seconds=4.0, sampling_rate_hz=250.0
    )
    write_corpus(plan, folder)
    labelled = [(p.viewer, p.session, path) for p in gather(folder).probes for path in p.scanpaths]
    whole = training_set("samples", labelled)
    return [whole.subset(np.array(whole.sessions) == session) for session in "123"]


@pytest.mark.parametrize(
    "method", ["gazelive", "fisher-markov-dynamics", "markov-dynamics", "cem-b-dynamics"]
)
def test_another_session_improves_identification(method, three_sessions):
    first, second, third = three_sessions
    model = new_model(fit_method(method, first), first, None, Provenance(source="simulated"))
    means = []
    for known in (model, enrol(model, second)):
        right = [
            identified(known.identifier, [path]).log_probabilities[viewer]
            for viewer in range(third.n_viewers)
            for path in third.of_viewer(viewer)
        ]
        means.append(np.mean(right))
    assert means[1] > means[0]


@every_method
class TestForget:
    def test_down_to_the_last(self, method, kind):
        model = forget(base(method, kind), ["p0000", "p0001", "p0002", "p0003"])
        estimate = identified(model.identifier, looks_of(people(1)[0], kind))
        np.testing.assert_array_equal(estimate.log_probabilities, [0.0])
        with pytest.raises(ModelError, match=r"no viewer .*left"):
            forget(model, ["p0004"])

    def test_forgotten_and_enrolled_again_they_are_recognised(self, method, kind):
        again = enrol(forget(base(method, kind), ["p0002"]), newcomers(kind, first=2))
        assert again.identifier.viewer_ids[-1] == "p0002"
        assert identified(again.identifier, looks_of(people(3)[2], kind)).best == 4

    def test_a_name_that_is_not_there_is_refused(self, method, kind):
        with pytest.raises(ModelError, match="stranger is not in"):
            forget(base(method, kind), ["stranger", "p0001"])


@every_method
class TestMerge:
    def test_the_viewers_of_both(self, method, kind):
        first = enrol(base(method, kind), newcomers(kind, first=20))
        second = enrol(forget(base(method, kind), ["p0000"]), newcomers(kind, first=30))
        merged = merge(first, second)
        assert merged.identifier.viewer_ids == (*first.identifier.viewer_ids, "p0030")
        person = people(1, first=30)[0]
        assert identified(merged.identifier, looks_of(person, kind)).best == 6
        assert len(merged.training) == 70
        assert merged.training.viewers[-10:].tolist() == [6] * 10
        assert refit(merged).model.identifier.viewer_ids == merged.identifier.viewer_ids
        machine = getattr(merged.identifier, "machine", None)
        if machine is not None:
            assert machine.logits.weights.shape[1] == 7
            assert np.bincount(machine.viewers).tolist() == [10] * 7

    def test_another_base_is_refused(self, method, kind):
        with pytest.raises(IncompatibleModelError, match="different bases"):
            merge(base(method, kind), base(method, kind, 4))


@every_method
def test_a_refit_is_the_training_again_to_the_bit(method, kind, tmp_path):
    model = base(method, kind)
    save_model(model, tmp_path / "a.model")
    again = refit(load_model(tmp_path / "a.model")).model
    first, second = model.identifier.state(), again.identifier.state()
    assert set(first.arrays) == set(second.arrays)
    for name, array in first.arrays.items():
        np.testing.assert_array_equal(second.arrays[name], array, err_msg=name)
    assert again.base_id == model.base_id
    assert again.fitted.accuracy == model.fitted.accuracy
    paths = looks_of(people(2)[1], kind)
    np.testing.assert_array_equal(
        identified(again.identifier, paths).log_probabilities,
        identified(model.identifier, paths).log_probabilities,
    )


def test_long_intervals_are_judged_as_wholes_neither_in_training_nor_when_enrolled():
    """The number of saccades describes an interval, not each of its windows."""

    def looks(persons, n_saccades):
        rng = np.random.default_rng(0)
        labelled = labelled_looks(persons, "fixations", 8, n_saccades)
        return training_set(
            "fixations",
            [(v, s, replace(path, seconds=rng.normal(3, 0.1))) for v, s, path in labelled],
        )

    training = looks(people(5), 16)
    model = new_model(fit_method("gazelive", training), training, None, Provenance(source=""))
    identifier = model.identifier
    assert identifier.closing is not None
    machine = identifier.machine
    n_plain = identifier.representation.n_dimensions
    for n_saccades, is_judged in ((16, True), (45, False)):
        added = looks(people(1, first=20), n_saccades)
        after = enrol(model, added).identifier.machine
        units = training_units(added, identifier.representation)
        closing = np.zeros((len(units.scores), 4))
        if is_judged:
            closing = np.array(
                [identifier.closing.scores(n_saccades, path.seconds) for path in added.scanpaths]
            )
        expected = machine.whitening(np.concatenate((units.scores, closing), axis=1))
        assert machine.whitening.weights.shape[0] == n_plain + 4
        np.testing.assert_allclose(after.scores[len(machine.scores) :], expected, rtol=1e-5)
