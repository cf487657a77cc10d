"""Training and identifying as the commands do, without the commands."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gazelive.analysis.running import running_of_fixations
from gazelive.detection import DetectorParameters, EngbertKlieglParameters
from gazelive.errors import IncompatibleModelError, ModelError
from gazelive.features.scanpath import LATE_COLUMN
from gazelive.identification.calibration import evidence_scale
from gazelive.identification.fitted import Options
from gazelive.identification.model_file import load_model, save_model
from gazelive.workflows.gathering import gather
from gazelive.workflows.identification import (
    check_fits,
    identify_gathered,
    identify_probe,
    results_json,
)
from gazelive.workflows.probes import Detector, Gathered, Probe
from gazelive.workflows.training import FEWEST_SACCADES, detector_of, refit, train_gathered, usable

from ...support.people import people, small_corpus

SOURCE = Path("some.csv")


def gathered_looks(n_viewers=4, n_scanpaths=8, n_saccades=14, kind="fixations", seed=0, **more):
    probes = tuple(
        as_if_live(
            person.name,
            [person.looks(kind, n_saccades, seed + i, f"im{i}.jpg") for i in range(n_scanpaths)],
        )
        for person in people(n_viewers, **more)
    )
    return Gathered(kind, probes)


def as_if_live(name, paths):
    running = tuple(tuple(running_of_fixations(path)) for path in paths)
    return Probe(name, name, "1", tuple(paths), running)


def trained(gathered, method="markov", detector=None, **options):
    return train_gathered(gathered, SOURCE, method, Options(**options), detector or Detector())


class TestTrain:
    def test_it_says_what_it_was_made_from(self):
        model = trained(gathered_looks(), false_acceptance_rate=0.05).model
        provenance = model.provenance
        assert provenance.source == "some.csv"
        assert (provenance.n_scanpaths, provenance.n_saccades) == (32, 32 * 14)
        assert provenance.false_acceptance_rate == 0.05
        assert provenance.sessions == ("1",)
        assert provenance.seconds > 10
        assert model.detector is None  # nobody detected anything
        assert model.rate_range_hz is None

    @pytest.mark.parametrize(
        "detector",
        [
            Detector(),
            Detector("online", DetectorParameters()),
            Detector("engbert-kliegl"),
            Detector("engbert-kliegl", EngbertKlieglParameters()),
        ],
    )
    def test_the_detector_and_all_its_settings_are_kept(self, detector, tmp_path):
        model = trained(gathered_looks(kind="samples"), detector=detector).model
        save_model(model, tmp_path / "a.model")
        again = detector_of(load_model(tmp_path / "a.model"))
        assert again.method == detector.method
        by_paper = detector.method == "engbert-kliegl"
        default = EngbertKlieglParameters() if by_paper else DetectorParameters()
        assert again.parameters == (detector.parameters or default)
        assert model.rate_range_hz == (500.0, 2000.0)

    def test_viewers_of_whom_there_is_too_little_are_left_out(self):
        gathered = gathered_looks(3)
        short = replace(gathered.probes[1], scanpaths=gathered.probes[1].scanpaths[:1])
        gathered = replace(gathered, probes=(gathered.probes[0], short, gathered.probes[2]))
        training = trained(gathered)
        assert training.model.identifier.viewer_ids == ("p0000", "p0002")
        assert f"p0001 is left out: 14 saccades are too few (at least {FEWEST_SACCADES})" in (
            training.warnings
        )

    def test_sessions_of_a_viewer_count_together(self):
        gathered = gathered_looks(2, n_scanpaths=1)
        twice = tuple(replace(probe, session="2") for probe in gathered.probes)
        training, warnings = usable(Gathered("fixations", gathered.probes + twice), SOURCE)
        assert training.n_viewers == 2
        assert training.n_sessions == 2
        assert warnings == []

    @pytest.mark.parametrize(
        ("gathered", "message"),
        [
            (gathered_looks(3, 1, 3), "no viewer has 20 saccades"),
            (gathered_looks(3, 1, 0), "no viewer has 20 saccades"),
            (
                Gathered("samples", (Probe("a.asc", None, "", ()),)),
                "no viewers are named",
            ),
        ],
    )
    def test_too_little_is_refused(self, gathered, message):
        with pytest.raises(ModelError, match=message):
            trained(gathered)

    @pytest.mark.parametrize(
        ("gathered", "warnings"),
        [
            (gathered_looks(1), ["only one viewer", "only 8 scanpaths of a viewer"]),
            (gathered_looks(2, 40), ["2 viewers are too few"]),
            (gathered_looks(3, 3), ["3 viewers are too few", "fewer than 100 saccades of p0000"]),
            (gathered_looks(4, 40), []),
            (gathered_looks(4, 40, kind="samples"), ["one session per viewer"]),
        ],
    )
    def test_what_a_user_should_know(self, gathered, warnings):
        told = trained(gathered).warnings
        for text in warnings:
            assert any(text in warning for warning in told)
        if not warnings:
            assert told == ()

    def test_refit_goes_by_what_was_asked_for_then(self):
        model = trained(
            gathered_looks(5, kind="samples"),
            "gazelive",
            texture=False,
            false_acceptance_rate=0.2,
        ).model
        again = refit(model).model
        assert again.base_id == model.base_id
        assert again.provenance.false_acceptance_rate == 0.2
        assert again.identifier.strangers == model.identifier.strangers
        assert trained(gathered_looks(5, kind="samples"), "gazelive").model.base_id != model.base_id


@pytest.fixture(scope="module")
def model():
    return trained(gathered_looks()).model


class TestIdentify:
    def test_the_label_is_never_looked_at(self, model):
        gathered = gathered_looks(seed=500)
        right = identify_gathered(model, gathered)
        names = [probe.viewer for probe in gathered.probes]
        lies = tuple(
            replace(probe, viewer=lie)
            for probe, lie in zip(gathered.probes, [*names[1:], None], strict=True)
        )
        for a, b in zip(
            right, identify_gathered(model, replace(gathered, probes=lies)), strict=True
        ):
            np.testing.assert_array_equal(
                a.estimate.log_probabilities, b.estimate.log_probabilities
            )
            assert a.course == b.course
        assert [model.identifier.viewer_ids[r.estimate.best] for r in right] == names

    def test_the_course_is_what_was_known_then(self, model):
        gathered = gathered_looks(1, 2, 9, seed=500)
        (result,) = identify_gathered(model, gathered)
        paths = gathered.probes[0].scanpaths
        assert [n for _, n, _, _ in result.course] == [*range(1, 10), 9, *range(10, 19), 18]
        times = [t for t, _, _, _ in result.course]
        assert times == sorted(times)
        assert times[-1] == pytest.approx(sum(path.seconds for path in paths))
        for n in (1, 4, 9):
            probe = model.identifier.probe()
            probe.begin(None)
            for number, row in enumerate(paths[0].saccades[:n]):
                if number:
                    probe.complete_saccade(paths[0].saccades[number - 1])
                early = row.copy()
                early[LATE_COLUMN] = np.nan
                probe.add_saccade(early)
            estimate = probe.estimate()
            _, _, best, p = result.course[n - 1]
            assert (best, p) == (estimate.best, float(np.exp(estimate.log_probabilities.max())))

    def test_how_long_the_last_fixation_was_is_not_known_yet(self, model):
        gathered = gathered_looks(1, 1, 9, seed=500)
        path = gathered.probes[0].scanpaths[0]
        cut = replace(path, saccades=path.saccades[:5])
        probe = as_if_live(gathered.probes[0].name, [cut])
        shorter = identify_gathered(model, replace(gathered, probes=(probe,)))[0]
        assert identify_gathered(model, gathered)[0].course[:5] == shorter.course[:5]

    def test_saccades_are_handed_over_as_they_come_live(self, model):
        heard = []

        class Listener:
            method, viewer_ids = "listener", model.identifier.viewer_ids

            def probe(self, log_prior=None, terms=None):
                inside = model.identifier.probe(log_prior, terms)

                class Listening:
                    def __getattr__(self, name):
                        def call(*arguments):
                            heard.append((name, *arguments))
                            return getattr(inside, name)(*arguments)

                        return call

                return Listening()

        probe = gathered_looks(1, 1, 4).probes[0]
        identify_probe(Listener(), probe)
        whole = [each[0] for each in heard if each[0] != "estimate"]
        later = ["add_fixation", "complete_saccade", "add_saccade"]
        assert whole[:10] == [
            "begin",
            "add_fixation",
            "add_saccade",
            *later,
            *later,
            "add_fixation",
        ]
        steps = [each for each in heard if each[0] in ("begin", "add_saccade", "complete_saccade")]
        places = [list(each[1:]) for each in heard if each[0] == "add_fixation"]
        assert places == probe.scanpaths[0].fixations[:4].tolist()  # the last one has not ended
        rows = probe.scanpaths[0].saccades
        for number, (_, row) in enumerate(steps[1:8:2]):
            assert np.isnan(row[LATE_COLUMN])
            np.testing.assert_array_equal(
                np.delete(row, LATE_COLUMN), np.delete(rows[number], LATE_COLUMN)
            )
        for number, (_, row) in enumerate(steps[2:7:2]):
            np.testing.assert_array_equal(row, rows[number])

    def test_each_scanpath_by_itself(self, model):
        (result,) = identify_gathered(model, gathered_looks(1, 3, seed=500))
        assert [single.image for single in result.scanpaths] == ["im0.jpg", "im1.jpg", "im2.jpg"]
        scale = evidence_scale(3, model.identifier.correlation)
        total = scale * sum(single.log_posterior for single in result.scanpaths)
        expected = total - np.logaddexp.reduce(total)
        np.testing.assert_allclose(result.estimate.log_probabilities, expected, atol=1e-9)

    def test_the_sessions_of_a_label_are_one_probe(self, model):
        first, second = gathered_looks(2, 3, seed=500), gathered_looks(2, 3, seed=600)
        both = Gathered("fixations", first.probes + second.probes)
        results = identify_gathered(model, both)
        assert [r.probe.name for r in results] == ["p0000", "p0001"]
        assert [len(r.scanpaths) for r in results] == [6, 6]

    def test_recordings_stay_apart(self):
        gathered = gathered_looks(kind="samples")
        model = trained(gathered).model
        assert len(identify_gathered(model, replace(gathered, probes=gathered.probes * 2))) == 8

    def test_progress(self, model):
        seen = []
        identify_gathered(model, gathered_looks(4), progress=seen.append)
        assert seen == [0.25, 0.5, 0.75, 1.0]

    def test_json_is_as_promised(self, model):
        gathered = gathered_looks(2, 2, 6, seed=500)
        empty = Probe("nobody", None, "", (people(1)[0].looks("fixations", 0, 1),))
        results = identify_gathered(model, replace(gathered, probes=(*gathered.probes, empty)))
        content = json.loads(json.dumps(results_json(model, results), allow_nan=False))
        assert set(content) == {"viewers", "probes"}
        assert content["viewers"] == list(model.identifier.viewer_ids)
        for probe in content["probes"]:
            assert list(probe) == [
                "probe",
                "n_scanpaths",
                "n_saccades",
                "seconds",
                "posterior",
                "log_posterior",
                "best",
                "unknown",
                "verdict",
                "accepted",
                "more_s",
                "headline",
                "course",
                "scanpaths",
            ]
            assert list(probe["posterior"]) == content["viewers"]
            assert sum(probe["posterior"].values()) == pytest.approx(1)
            for viewer, p in probe["posterior"].items():
                assert np.exp(probe["log_posterior"][viewer]) == pytest.approx(p)
            assert 0 <= probe["unknown"] <= 1
            for step in probe["course"]:
                assert list(step) == ["t_s", "n_saccades", "best", "p"]
            for scanpath in probe["scanpaths"]:
                assert list(scanpath) == ["image", "log_posterior"]
        first, _, last = content["probes"]
        assert first["best"] == max(first["posterior"], key=first["posterior"].get)
        assert (first["n_scanpaths"], first["n_saccades"]) == (2, 12)
        assert last["best"] is None
        assert last["verdict"] is None
        summary = results_json(model, results, details=False)["probes"]
        for short, probe in zip(summary, content["probes"], strict=True):
            assert short == {k: v for k, v in probe.items() if k not in ("course", "scanpaths")}
        assert last["n_saccades"] == 0

    def test_other_data_than_the_model_is_for(self, model):
        with pytest.raises(IncompatibleModelError, match="on a fixation table"):
            check_fits(model, gathered_looks(kind="samples"))
        of_recordings = trained(gathered_looks(kind="samples")).model
        with pytest.raises(IncompatibleModelError, match="trained on recordings"):
            identify_gathered(of_recordings, gathered_looks())
        slow = gathered_looks(kind="samples")
        paths = tuple(replace(p, sampling_rate_hz=250.0) for p in slow.probes[0].scanpaths)
        slow = replace(slow, probes=(replace(slow.probes[0], scanpaths=paths),))
        with pytest.raises(IncompatibleModelError, match="has 250 Hz"):
            identify_gathered(of_recordings, slow)


@pytest.mark.parametrize("method", ["gazelive", "fisher-markov-dynamics", "markov-dynamics"])
def test_simulated_viewers_are_recognised_in_their_second_session(method):
    corpus = small_corpus()
    model = trained(gather(corpus, sessions=["1"]), method).model
    results = identify_gathered(model, gather(corpus, sessions=["2"]))
    p = [
        np.exp(r.estimate.log_probabilities[model.identifier.viewer_ids.index(r.probe.viewer)])
        for r in results
    ]
    assert np.mean(p) > 0.5  # of four, from 18 s each
