"""What every identifier keeps, whatever is inside.

A new method joins with one line in `CASES`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazelive.errors import ModelError
from gazelive.features.scanpath import LATE_COLUMN, N_COLUMNS, Column, Scanpath
from gazelive.identification.contract import Estimate, Identifier, Probe
from gazelive.identification.methods import fit_method
from gazelive.identification.model_file import Provenance, load_model, new_model, save_model
from gazelive.identification.training_set import SourceKind

from ..unit.identification.population import identified, people, training_of


@dataclass(frozen=True)
class Case:
    """A method, what it is made from, and how much of it is enough for these tests."""

    method: str
    kind: SourceKind
    n_viewers: int = 5
    n_scanpaths: int = 8
    n_saccades: int = 14
    learns_much: bool = True
    """Whether so little data is enough to recognise people by, and for hundreds of them."""

    def __str__(self) -> str:
        return f"{self.method} on {self.kind}"


CASES = [
    Case("gazelive", "samples"),
    Case("gazelive", "fixations"),
    Case("fisher-markov-dynamics", "samples"),
    Case("fisher-markov", "fixations"),
    Case("markov-dynamics", "samples"),
    Case("markov", "fixations"),
    Case("scenewalk", "fixations", 2, 3, 7, learns_much=False),
    Case("fisher-scenewalk", "samples", 2, 3, 7, learns_much=False),
]
RECOGNISING = [case for case in CASES if case.learns_much]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_recognising_case = pytest.mark.parametrize("case", RECOGNISING, ids=str)


@functools.cache
def fitted(case: Case, n_viewers: int | None = None) -> Any:
    persons = people(n_viewers or case.n_viewers)
    training = training_of(persons, case.kind, case.n_scanpaths, case.n_saccades)
    return fit_method(case.method, training), training


def identifier_of(case: Case) -> Identifier:
    made, _ = fitted(case)
    return made.identifier


def looks(case: Case, n_saccades: int, seed: int, holes: float = 0.0) -> Scanpath:
    """Return a scanpath of somebody, in which some values are missing."""
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
    assert np.isfinite(estimate.log_unknown)
    assert estimate.log_unknown <= 0
    assert 0 <= estimate.best < n_viewers


def assert_same(a: Estimate, b: Estimate) -> None:
    """To the bit."""
    np.testing.assert_array_equal(a.log_probabilities, b.log_probabilities)
    assert a.log_unknown == b.log_unknown
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
        assert np.exp(estimate.log_unknown) == pytest.approx(0.5)
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
    def test_how_often_one_asks_changes_nothing(
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

    def test_an_interval_that_never_settles_keeps_what_it_said(self, case: Case) -> None:
        probe = identifier_of(case).probe()
        feed(probe, looks(case, 20, 3))
        before = probe.estimate()
        probe.begin("next.jpg")
        after = probe.estimate()
        np.testing.assert_allclose(after.log_probabilities, before.log_probabilities, atol=1e-5)
        assert (after.n_saccades, after.n_images) == (before.n_saccades, before.n_images + 1)

    @pytest.mark.parametrize("what", ["no saccade", "all masked", "untyped"])
    def test_what_says_nothing_changes_nothing(self, case: Case, what: str) -> None:
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
        with pytest.raises(ModelError, match="one finite log probability for each"):
            identifier_of(case).probe(prior)


@every_case
def test_saved_and_loaded_it_scores_the_same_to_the_bit(case: Case, tmp_path: Any) -> None:
    made, training = fitted(case)
    path = tmp_path / "a.model"
    save_model(new_model(made, training, None, Provenance(source="made up")), path)
    again = load_model(path).identifier
    assert again.viewer_ids == made.identifier.viewer_ids
    first, second = made.identifier.probe(), again.probe()
    for seed, n in enumerate((12, 35, 0, 70)):
        scanpath = looks(case, n, seed, holes=0.1)
        for probe in (first, second):
            feed(probe, scanpath)
        assert_same(first.estimate(1.0), second.estimate(1.0))
        for probe in (first, second):
            probe.settle(scanpath)
        assert_same(first.estimate(), second.estimate())


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
        assert np.exp(estimate.log_unknown) == pytest.approx(0.5)  # nobody knows strangers
    assert right / n_viewers > (1 + 1 / n_viewers) / 2 - 1e-9
    assert (made.accuracy is None) == (n_viewers == 1)


@every_recognising_case
def test_viewers_are_recognised_and_strangers_are_told(case: Case) -> None:
    n_enrolled, n_strangers, n_looks = 16, 24, 20
    training = training_of(people(n_enrolled), case.kind, 12, 16)
    identifier = fit_method(case.method, training).identifier

    def judged(persons: Sequence[Any]) -> list[Estimate]:
        return [
            identified(identifier, [p.looks(case.kind, 16, 800 + i) for i in range(n_looks)])
            for p in persons
        ]

    genuine, strange = judged(people(n_enrolled)), judged(people(n_strangers, first=500))
    assert np.mean([e.best == number for number, e in enumerate(genuine)]) >= 0.9
    assert np.mean([np.exp(e.log_unknown) > 0.5 for e in strange]) >= 0.75
    assert np.mean([np.exp(e.log_unknown) < 0.5 for e in genuine]) >= 0.75


@every_recognising_case
def test_hundreds_of_viewers(case: Case) -> None:
    n = 300
    made = fit_method(case.method, training_of(people(n), case.kind, 2, 12))
    right = 0.0
    for number in range(0, n, 10):
        person = people(n)[number]
        estimate = identified(
            made.identifier, [person.looks(case.kind, 12, 700 + i) for i in range(6)]
        )
        assert_sound(estimate, n)
        right += estimate.best == number
    assert right / 30 > 15 / n  # fifteen times chance, from two dozen saccades of each


def test_every_method_is_held_to_the_contract() -> None:
    from gazelive.identification.methods import METHODS

    assert {case.method for case in CASES} == set(METHODS)
