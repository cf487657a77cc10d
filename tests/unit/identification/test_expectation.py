"""What to expect of a model: seconds of viewing against who is recognised and accepted."""

import math

import msgspec
import numpy as np
import pytest

from gazelive.features.scanpath import LATE_COLUMN, Column
from gazelive.identification.contract import Terms
from gazelive.identification.expectation import (
    LONGEST_S,
    MOST_PROBES,
    PIECE_S,
    cut,
    drawn,
    excerpts,
    expect,
    is_learned,
    part_of,
)
from gazelive.identification.fitted import Accuracy, Options
from gazelive.identification.open_set import NO_STRANGERS, Genuine, strangers_of_matches
from gazelive.identification.registry import fit_method
from gazelive.identification.training_data import training_set

from ...support.people import labelled_looks, people, training_of

ALICE = people(1)[0]


def long_path(n_saccades=200, image=None):
    return ALICE.looks("samples", n_saccades, image=image)


def expected(training, method="markov", **options):
    options = Options(**options)
    return expect(method, training, fit_method(method, training, options).identifier, options)


class TestExpect:
    @pytest.mark.parametrize("method", ["gazelive", "markov", "fisher-markov"])
    def test_more_viewing_is_more_evidence(self, method):
        training = training_of(people(6), "samples", 16, 15)
        found = expected(training, method)
        assert found.skipped is None
        assert [row.seconds for row in found.rows] == [5.0, 10.0, 20.0]  # a half has 32 s
        first, last = found.rows[0], found.rows[-1]
        assert 1 / 6 < first.recognised <= last.recognised <= 1
        for row in found.rows:
            assert row.accepted is not None
            assert 0 <= row.accepted <= row.recognised
            assert 0 <= row.standard_error < 0.5
            assert row.n_viewers == 6
            assert row.n_viewers < row.n <= row.n_viewers * MOST_PROBES
        assert found.n_sessions == 1
        assert found.enrolled_s == pytest.approx(
            np.median([sum(p.seconds for p in training.of_viewer(v)) for v in range(6)])
        )

    def test_it_is_the_same_each_time(self):
        training = training_of(people(4), "fixations", 10, 15)
        assert expected(training) == expected(training)

    def test_alike_people_are_not_recognised(self):
        found = expected(training_of(people(8, spread=0.0), "samples", 12, 15))
        assert all(row.recognised < 0.4 for row in found.rows)

    def test_few_viewers_are_not_judged(self):
        found = expected(training_of(people(3), "samples", 12, 15))
        assert found.rows
        assert {row.accepted for row in found.rows} == {None}
        assert {row.accepted_standard_error for row in found.rows} == {None}

    @pytest.mark.parametrize(("n_viewers", "n_images"), [(1, 12), (4, 2)])
    def test_little_data_is_skipped(self, n_viewers, n_images):
        found = expected(training_of(people(n_viewers), "samples", n_images, 15))
        assert found.rows == ()
        assert found.skipped

    def test_viewers_with_little_data_are_left_out(self):
        persons = people(5)
        labelled = labelled_looks(persons[:4], "samples", 12, 15)
        labelled += labelled_looks(persons[4:], "samples", 2, 15)
        found = expected(training_set("samples", labelled))
        assert found.rows[0].n_viewers == 4
        assert all(2 <= row.n_viewers <= 4 for row in found.rows)

    def test_long_recordings_are_cut(self):
        labelled = [(p.name, "1", p.looks("samples", 300)) for p in people(4)]
        found = expected(training_set("samples", labelled))
        assert [row.seconds for row in found.rows][:3] == [5.0, 10.0, 20.0]
        assert all(row.recognised > 0.5 for row in found.rows)

    def test_json(self):
        found = expected(training_of(people(4), "samples", 10, 15), false_acceptance_rate=0.05)
        assert found.false_acceptance_rate == 0.05
        assert msgspec.convert(msgspec.to_builtins(found), type(found)) == found


class TestParts:
    def test_a_part_has_the_saccades_of_its_time(self):
        path = long_path()
        part = part_of(path, 10.0, 20.0)
        onset_s = path.saccades[:, Column.ONSET_S]
        chosen = (onset_s >= 10) & (onset_s < 20)
        assert part.n_saccades == chosen.sum() > 10
        assert part.seconds == 10.0
        np.testing.assert_allclose(
            part.saccades[:, Column.ONSET_S], onset_s[chosen] - 10, atol=1e-5
        )
        np.testing.assert_array_equal(
            part.saccades[:, Column.DX_DEG], path.saccades[chosen, Column.DX_DEG]
        )
        assert np.isnan(part.saccades[-1, LATE_COLUMN])
        assert not np.isnan(path.saccades[chosen][-1, LATE_COLUMN])  # the original is untouched
        assert len(part.fixations) == part.n_saccades + 1
        first = np.flatnonzero(chosen)[0]
        np.testing.assert_array_equal(part.fixations[0], path.fixations[first])

    def test_pieces_make_the_whole(self):
        path = long_path()
        short = ALICE.looks("samples", 15, 1)
        training = training_set("samples", [("a", "1", path), ("b", "2", short)])
        pieces = cut(training)
        assert path.seconds > LONGEST_S > short.seconds
        assert len(pieces) == math.ceil(path.seconds / PIECE_S) + 1
        assert pieces.scanpaths[-1] is short
        assert pieces.sessions == ("1",) * (len(pieces) - 1) + ("2",)
        assert sum(p.n_saccades for p in pieces.of_viewer(0)) == path.n_saccades
        assert sum(p.seconds for p in pieces.of_viewer(0)) == pytest.approx(path.seconds)

    def test_excerpts_have_the_length_asked_for(self):
        walk = [ALICE.looks("samples", 15, seed) for seed in range(9)]
        found = list(excerpts(walk, 10.0))
        assert 1 < len(found) <= MOST_PROBES
        assert len({id(paths[0]) for paths in found}) == len(found)
        for paths in found:
            assert sum(path.seconds for path in paths) == pytest.approx(10.0, abs=1e-4)
        assert list(excerpts(walk, 1000.0)) == []


class TestHalves:
    def test_images_are_in_one_half(self):
        training = training_of(people(4), "samples", 10, 5)
        learned = is_learned(training)
        images = np.array([path.image for path in training.scanpaths])
        assert not set(images[learned]) & set(images[~learned])
        assert learned.sum() == 20

    def test_other_images_of_each_viewer(self):
        looks = [
            (p.name, "1", p.looks("samples", 5, i, f"{i}{p.name if i else ''}.jpg"))
            for p in people(3)
            for i in range(5)
        ]
        learned = is_learned(training_set("samples", looks))
        for viewer in range(3):
            assert learned[5 * viewer : 5 * viewer + 5].sum() in {2, 3}

    def test_every_other_scanpath_without_images(self):
        looks = [(p.name, "1", p.looks("samples", 5, i)) for p in people(2) for i in range(3)]
        learned = is_learned(training_set("samples", looks))
        assert learned.tolist() == [True, False, True] * 2

    def test_many_scanpaths_are_drawn_in_equal_shares(self):
        training = training_of(people(3), "samples", 20, 5)
        few = drawn(training, 30)
        assert np.bincount(few.viewers).tolist() == [10, 10, 10]
        assert few.scanpaths == drawn(training, 30).scanpaths
        assert drawn(training, 60) is training


class TestEnrolment:
    GENUINE = Genuine(
        distance=2.0,
        per_log=0.7,
        amount=10.0,
        weight=0.9,
        changed=0.02,
        alike=0.004,
        once=1.0,
        repeated=1.3,
    )

    def strangers(self, enrolled):
        matches = {10.0: np.random.default_rng(0).normal(0, 1, 50)}
        return strangers_of_matches(matches, 0.01, "", self.GENUINE, enrolled, n_strangers=50)

    @pytest.mark.parametrize("enrolled", [5.0, 20.0, 500.0])
    def test_growth_reaches_the_threshold(self, enrolled):
        growth = self.strangers(enrolled).enrolment_growth(0.01)
        assert growth is not None
        assert self.GENUINE.distance_at(math.inf, growth * enrolled) == pytest.approx(
            self.GENUINE.threshold(Terms(), 0.01)
        )
        assert (growth > 1) == (enrolled < 100)

    def test_unknown(self):
        assert NO_STRANGERS.enrolment_growth(0.01) is None

    def test_it_is_said_in_seconds(self):
        found = expected(training_of(people(6), "samples", 10, 15), "markov")
        assert found.needed_s is not None
        assert found.needed_s > found.enrolled_s
        assert found.needed_s % 10 == 0
        training = training_of(people(6), "samples", 10, 15)
        loose = expected(training, "gazelive", false_acceptance_rate=0.4)
        assert loose.needed_s is None


class TestLowerBound:
    def test_over_viewers(self):
        accuracy = Accuracy(estimate=0.5, standard_error=0.1, n=40, protocol="")
        assert accuracy.lower_bound == pytest.approx(0.304)

    @pytest.mark.parametrize(
        ("estimate", "n", "bound"), [(1.0, 10, 0.722), (0.5, 20, 0.299), (0.0, 5, 0.0)]
    )
    def test_wilson_where_viewers_are_alike(self, estimate, n, bound):
        accuracy = Accuracy(estimate=estimate, standard_error=0.0, n=n, protocol="")
        assert accuracy.lower_bound == pytest.approx(bound, abs=1e-3)
