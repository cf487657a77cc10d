"""`gazelive model` from the command line."""

import functools
import json
import tempfile
from pathlib import Path

import pytest

from gazelive.identification.fitted import Options
from gazelive.identification.model_file import TrainedModel, load_model, save_model
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Detector
from gazelive.workflows.training import train_gathered

from ...support.people import people, small_corpus, write_table


@functools.cache
def trained(n_viewers: int = 4) -> TrainedModel:
    with tempfile.TemporaryDirectory() as folder:
        table = write_table(Path(folder) / "train.csv", people(n_viewers), 10, 12)
        return train_gathered(gather(table), table, "fisher-markov", Options(), Detector()).model


@pytest.fixture
def model(tmp_path):
    save_model(trained(), tmp_path / "a.model")
    return tmp_path / "a.model"


@pytest.fixture
def newcomers(tmp_path):
    return write_table(tmp_path / "new.csv", people(3, first=20), 10, 12)


def viewers_in(path):
    return load_model(path).identifier.viewer_ids


class TestShow:
    def test_in_words(self, gazelive, model):
        exit_code, out, _ = gazelive("model", "show", model)
        assert exit_code == 0
        assert "fisher-markov (Fisher SVM)" in out.splitlines()[0]
        assert "4: p0000, p0001, p0002, p0003\n" in out
        assert "train.csv" in out
        assert "None" not in out
        assert "{" not in out

    def test_in_json(self, gazelive, model):
        _, out, _ = gazelive("model", "show", model, "--json")
        facts = json.loads(out)
        assert facts["n_viewers"] == 4
        assert facts["kind"] == "fixations"
        assert facts["method_kind"] == "Fisher SVM"
        assert facts["base_id"] == load_model(model).base_id

    def test_of_recordings(self, gazelive, tmp_path):
        path = tmp_path / "r.model"
        gazelive("train", small_corpus(), "-o", path, "-q", "--method", "markov-dynamics")
        _, out, _ = gazelive("model", "show", path)
        assert "125 to 500 Hz" in out
        assert "settled" in out
        _, out, _ = gazelive("model", "show", path, "--json")
        assert json.loads(out)["detector"]["parameters"]["threshold_noise"] > 0

    def test_no_model(self, gazelive, tmp_path):
        exit_code, _, err = gazelive("model", "show", tmp_path / "none.model")
        assert (exit_code, "there is no such model" in err) == (2, True)


class TestEnrol:
    def test_all_viewers_of_a_table(self, gazelive, model, newcomers):
        exit_code, _, err = gazelive("model", "enrol", model, newcomers)
        assert exit_code == 0
        assert "Enrolled p0020, p0021, p0022: 7 viewers in" in err
        assert f"gazelive model refit {model}" in err
        assert viewers_in(model)[-3:] == ("p0020", "p0021", "p0022")
        _, out, _ = gazelive("identify", model, newcomers, "--json")
        best = [probe["best"] for probe in json.loads(out)["probes"]]
        assert best == ["p0020", "p0021", "p0022"]

    def test_some_of_them_into_another_file(self, gazelive, model, newcomers, tmp_path):
        before = model.read_bytes()
        other = tmp_path / "other.model"
        exit_code, _, err = gazelive(
            "model", "enrol", model, newcomers, "--viewers", "p0021", "-o", other, "-q"
        )
        assert exit_code == 0
        assert all(line.startswith("warning:") for line in err.splitlines())
        assert viewers_in(other)[-1:] == ("p0021",)
        assert len(viewers_in(other)) == 5
        assert model.read_bytes() == before

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--viewers", "zoe"], "--viewers: not in"),
            (["--sessions", "9"], "has no session 9"),
        ],
    )
    def test_slips(self, gazelive, model, newcomers, arguments, message):
        before = model.read_bytes()
        exit_code, _, err = gazelive("model", "enrol", model, newcomers, *arguments)
        assert exit_code == 2
        assert message in err
        assert model.read_bytes() == before

    def test_a_session_of_an_enrolled_viewer(self, gazelive, model, tmp_path):
        table = write_table(tmp_path / "b.csv", people(2, first=3), 4, 12, sessions=("b", "c"))
        exit_code, _, err = gazelive("model", "enrol", model, table)
        assert exit_code == 0
        assert "Enrolled p0004; 2 more sessions of p0003: 5 viewers in" in err
        assert viewers_in(model) == tuple(f"p000{i}" for i in range(5))
        _, out, _ = gazelive("model", "show", model)
        assert "enrolled 1 viewer, 2 more sessions of 1 viewer" in out

    def test_a_session_that_the_model_has_is_refused(self, gazelive, model, tmp_path):
        table = write_table(tmp_path / "again.csv", people(2, first=3), 4, 12)
        before = model.read_bytes()
        exit_code, _, err = gazelive("model", "enrol", model, table)
        assert exit_code == 2
        assert "p0003 (a session without a name) is enrolled already" in err
        assert model.read_bytes() == before
        assert gazelive("model", "enrol", model, table, "--viewers", "p0004").exit_code == 0

    def test_too_little(self, gazelive, model, tmp_path):
        table = write_table(tmp_path / "few.csv", people(1, first=30), 1, 5)
        exit_code, _, err = gazelive("model", "enrol", model, table)
        assert exit_code == 2
        assert "no viewer has 20 saccades" in err

    def test_recordings_into_a_model_of_a_table(self, gazelive, model):
        exit_code, _, err = gazelive("model", "enrol", model, small_corpus(), "--sessions", "1")
        assert exit_code == 2
        assert "trained on a fixation table" in err


class TestForget:
    def test_they_are_gone(self, gazelive, model):
        exit_code, _, err = gazelive("model", "forget", model, "p0001", "p0003")
        assert exit_code == 0
        assert "Forgot p0001, p0003: 2 viewers left in" in err
        assert viewers_in(model) == ("p0000", "p0002")
        assert b"p0001" not in model.read_bytes()

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["zoe"], "zoe is not in the model, which has p0000, p0001"),
            (["p0000", "p0001", "p0002", "p0003"], "no viewer would be left"),
        ],
    )
    def test_slips(self, gazelive, model, names, message):
        before = model.read_bytes()
        exit_code, _, err = gazelive("model", "forget", model, *names)
        assert exit_code == 2
        assert message in err
        assert model.read_bytes() == before


def test_refit(gazelive, model, newcomers, tmp_path):
    gazelive("model", "enrol", model, newcomers, "-q")
    exit_code, _, err = gazelive("model", "refit", model, "-o", tmp_path / "b.model")
    assert exit_code == 0
    assert "fisher-markov for 7 viewers" in err
    assert "Accuracy by cross-validation" in err
    assert f"Wrote {tmp_path / 'b.model'}" in err
    assert load_model(tmp_path / "b.model").base_id != load_model(model).base_id


class TestMerge:
    def test_the_viewers_of_both(self, gazelive, model, newcomers, tmp_path):
        other, both = tmp_path / "b.model", tmp_path / "both.model"
        gazelive("model", "enrol", model, newcomers, "--viewers", "p0020", "-o", other, "-q")
        gazelive("model", "enrol", model, newcomers, "--viewers", "p0021", "-q")
        exit_code, _, err = gazelive("model", "merge", model, other, "-o", both)
        assert exit_code == 0
        assert f"6 viewers in {both}" in err
        assert viewers_in(both)[-2:] == ("p0021", "p0020")

    def test_another_base(self, gazelive, model, tmp_path):
        other = tmp_path / "b.model"
        save_model(trained(3), other)
        exit_code, _, err = gazelive("model", "merge", model, other, "-o", tmp_path / "c.model")
        assert exit_code == 2
        assert "the models have different bases" in err
        assert not (tmp_path / "c.model").exists()
