"""All methods on few, odd and degenerate data: recognised, or refused with an error."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from gazelive.errors import ModelError
from gazelive.features.scanpath import COLUMN_NAMES, scanpath_of_fixations
from gazelive.features.vigor import RATE_RANGE_DEG
from gazelive.identification.fitted import Options
from gazelive.identification.methods import gazelive_samples as samples
from gazelive.identification.registry import METHODS, fit_method
from gazelive.identification.training_data import training_set

from ...support.people import identified, labelled_looks, people, training_of

QUICK = [(m.name, kind) for m in METHODS for kind in m.sources if "scene" not in m.name]
every_quick_method = pytest.mark.parametrize(
    ("method", "kind"), QUICK, ids=[" on ".join(each) for each in QUICK]
)


def assert_honest(fitted, kind):
    """Check that posteriors and the estimated accuracy are finite."""
    for person in people(3):
        estimate = identified(fitted.identifier, [person.looks(kind, 14, 50 + i) for i in range(4)])
        assert np.isfinite(estimate.log_probabilities).all()
        assert np.exp(estimate.log_probabilities).sum() == pytest.approx(1)
        assert estimate.log_unknown is None or 0 < np.exp(estimate.log_unknown) <= 1
    accuracy = fitted.accuracy
    assert accuracy is None or (
        0 <= accuracy.estimate <= 1 and 0 <= accuracy.standard_error <= 1 and accuracy.n > 0
    )


@every_quick_method
@pytest.mark.parametrize(
    ("n_viewers", "n_scanpaths", "n_saccades"),
    [
        (1, 1, 20),
        (2, 1, 20),
        (3, 1, 25),
        (2, 1, 80),
        (3, 2, 12),
        (4, 5, 5),
        (5, 1, 150),
        (7, 40, 1),
    ],
)
def test_few_data(method, kind, n_viewers, n_scanpaths, n_saccades):
    training = training_of(people(n_viewers), kind, n_scanpaths, n_saccades)
    without_turns = ("markov", "fisher-markov", "abdelwahab", "fisher-abdelwahab")
    if n_saccades == 1 and method.startswith(without_turns):
        # a turn needs two saccades in a row
        with pytest.raises(ModelError, match="nothing to fit"):
            fit_method(method, training)
        return
    assert_honest(fit_method(method, training), kind)


@every_quick_method
class TestOddData:
    def test_one_image_again_and_again(self, method, kind):
        labelled = [
            (v, s, replace(path, image="same.jpg"))
            for v, s, path in labelled_looks(people(3), kind, 8, 14)
        ]
        fitted = fit_method(method, training_set(kind, labelled))
        assert_honest(fitted, kind)
        assert fitted.accuracy is not None

    def test_much_of_one_and_little_of_another(self, method, kind):
        labelled = labelled_looks(people(2), kind, 30, 14) + labelled_looks(
            people(1, first=2), kind, 1, 25
        )
        fitted = fit_method(method, training_set(kind, labelled))
        assert_honest(fitted, kind)
        # who looked little is not taken for everybody, nor for nobody
        looks = [
            identified(fitted.identifier, [p.looks(kind, 14, 80 + i) for i in range(10)])
            for p in people(2)
        ]
        assert np.mean([e.best == number for number, e in enumerate(looks)]) == 1

    def test_images_without_a_name(self, method, kind):
        labelled = [
            (v, s, replace(path, image=None))
            for v, s, path in labelled_looks(people(3), kind, 8, 14)
        ]
        assert_honest(fit_method(method, training_set(kind, labelled)), kind)

    def test_no_noise_reaches_the_user(self, method, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit_method(method, training_of(people(30), kind, 1, 12))


@pytest.mark.parametrize("method", ["gazelive", "fisher-markov", "markov", "abdelwahab"])
@pytest.mark.parametrize("what", ["even durations", "a line", "one place", "two places"])
def test_tables_in_which_nothing_varies(method, what):
    rng = np.random.default_rng(0)
    labelled = []
    for viewer in "abc":
        for image in range(8):
            x, y = rng.uniform(-10, 10, (2, 12))
            if what == "a line":
                x, y = np.arange(12) * 2.0, np.zeros(12)
            elif what == "one place":
                x, y = np.zeros(12), np.zeros(12)
            elif what == "two places":
                x, y = np.arange(12) % 2 * 3.0, np.zeros(12)
            durations_s = np.full(12, 0.25)
            labelled.append((viewer, "1", scanpath_of_fixations(x, y, durations_s, f"{image}.jpg")))
    training = training_set("fixations", labelled)
    if what == "one place" and method != "gazelive":
        with pytest.raises(ModelError, match="nothing to fit"):
            fit_method(method, training)
        return
    estimate = identified(fit_method(method, training).identifier, [labelled[0][2]])
    assert np.isfinite(estimate.log_probabilities).all()
    if what != "even durations":
        np.testing.assert_allclose(estimate.log_probabilities, -np.log(3), atol=1e-3)


@pytest.mark.parametrize(
    ("method", "kind"),
    [("gazelive", "samples"), ("gazelive", "fixations"), ("markov", "samples")],
)
def test_every_method_reports_progress(method, kind):
    told = []
    fit_method(method, training_of(people(5), kind, 4, 12), Options(report=told.append))
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == 1.0


class TestRefused:
    def test_an_unknown_method(self):
        with pytest.raises(ModelError, match=r"no method oracle.*gazelive"):
            fit_method("oracle", training_of(people(2), "fixations", 5, 10))

    @pytest.mark.parametrize("method", ["markov-dynamics", "fisher-markov-dynamics"])
    def test_dynamics_of_a_fixation_table(self, method):
        with pytest.raises(ModelError, match="needs recordings"):
            fit_method(method, training_of(people(2), "fixations", 5, 10))

    @pytest.mark.parametrize("method", ["gazelive", "markov"])
    def test_nothing(self, method):
        with pytest.raises(ModelError, match="scanpath with a saccade"):
            fit_method(method, training_of(people(2), "samples", 5, 0))


@pytest.mark.parametrize(
    ("method", "kind", "expected"),
    [
        ("markov", "fixations", {"prior_values": 8.0}),
        ("markov-dynamics", "samples", {"prior_values": 8.0}),
        ("fisher-markov", "fixations", {"ridge": 0.1, "cost": 0.1}),  # not its vote, see its grid
        ("fisher-markov-dynamics", "samples", {"ridge": 0.1, "cost": 0.1}),  # nor this
        ("gazelive", "samples", {"ridge": 0.3}),
        ("gazelive", "fixations", {"ridge": 0.3, "cost": 0.3, "cost_again": 0.01}),
        ("holland-2011", "fixations", {"ridge": 0.5}),  # not its vote, see its grid
        ("cem-b", "fixations", {"ridge": 0.1}),
        ("cem-b-dynamics", "samples", {"ridge": 0.5}),
    ],
)
def test_defaults_of_the_study(method, kind, expected):
    training = training_of(people(4), kind, 4, 12)
    assert fit_method(method, training).hyperparameters == expected


class TestGazeliveOnRecordings:
    def test_two_viewers_with_little_data_have_densities(self):
        training = training_of(people(2), "samples", 1, 100)
        block = samples.fit_block(training)
        known = np.bincount(block.features.types(training.rows()), minlength=12) >= 10
        assert known.sum() >= 5
        assert (block.cells[known][:, :, 0] > 0).mean() > 0.9

    @pytest.mark.parametrize(
        ("options", "left_out"),
        [
            (Options(texture=False), ("texture_",)),
            (Options(without=frozenset({"texture"})), ("texture_",)),
            (Options(without=frozenset({"movement"})), ("movement_",)),
            (Options(without=frozenset({"after"})), ("after_",)),
            (Options(texture=False, without=frozenset({"after"})), ("after_", "texture_")),
            (Options(without=frozenset({"positions"})), ()),
        ],
    )
    def test_only_groups_that_are_left_out_are_not_used(self, options, left_out):
        training = training_of(people(3), "samples", 6, 20)
        fitted = fit_method("gazelive", training, options)
        path = people(1)[0].looks("samples", 20, 5)
        expected = identified(fitted.identifier, [path]).log_probabilities
        for prefix in ("movement_", "after_", "texture_"):
            changed = path.saccades.copy()
            changed[:, [name.startswith(prefix) for name in COLUMN_NAMES]] *= 1.5
            found = identified(fitted.identifier, [replace(path, saccades=changed)])
            same = np.array_equal(found.log_probabilities, expected)
            assert same == (prefix in left_out)

    def test_without_any_group_there_is_nothing_to_learn(self):
        without = frozenset({"movement", "after"})
        with pytest.raises(ModelError, match="no features left"):
            options = Options(texture=False, without=without)
            fit_method("gazelive", training_of(people(3), "samples", 6, 20), options)

    def test_the_default_temperature_is_reported(self):
        fitted = fit_method("gazelive", training_of(people(3), "samples", 6, 14))
        assert fitted.identifier.temperature == samples.USUAL_TEMPERATURE
        assert "default" in fitted.calibration
        assert fitted.accuracy is not None
        assert "across sessions it will be lower" in fitted.accuracy.protocol

    def test_the_less_is_enrolled_the_less_is_claimed(self):
        little = training_of(people(2), "samples", 1, 25)
        much = training_of(people(2), "samples", 12, 25)
        claimed = []
        for training in (little, much):
            identifier = fit_method("gazelive", training).identifier
            looks = [p.looks("samples", 5, 70 + i) for p in people(2) for i in range(20)]
            posteriors = [identified(identifier, [path]).log_probabilities for path in looks]
            claimed.append(np.mean([np.exp(logs.max()) for logs in posteriors]))
        assert claimed[0] < claimed[1]

    def test_with_sessions_and_viewers_enough_it_is_refined(self):
        n = samples.FEWEST_VIEWERS_TO_CALIBRATE
        training = training_of(people(n), "samples", 2, 20, sessions=("1", "2"))
        fitted = fit_method("gazelive", training)
        assert "refined across sessions" in fitted.calibration
        assert fitted.identifier.temperature != samples.USUAL_TEMPERATURE
        assert fitted.accuracy is not None
        assert fitted.accuracy.protocol == "whole sessions held out"

    def test_only_saccades_that_are_too_small(self):
        training = training_of(people(2), "samples", 3, 20)
        from gazelive.features.scanpath import Column

        paths = []
        for path in training.scanpaths:
            rows = path.saccades.copy()
            rows[:, Column.AMPLITUDE_DEG] = 0.1
            paths.append(replace(path, saccades=rows))
        with pytest.raises(ModelError, match="too few saccades"):
            fit_method("gazelive", replace(training, scanpaths=tuple(paths)))


@pytest.mark.parametrize(
    ("method", "kind"),
    [("gazelive", "samples"), ("markov", "fixations"), ("fisher-markov", "fixations")],
)
def test_the_cross_validated_accuracy_matches_fresh_data(method, kind):
    n = 12
    fitted = fit_method(method, training_of(people(n, 0.25), kind, 20, 12))
    right = [
        identified(fitted.identifier, [person.looks(kind, 12, 5000 + i)]).best == number
        for number, person in enumerate(people(n, 0.25))
        for i in range(20)
    ]
    assert fitted.accuracy is not None
    if method == "gazelive":  # whose parts are a fifth of a session, not single scanpaths
        assert fitted.accuracy.estimate >= np.mean(right) - 0.1
    else:
        assert fitted.accuracy.estimate == pytest.approx(np.mean(right), abs=0.12)


@every_quick_method
def test_one_long_recording_of_people_who_are_alike_looks_like_guessing(method, kind):
    n = 40
    # where people look in one half of a recording is near to where they look in the other
    options = Options(without=frozenset({"positions"}))
    accuracy = fit_method(method, training_of(people(n, 0.0), kind, 1, 240), options).accuracy
    assert accuracy is not None
    assert "parts of each session held out" in accuracy.protocol
    assert accuracy.n >= 3 * n
    assert accuracy.estimate < 0.1


def test_the_vigors_rate_is_known_of_recordings_only():
    recordings = fit_method("markov-dynamics", training_of(people(3), "samples", 6, 14))
    assert RATE_RANGE_DEG[0] <= recordings.vigor_rate_deg <= RATE_RANGE_DEG[1]
    assert fit_method("markov", training_of(people(3), "fixations", 6, 14)).vigor_rate_deg is None


def test_gazelive_can_leave_out_start_times():
    training = training_of(people(3), "fixations", 12, 8)
    with_, without = (
        fit_method("gazelive", training, Options(without=frozenset(groups))).identifier
        for groups in ((), ("start-times", "not a group of this method"))
    )
    names = [
        {feature.name for block in one.representation.blocks for feature in block.features.features}
        for one in (with_, without)
    ]
    assert names[0] - names[1] == {"time since onset"}
