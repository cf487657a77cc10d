"""Laws that every identification method keeps: each line of the registry, and the documented one.

A new method joins with its line in the registry.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special

from gazelive.errors import IncompatibleModelError, ModelError, ModelFormatError
from gazelive.evaluation.tasks import of_size
from gazelive.features.scanpath import LATE_COLUMN, N_COLUMNS, Column, Scanpath
from gazelive.identification import (
    Arrays,
    Estimate,
    Identifier,
    Options,
    Probe,
    Provenance,
    SourceKind,
    Terms,
    TrainedModel,
    TrainingSet,
    enrol,
    explain_probe,
    fit_method,
    forget,
    load_model,
    merge,
    new_model,
    registry,
    save_model,
    training_set,
)

from ..support.documented_method import documented_method
from ..support.people import identified, labelled_looks, people, training_of


@dataclass(frozen=True)
class Case:
    """A method, a kind of data, and how much of it is enough for these tests."""

    method: str
    kind: SourceKind
    n_viewers: int = 5
    n_scanpaths: int = 8
    n_saccades: int = 14
    learns_much: bool = True
    """True if this little data suffices to recognise viewers, and for hundreds of them."""
    recognised: float = 0.9
    accepted: float = 0.75
    """Least share of the viewers that are recognised, and not taken for strangers."""

    def __str__(self) -> str:
        return f"{self.method} on {self.kind}"


DOCUMENTED = documented_method()
METHODS = [*registry.METHODS, DOCUMENTED]
SMALL: dict[str, dict[str, Any]] = {
    "scenewalk": dict(n_viewers=2, n_scanpaths=3, n_saccades=7, learns_much=False),
    "fisher-scenewalk": dict(n_viewers=2, n_scanpaths=3, n_saccades=7, learns_much=False),
    DOCUMENTED.name: dict(learns_much=False),
    # turns tell the made-up people of tables apart, and these methods do not look at them
    "cem-b on fixations": dict(recognised=0.75, accepted=0.5),
    "holland-2011 on fixations": dict(accepted=0.0),
    "cem-b-literal on fixations": dict(learns_much=False),
    "holland-2011-literal on fixations": dict(learns_much=False),
    # without dynamics, sixteen people are too few to know how near a stranger can come
    "holland-2011 on samples": dict(accepted=0.5),
    "cem-b-literal on samples": dict(accepted=0.4),
    "holland-2011-literal on samples": dict(accepted=0.0),
}
CASES = [
    Case(method.name, kind, **SMALL.get(method.name, SMALL.get(f"{method.name} on {kind}", {})))
    for method in METHODS
    for kind in method.sources
]
RECOGNISING = [case for case in CASES if case.learns_much]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_recognising_case = pytest.mark.parametrize("case", RECOGNISING, ids=str)


@pytest.fixture(autouse=True, scope="module")
def _registry_with_the_documented_method() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "METHODS", METHODS)
        yield


@functools.cache
def fitted(case: Case, n_viewers: int | None = None) -> Any:
    persons = people(n_viewers or case.n_viewers)
    training = training_of(persons, case.kind, case.n_scanpaths, case.n_saccades)
    return fit_method(case.method, training), training


def identifier_of(case: Case) -> Identifier:
    made, _ = fitted(case)
    return made.identifier


def looks(case: Case, n_saccades: int, seed: int, holes: float = 0.0) -> Scanpath:
    """Return a scanpath with missing values."""
    path = people(9)[seed % 9].looks(case.kind, n_saccades, 10_000 + seed, f"image{seed % 4}.jpg")
    rows = path.saccades.copy()
    rng = np.random.default_rng(seed)
    hidden = rng.random(rows.shape) < holes
    hidden[:, [Column.TURN, Column.ORDINAL]] = False
    rows[hidden] = np.nan
    rows[rng.random(len(rows)) < holes, Column.TURN] = -1
    return replace(path, saccades=rows)


def feed(probe: Probe, path: Scanpath, n_saccades: int | None = None, ask: int = 0) -> None:
    """Open an interval and hand over its beginning as it comes live; `ask` now and then."""
    probe.begin(path.image)
    for number, row in enumerate(path.saccades[:n_saccades]):
        if number:
            probe.complete_saccade(path.saccades[number - 1])
        probe.add_fixation(*path.fixations[number].tolist())
        known = row.copy()
        known[LATE_COLUMN] = np.nan
        probe.add_saccade(known)
        if ask and number % ask == 0:
            probe.estimate(0.5)


def assert_sound(estimate: Estimate, n_viewers: int) -> None:
    assert estimate.log_probabilities.shape == (n_viewers,)
    assert np.isfinite(estimate.log_probabilities).all()
    assert np.exp(estimate.log_probabilities).sum() == pytest.approx(1, abs=1e-9)
    assert (estimate.log_unknown is None) == (estimate.accepted is None)
    if estimate.log_unknown is not None:
        assert np.isfinite(estimate.log_unknown)
        assert estimate.log_unknown <= 0
    assert estimate.more_s is None or (estimate.more_s >= 0 and not estimate.accepted)
    assert 0 <= estimate.best < n_viewers


def assert_same(a: Estimate, b: Estimate) -> None:
    """To the bit."""
    np.testing.assert_array_equal(a.log_probabilities, b.log_probabilities)
    assert (a.log_unknown, a.accepted, a.more_s) == (b.log_unknown, b.accepted, b.more_s)
    assert (a.n_saccades, a.n_images, a.seconds, a.settled) == (
        b.n_saccades,
        b.n_images,
        b.seconds,
        b.settled,
    )


seeds = st.integers(0, 2**31)
lengths = st.lists(st.integers(0, 75), max_size=4)
few = settings(max_examples=15)


@every_case
class TestEvidence:
    def test_it_fulfils_the_protocols(self, case: Case) -> None:
        identifier = identifier_of(case)
        assert isinstance(identifier, Identifier)
        assert isinstance(identifier.probe(), Probe)
        assert identifier.method == case.method
        assert identifier.viewer_ids == tuple(p.name for p in people(case.n_viewers))

    def test_nothing_seen_leaves_the_prior(self, case: Case) -> None:
        n = case.n_viewers
        estimate = identifier_of(case).probe().estimate()
        np.testing.assert_allclose(estimate.log_probabilities, -np.log(n))
        if estimate.log_unknown is not None:
            assert np.exp(estimate.log_unknown) == pytest.approx(Terms().stranger_prior)
        assert not estimate.accepted
        assert (estimate.n_saccades, estimate.n_images, estimate.settled) == (0, 0, True)

    @few
    @given(seed=seeds, n_saccades=lengths, holes=st.sampled_from([0.0, 0.3, 1.0]))
    def test_probabilities_are_finite_and_sum_to_one(
        self, case: Case, seed: int, n_saccades: list[int], holes: float
    ) -> None:
        probe = identifier_of(case).probe()
        for number, n in enumerate(n_saccades):
            path = looks(case, n, seed + number, holes)
            feed(probe, path)
            assert_sound(probe.estimate(1.0), case.n_viewers)
            probe.settle(path)
            estimate = probe.estimate()
            assert_sound(estimate, case.n_viewers)
            assert estimate.n_images == number + 1
            assert estimate.settled
        assert probe.estimate().n_saccades == sum(n_saccades)

    @few
    @given(seed=seeds, n_saccades=lengths)
    def test_the_prior_enters_once(self, case: Case, seed: int, n_saccades: list[int]) -> None:
        identifier = identifier_of(case)
        rng = np.random.default_rng(seed)
        log_prior = np.log(rng.dirichlet(np.ones(case.n_viewers)) + 1e-6)
        paths = [looks(case, n, seed + i) for i, n in enumerate(n_saccades)]
        even = identified(identifier, paths).log_probabilities
        expected = even + log_prior
        expected -= np.logaddexp.reduce(expected)
        found = identified(identifier, paths, log_prior).log_probabilities
        np.testing.assert_allclose(found, expected, atol=1e-8, rtol=1e-9)

    @few
    @given(seed=seeds, n_saccades=lengths, order=st.randoms(use_true_random=False))
    def test_the_order_of_intervals_does_not_matter(
        self, case: Case, seed: int, n_saccades: list[int], order: Any
    ) -> None:
        paths = [looks(case, n, seed + i) for i, n in enumerate(n_saccades)]
        shuffled = order.sample(paths, len(paths))
        identifier = identifier_of(case)
        first, second = identified(identifier, paths), identified(identifier, shuffled)
        np.testing.assert_allclose(
            first.log_probabilities, second.log_probabilities, atol=1e-4, rtol=1e-6
        )
        assert first.log_unknown == pytest.approx(second.log_unknown, abs=1e-3)
        assert first.n_saccades == second.n_saccades

    @few
    @given(seed=seeds, n=st.integers(1, 60), seen=st.integers(0, 60), ask=st.integers(1, 9))
    def test_number_of_queries_does_not_change_the_posterior(
        self, case: Case, seed: int, n: int, seen: int, ask: int
    ) -> None:
        identifier = identifier_of(case)
        before, path = looks(case, 12, seed), looks(case, n, seed + 1)
        patient, curious = identifier.probe(), identifier.probe()
        for probe, often in ((patient, 0), (curious, ask)):
            feed(probe, before, ask=often)
            probe.settle(before)
            if often:
                probe.estimate()
            feed(probe, path, seen, ask=often)
        assert_same(patient.estimate(2.0), curious.estimate(2.0))
        assert not patient.estimate().settled
        assert patient.estimate().n_saccades == 12 + min(n, seen)

    @few
    @given(seed=seeds, n=st.integers(0, 60), seen=st.integers(0, 60))
    def test_the_settled_interval_replaces_the_open_one(
        self, case: Case, seed: int, n: int, seen: int
    ) -> None:
        identifier = identifier_of(case)
        path, other = looks(case, n, seed), looks(case, 40, seed + 1)
        live = identifier.probe()
        feed(live, other, seen)  # what was found live may be quite another thing
        live.settle(path)
        assert_same(live.estimate(), identified(identifier, [path]))

    @few
    @given(seed=seeds, n=st.integers(0, 60), seen=st.integers(0, 60))
    def test_an_abandoned_interval_leaves_nothing(
        self, case: Case, seed: int, n: int, seen: int
    ) -> None:
        identifier = identifier_of(case)
        before, path, other = (looks(case, m, seed + i) for i, m in enumerate((12, n, 40)))
        live = identifier.probe()
        feed(live, before)
        live.settle(before)
        feed(live, other, seen)
        live.abandon()
        live.abandon()
        assert_same(live.estimate(), identified(identifier, [before]))
        feed(live, path)
        live.settle(path)
        assert_same(live.estimate(), identified(identifier, [before, path]))

    def test_an_unsettled_interval_keeps_its_evidence(self, case: Case) -> None:
        probe = identifier_of(case).probe()
        feed(probe, looks(case, 20, 3))
        before = probe.estimate()
        probe.begin("next.jpg")
        after = probe.estimate()
        np.testing.assert_allclose(after.log_probabilities, before.log_probabilities, atol=1e-5)
        assert (after.n_saccades, after.n_images) == (before.n_saccades, before.n_images + 1)

    @pytest.mark.parametrize("what", ["no saccade", "all masked", "untyped"])
    def test_empty_evidence_changes_nothing(self, case: Case, what: str) -> None:
        identifier = identifier_of(case)
        path = looks(case, 20, 5)
        rows = np.full((0 if what == "no saccade" else 3, N_COLUMNS), np.nan, np.float32)
        if what == "untyped":
            rows[:, Column.TURN], rows[:, Column.ORDINAL] = -1, np.arange(3)
            if case.kind == "samples":
                rows[:, [Column.DX_DEG, Column.DY_DEG, Column.AMPLITUDE_DEG]] = 0
        empty = Scanpath(rows, np.empty((0, 3)), 2.0, "empty.jpg", path.sampling_rate_hz)
        probe = identifier.probe()
        for settled in (path, empty, path, empty):
            probe.begin(settled.image)
            for row in settled.saccades:
                probe.add_saccade(row)
            before = probe.estimate()
            assert_sound(before, case.n_viewers)
            probe.settle(settled)
            after = probe.estimate()
            assert_sound(after, case.n_viewers)
            if settled is empty:
                np.testing.assert_array_equal(before.log_probabilities, after.log_probabilities)
                assert before.log_unknown == after.log_unknown
        expected = identified(identifier, [path, path])
        np.testing.assert_array_equal(after.log_probabilities, expected.log_probabilities)
        assert after.log_unknown == expected.log_unknown
        assert after.n_images == 4

    @pytest.mark.parametrize("wrong", ["too short", "too long", "infinite", "not a number"])
    def test_a_prior_that_is_none_is_refused(self, case: Case, wrong: str) -> None:
        prior = np.zeros(case.n_viewers + {"too short": -1, "too long": 1}.get(wrong, 0))
        prior[0] = {"infinite": -np.inf, "not a number": np.nan}.get(wrong, 0)
        with pytest.raises(ModelError, match="prior"):
            identifier_of(case).probe(prior)


def model_of(case: Case, n_viewers: int | None = None) -> TrainedModel:
    made, training = fitted(case, n_viewers)
    return new_model(made, training, None, Provenance(source="made up"))


def newcomers(case: Case, n: int = 1, first: int = 20) -> TrainingSet:
    return training_of(people(n, first=first), case.kind, case.n_scanpaths, case.n_saccades)


def another_session(case: Case) -> TrainingSet:
    """Return a second session of the first viewer."""
    n_scanpaths, n_saccades = case.n_scanpaths, case.n_saccades
    return training_of(people(1), case.kind, n_scanpaths, n_saccades, 5000, sessions=("2",))


def assert_same_arrays(a: Arrays, b: Arrays) -> None:
    """To the bit."""
    assert list(a) == list(b)
    for name, array in a.items():
        np.testing.assert_array_equal(b[name], array, err_msg=name)


def assert_same_state(a: Identifier, b: Identifier) -> None:
    """To the bit."""
    first, second = a.state(), b.state()
    assert a.viewer_ids == b.viewer_ids
    assert first.content == second.content
    assert_same_arrays(first.arrays, second.arrays)


@every_case
class TestSearch:
    def test_a_searched_model_is_sound_and_says_what_was_chosen(
        self, case: Case, tmp_path: Path
    ) -> None:
        default, training = fitted(case)
        made = fit_method(case.method, training, Options(search=True))
        assert set(made.hyperparameters) == set(default.hyperparameters)
        assert np.isfinite([*made.hyperparameters.values()]).all()
        path = tmp_path / "a.model"
        save_model(new_model(made, training, None, Provenance(source="made up")), path)
        again = load_model(path).identifier
        assert_same_state(made.identifier, again)
        assert_sound(identified(again, [looks(case, 12, 1)]), case.n_viewers)
        scanpaths = [looks(case, 12, seed) for seed in range(4)]
        first, second = (one.viewer_arrays(scanpaths) for one in (made.identifier, again))
        for name, array in first.items():
            np.testing.assert_allclose(second[name], array, 1e-5, 1e-9, err_msg=name)

    def test_with_one_viewer_a_search_changes_nothing(self, case: Case) -> None:
        training = training_of(people(1), case.kind, case.n_scanpaths, case.n_saccades)
        chosen = [
            fit_method(case.method, training, Options(search=search)).hyperparameters
            for search in (True, False)
        ]
        assert chosen[0] == chosen[1]


@every_case
class TestState:
    def test_a_study_times_it_in_galleries_of_any_size(self, case: Case) -> None:
        for n_viewers in (case.n_viewers - 1, 3 * case.n_viewers + 1):
            sized = of_size(identifier_of(case), n_viewers)
            assert_sound(identified(sized, [looks(case, 6, 0)]), n_viewers)

    def test_saved_and_loaded_it_scores_the_same_to_the_bit(
        self, case: Case, tmp_path: Path
    ) -> None:
        made, _ = fitted(case)
        path = tmp_path / "a.model"
        save_model(model_of(case), path)
        again = load_model(path).identifier
        assert_same_state(made.identifier, again)
        first, second = made.identifier.probe(), again.probe()
        for seed, n in enumerate((12, 35, 0, 70)):
            scanpath = looks(case, n, seed, holes=0.1)
            for probe in (first, second):
                feed(probe, scanpath)
            assert_same(first.estimate(1.0), second.estimate(1.0))
            for probe in (first, second):
                probe.settle(scanpath)
            assert_same(first.estimate(), second.estimate())

    def test_saving_twice_writes_the_same_bytes(self, case: Case, tmp_path: Path) -> None:
        first, second = tmp_path / "a.model", tmp_path / "b.model"
        save_model(model_of(case), first)
        save_model(load_model(first), second)
        assert first.read_bytes() == second.read_bytes()

    def test_every_array_is_of_the_viewers_or_of_the_base(self, case: Case) -> None:
        state = identifier_of(case).state()
        assert state.viewers()
        for name, axis in state.viewer_axis.items():
            assert state.arrays[name].shape[axis] == case.n_viewers
        assert not set(state.base()) & set(state.viewers())

    def test_the_state_of_another_class_is_refused(self, case: Case) -> None:
        state = identifier_of(case).state()
        if "kind" in state.content:
            other = replace(state, content={**state.content, "kind": "oracle"})
            with pytest.raises(ModelFormatError, match="oracle"):
                type(identifier_of(case)).from_state("a", identifier_of(case).viewer_ids, other)


@every_case
class TestViewersComeAndGo:
    def test_enrolling_changes_nothing_of_the_others(self, case: Case) -> None:
        before = model_of(case)
        after = enrol(before, newcomers(case))
        assert after.identifier.viewer_ids == (*before.identifier.viewer_ids, "p0020")
        assert after.base_id == before.base_id
        assert after.fitted.accuracy is None
        assert len(after.training) == len(before.training) + case.n_scanpaths
        old, new = before.identifier.state(), after.identifier.state()
        assert new.content == old.content
        for name, array in old.base().items():
            np.testing.assert_array_equal(new.arrays[name], array, err_msg=name)
        for name, axis in old.viewer_axis.items():
            kept = np.take(new.arrays[name], range(case.n_viewers), axis)
            np.testing.assert_array_equal(kept, old.arrays[name], err_msg=name)
        assert_sound(identified(after.identifier, [looks(case, 20, 1)]), case.n_viewers + 1)

    def test_enrolling_one_by_one_is_enrolling_together(self, case: Case) -> None:
        together = enrol(model_of(case), newcomers(case, 2))
        one_by_one = enrol(enrol(model_of(case), newcomers(case)), newcomers(case, first=21))
        assert_same_state(together.identifier, one_by_one.identifier)

    @pytest.mark.parametrize("n_viewers", [1, None])
    def test_another_session_is_enrolling_anew_with_all(
        self, case: Case, n_viewers: int | None
    ) -> None:
        before = model_of(case, n_viewers)
        n = len(before.identifier.viewer_ids)
        name = before.identifier.viewer_ids[0]
        more = another_session(case)
        after = enrol(before, more)
        assert after.identifier.viewer_ids == before.identifier.viewer_ids
        assert after.base_id == before.base_id
        assert len(after.training) == len(before.training) + case.n_scanpaths
        assert after.provenance.changes == ("enrolled 1 more session of 1 viewer",)
        others = np.arange(1, n)
        old, new = before.identifier.state(), after.identifier.state()
        assert new.content == old.content
        assert_same_arrays(old.base(), new.base())
        assert_same_arrays(old.select(others).viewers(), new.select(others).viewers())
        changed = [k for k, a in old.viewers().items() if not np.array_equal(new.arrays[k], a)]
        assert changed
        assert_sound(identified(after.identifier, [looks(case, 20, 1)]), n)
        if n > 1:
            both = before.training.select(np.zeros(1, np.int64)).append(more)
            anew = enrol(forget(before, [name]), both).identifier
            first = anew.state().select(np.roll(np.arange(n), 1))
            ids = before.identifier.viewer_ids
            assert_same_viewers(type(anew).from_state(case.method, ids, first), after.identifier)

    def test_a_session_that_is_enrolled_is_refused(self, case: Case) -> None:
        once = enrol(model_of(case), another_session(case))
        with pytest.raises(ModelError, match=r"p0000 \(session 2\) is enrolled already"):
            enrol(once, another_session(case))

    def test_merging_keeps_the_sessions_of_the_first(self, case: Case) -> None:
        model = model_of(case)
        more = enrol(model, another_session(case))
        for first, second in ((model, more), (more, model)):
            merged = merge(first, second)
            assert_same_state(merged.identifier, first.identifier)
            assert len(merged.training) == len(first.training)

    def test_enrol_then_forget_restores_the_model(self, case: Case) -> None:
        before = model_of(case)
        after = forget(enrol(before, newcomers(case)), ["p0020"])
        assert_same_state(before.identifier, after.identifier)
        assert len(after.training) == len(before.training)

    def test_a_forgotten_viewer_leaves_no_byte(self, case: Case, tmp_path: Path) -> None:
        labelled = labelled_looks(people(case.n_viewers), case.kind, 3, case.n_saccades)
        seen = labelled_looks(people(1, first=9), case.kind, 3, case.n_saccades)
        labelled += [("Zoë Quick", "only hers", path) for _, _, path in seen]
        training = training_set(case.kind, labelled)
        made = fit_method(case.method, training)
        path = tmp_path / "a.model"
        save_model(new_model(made, training, None, Provenance(source="made up")), path)
        state = made.identifier.state()
        zoe = made.identifier.viewer_ids.index("Zoë Quick")
        marks = ["Zoë Quick".encode(), b"only hers"]
        marks += [scanpath.fixations[:2].tobytes() for _, _, scanpath in seen]
        for name, axis in state.viewer_axis.items():
            rows = [row.tobytes() for row in state.arrays[name]]
            if axis == 0 and rows.count(rows[zoe]) == 1:  # hers alone
                marks.append(rows[zoe])
        for positions, names in state.unit_arrays.items():
            for name in names:
                hers = state.arrays[name][state.arrays[positions] == zoe]
                marks += [row.tobytes() for row in hers if row.any()]
        before = path.read_bytes()
        save_model(forget(load_model(path), ["Zoë Quick"]), path)
        after = path.read_bytes()
        for mark in marks:
            assert mark in before
            assert mark not in after

    def test_the_others_are_judged_as_before(self, case: Case) -> None:
        before = model_of(case)
        after = forget(before, ["p0000"])
        assert after.base_id == before.base_id
        paths = [looks(case, 20, seed) for seed in (1, 2)]
        whole = identified(before.identifier, paths).log_probabilities[1:]
        rest = identified(after.identifier, paths).log_probabilities
        np.testing.assert_allclose(rest, whole - np.logaddexp.reduce(whole), atol=1e-5)

    def test_merging_puts_the_viewers_of_both_together(self, case: Case) -> None:
        first = enrol(model_of(case), newcomers(case))
        second = enrol(forget(model_of(case), ["p0000"]), newcomers(case, first=30))
        merged = merge(first, second)
        assert merged.identifier.viewer_ids == (*first.identifier.viewer_ids, "p0030")
        assert len(merged.training) == (case.n_viewers + 2) * case.n_scanpaths
        assert_same_state(forget(merged, ["p0030"]).identifier, first.identifier)
        kept = ["p0000", "p0020"]
        assert_same_viewers(forget(merged, kept).identifier, second.identifier)

    def test_merged_with_itself_it_stays_the_same(self, case: Case) -> None:
        model = model_of(case)
        merged = merge(model, model)
        assert_same_state(merged.identifier, model.identifier)
        assert len(merged.training) == len(model.training)

    def test_another_base_is_refused(self, case: Case) -> None:
        other = replace(model_of(case), base_id="another")
        with pytest.raises(IncompatibleModelError, match="bases"):
            merge(model_of(case), other)


def assert_same_viewers(a: Identifier, b: Identifier) -> None:
    """To the bit, in the arrays of single viewers."""
    first, second = a.state().viewers(), b.state().viewers()
    assert a.viewer_ids == b.viewer_ids
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array, err_msg=name)


@every_case
class TestExplanation:
    def test_the_parts_add_up_to_the_log_odds(self, case: Case) -> None:
        identifier = identifier_of(case)
        paths = [looks(case, n, seed) for seed, n in enumerate((12, 0, 35))]
        estimate = identified(identifier, paths)
        told = explain_probe(identifier, paths, estimate.best)
        if identifier.contributions(paths) is None:
            assert told == []
            return
        logs = estimate.log_probabilities
        others = np.delete(logs, estimate.best)
        odds = logs[estimate.best] - others @ special.softmax(others)
        assert sum(evidence for _, evidence in told) == pytest.approx(odds, abs=1e-3)

    def test_an_empty_probe_is_no_evidence(self, case: Case) -> None:
        assert all(evidence == 0 for _, evidence in explain_probe(identifier_of(case), []))


@every_recognising_case
@pytest.mark.parametrize("n_viewers", [1, 2, 3])
def test_few_viewers(case: Case, n_viewers: int) -> None:
    made, _ = fitted(case, n_viewers)
    right = 0.0
    for number, person in enumerate(people(n_viewers)):
        estimate = identified(
            made.identifier, [person.looks(case.kind, 14, 900 + i) for i in range(12)]
        )
        assert_sound(estimate, n_viewers)
        right += np.exp(estimate.log_probabilities[number])
        assert estimate.log_unknown is None  # nobody knows strangers
        assert estimate.accepted is None
    assert right / n_viewers > (1 + 1 / n_viewers) / 2 - 1e-9
    assert (made.accuracy is None) == (n_viewers == 1)


@every_recognising_case
def test_viewers_are_recognised_and_strangers_rejected(case: Case) -> None:
    n_enrolled, n_strangers, n_looks = 16, 24, 20
    training = training_of(people(n_enrolled), case.kind, 12, 16)
    identifier = fit_method(case.method, training).identifier

    def judged(persons: Sequence[Any]) -> list[Estimate]:
        return [
            identified(identifier, [p.looks(case.kind, 16, 800 + i) for i in range(n_looks)])
            for p in persons
        ]

    genuine, strange = judged(people(n_enrolled)), judged(people(n_strangers, first=500))
    assert np.mean([e.best == number for number, e in enumerate(genuine)]) >= case.recognised
    assert np.mean([e.accepted for e in strange]) <= 0.25
    assert np.mean([np.exp(e.log_unknown) < 0.5 for e in genuine]) >= case.accepted
    of_strangers, of_genuine = (np.median([e.log_unknown for e in es]) for es in (strange, genuine))
    assert of_strangers > of_genuine


@every_recognising_case
def test_hundreds_of_viewers(case: Case) -> None:
    n = 300
    made = fit_method(case.method, training_of(people(n), case.kind, 2, 12))
    probed = range(0, n, 2)
    right = 0
    for number in probed:
        person = people(n)[number]
        estimate = identified(
            made.identifier, [person.looks(case.kind, 12, 700 + i) for i in range(6)]
        )
        assert_sound(estimate, n)
        right += estimate.best == number
    assert right / len(probed) > 15 / n  # fifteen times chance, from two dozen saccades of each
