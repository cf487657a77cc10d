"""Model files: contents, round trips, refused files and rates."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.detection import DETECTOR_REVISION, DetectorParameters, EngbertKlieglParameters
from gazelive.errors import IncompatibleModelError, ModelError, ModelFormatError, StorageError
from gazelive.identification.fitted import Accuracy
from gazelive.identification.model_file import (
    FORMAT_VERSION,
    DetectorChoice,
    Provenance,
    load_model,
    new_model,
    save_model,
)
from gazelive.identification.registry import fit_method
from gazelive.identification.training_data import TrainingSet, training_set
from gazelive.models.storage import read_arrays, write_arrays

from ...support.people import Person, people, training_of

PROVENANCE = Provenance(
    source="corpus", sessions=("1", "2"), n_scanpaths=3, seconds=1.5, left_out=("x: y",)
)


def made(kind, method="markov", rates_hz=(1000.0,), detector=None):
    training = training_of(people(3), kind, 6, 14)
    if kind == "samples":
        rates = [rates_hz[i % len(rates_hz)] for i in range(len(training))]
        paths = zip(training.scanpaths, rates, strict=True)
        scanpaths = tuple(replace(path, sampling_rate_hz=rate) for path, rate in paths)
        training = replace(training, scanpaths=scanpaths)
    return new_model(fit_method(method, training), training, detector, PROVENANCE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "Büro.model"


class TestWhatIsKept:
    @pytest.mark.parametrize(
        "detector",
        [
            DetectorChoice(parameters=DetectorParameters()),
            DetectorChoice(method="engbert-kliegl", engbert_kliegl=EngbertKlieglParameters()),
            None,
        ],
    )
    def test_everything_comes_back(self, path, detector):
        model = made("samples", detector=detector)
        save_model(model, path)
        again = load_model(path)
        assert again.provenance == model.provenance
        assert again.detector == detector
        assert again.rate_range_hz == model.rate_range_hz
        assert again.main_sequence == model.main_sequence
        assert again.base_id == model.base_id
        assert again.kind == "samples"
        assert again.fitted.calibration == model.fitted.calibration
        assert isinstance(again.fitted.accuracy, Accuracy)
        assert again.fitted.accuracy == model.fitted.accuracy
        assert again.fitted.vigor_rate_deg == model.fitted.vigor_rate_deg

    @settings(max_examples=20)
    @given(
        entries=st.lists(
            st.tuples(
                st.sampled_from(["ä", "b", "c d"]),
                st.sampled_from(["1", "zwei"]),
                st.integers(1, 8),
                st.sampled_from([None, "a.jpg", "ö/b.png"]),
                st.sampled_from([None, 250.0, 1000.0]),
            ),
            min_size=1,
            max_size=8,
        )
    )
    def test_scanpaths_come_back_to_the_bit(self, entries):
        labelled = [
            (viewer, session, replace(Person(n).looks("samples", n, n, image), sampling_rate_hz=hz))
            for viewer, session, n, image, hz in entries
        ]
        training = training_set("samples", labelled)
        again = TrainingSet.from_arrays(*training.to_arrays(), training.viewer_ids)
        assert again.sessions == training.sessions
        np.testing.assert_array_equal(again.viewers, training.viewers)
        for a, b in zip(again.scanpaths, training.scanpaths, strict=True):
            np.testing.assert_array_equal(a.saccades, b.saccades)
            np.testing.assert_array_equal(a.fixations, b.fixations)
            assert (a.seconds, a.image, a.sampling_rate_hz) == (
                b.seconds,
                b.image,
                b.sampling_rate_hz,
            )

    def test_the_same_training_gives_the_same_base(self):
        assert made("fixations").base_id == made("fixations").base_id
        assert made("fixations").base_id != made("samples").base_id

    def test_the_main_sequence_of_the_population(self):
        sequence = made("samples").main_sequence
        assert sequence is not None
        assert len(sequence.amplitude_deg) == len(sequence.low_deg_s) > 3
        for low, median, high in zip(
            sequence.low_deg_s, sequence.median_deg_s, sequence.high_deg_s, strict=True
        ):
            assert 0 < low < median < high
        assert made("fixations").main_sequence is None


class TestRefused:
    @pytest.fixture
    def stored(self, path):
        save_model(made("fixations"), path)
        return path

    def changed(self, path, change):
        manifest, arrays = read_arrays(path)
        change(manifest)
        write_arrays(path, manifest, arrays)

    @pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, "new", None])
    def test_another_version(self, stored, version):
        self.changed(stored, lambda manifest: manifest.update(format_version=version))
        with pytest.raises(ModelFormatError, match=rf"Büro.model.*version {version}"):
            load_model(stored)

    def test_other_features(self, stored):
        def drop_last(manifest):
            manifest["columns"] = manifest["columns"][:-1]

        self.changed(stored, drop_last)
        with pytest.raises(ModelFormatError, match="other features"):
            load_model(stored)

    @settings(max_examples=10)
    @given(at=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
    def test_a_changed_byte(self, tmp_path_factory, at, change):
        path = tmp_path_factory.mktemp("m") / "a.model"
        save_model(_FIXATIONS, path)
        content = bytearray(path.read_bytes())
        content[int(at * len(content))] ^= change
        path.write_bytes(content)
        with pytest.raises(ModelFormatError):
            load_model(path)

    @pytest.mark.parametrize(
        "change",
        [
            lambda manifest: manifest.pop("viewer_ids"),
            lambda manifest: manifest.update(kind="smells"),
            lambda manifest: manifest["identifier"].update(kind="oracle"),
            lambda manifest: manifest["identifier"].pop("blocks"),
            lambda manifest: manifest["identifier"]["blocks"][0].update(types={"kind": "mood"}),
        ],
    )
    def test_a_manifest_that_makes_no_sense(self, stored, change):
        self.changed(stored, change)
        with pytest.raises(ModelError):
            load_model(stored)

    def test_no_model_and_no_file(self, path):
        with pytest.raises(ModelError, match="no such model"):
            load_model(path)
        path.write_text("viewer,image\n")
        with pytest.raises(ModelFormatError, match="no model of gazelive"):
            load_model(path)


_FIXATIONS = made("fixations")


class TestStreams:
    @pytest.mark.parametrize("rate_hz", [500.0, 1000.0, 2000.0])
    def test_rates_near_those_of_training_are_accepted(self, rate_hz):
        made("samples").check_rate(rate_hz)

    @pytest.mark.parametrize("rate_hz", [30.0, 250.0, 499.0, 2001.0])
    def test_others_are_refused(self, rate_hz):
        with pytest.raises(IncompatibleModelError, match=f"500 to 2000 Hz.* {rate_hz:g} Hz"):
            made("samples").check_rate(rate_hz)

    def test_of_several_rates_all_between_are_taken(self):
        model = made("samples", rates_hz=(250.0, 1000.0))
        for rate_hz in (125.0, 500.0, 2000.0):
            model.check_rate(rate_hz)

    def test_a_model_of_fixations_takes_no_recording(self):
        with pytest.raises(IncompatibleModelError, match="fixation table"):
            _FIXATIONS.check_rate(1000.0)


def test_saving_to_an_unwritable_folder_is_refused(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        save_model(_FIXATIONS, tmp_path / "no" / "a.model")


def test_the_manifest_is_plain_json(path):
    save_model(_FIXATIONS, path)
    manifest, _ = read_arrays(path)
    assert msgspec.json.decode(msgspec.json.encode(manifest)) == manifest
    assert manifest["provenance"]["source"] == "corpus"


def test_a_model_of_an_earlier_detector_says_so() -> None:
    old = DetectorChoice(parameters=DetectorParameters())
    assert any("train it again" in warning for warning in old.warnings)
    assert not msgspec.structs.replace(old, revision=DETECTOR_REVISION).warnings
    by_paper = DetectorChoice(method="engbert-kliegl", engbert_kliegl=EngbertKlieglParameters())
    assert not by_paper.warnings, "the algorithm of 2003 does not change"
