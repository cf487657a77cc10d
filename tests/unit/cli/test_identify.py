"""`gazelive identify` from the command line."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gazelive.identification.fitted import Options
from gazelive.identification.model_file import TrainedModel, load_model, save_model
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Detector
from gazelive.workflows.training import train_gathered

from ...support.people import people, small_corpus, write_table


@functools.cache
def of_table(method: str = "fisher-markov", n_viewers: int = 5) -> TrainedModel:
    with tempfile.TemporaryDirectory() as folder:
        table = write_table(Path(folder) / "train.csv", people(n_viewers), 20, 12)
        return train_gathered(gather(table), table, method, Options(), Detector()).model


@functools.cache
def of_corpus() -> TrainedModel:
    corpus = small_corpus()
    return train_gathered(
        gather(corpus, sessions=["1"]), corpus, "gazelive", Options(), Detector()
    ).model


@pytest.fixture
def model(tmp_path):
    save_model(of_table(), tmp_path / "a.model")
    return tmp_path / "a.model"


@pytest.fixture
def corpus_model(tmp_path):
    save_model(of_corpus(), tmp_path / "corpus.model")
    return tmp_path / "corpus.model"


@pytest.fixture
def probes(tmp_path):
    return write_table(tmp_path / "probes.csv", people(5), 8, 12, seed=500)


class TestTables:
    def test_one_line_for_each_label(self, gazelive, model, probes):
        exit_code, out, err = gazelive("identify", model, probes)
        assert exit_code == 0
        lines = out.splitlines()
        assert len(lines) == 5
        assert "5 probes" in err
        right = [line for line, p in zip(lines, people(5), strict=True) if f"({p.name} " in line]
        assert len(right) >= 4
        assert all("saccades, " in line and "nobody enrolled " in line for line in lines)

    def test_json_is_a_summary(self, gazelive, model, probes):
        exit_code, out, err = gazelive("identify", model, probes, "--json", "-q")
        assert (exit_code, err) == (0, "")
        content = json.loads(out)
        for probe in content["probes"]:
            assert not {"course", "scanpaths"} & set(probe)
            assert (probe["n_scanpaths"], probe["n_saccades"]) == (8, 96)
            assert probe["verdict"] == (probe["best"] if probe["accepted"] else None)
            assert probe["accepted"] in (True, False)
            assert (" accepted at 1 %" in probe["headline"]) or not probe["accepted"]
        _, out, _ = gazelive("identify", model, probes, "--json", "--course")
        for summary, probe in zip(content["probes"], json.loads(out)["probes"], strict=True):
            del probe["course"], probe["scanpaths"]
            assert summary == probe

    def test_images(self, gazelive, model, probes, tmp_path):
        chosen = tmp_path / "images.txt"
        chosen.write_text("im1.jpg\nim3.jpg\nsea.jpg\n")
        arguments = ("--images", chosen, "--json", "--course")
        exit_code, out, err = gazelive("identify", model, probes, *arguments)
        assert exit_code == 0
        assert "1 of the 3 images named are not in" in err
        for probe in json.loads(out)["probes"]:
            assert [single["image"] for single in probe["scanpaths"]] == ["im1.jpg", "im3.jpg"]
        chosen.write_text("sea.jpg\n")
        exit_code, _, err = gazelive("identify", model, probes, *arguments)
        assert (exit_code, "none of the 1 images named is in" in err) == (2, True)

    def test_course_is_complete(self, gazelive, model, probes):
        exit_code, out, err = gazelive("identify", model, probes, "--json", "--course", "-q")
        assert (exit_code, err) == (0, "")
        content = json.loads(out)
        assert content["viewers"] == [p.name for p in people(5)]
        assert [probe["probe"] for probe in content["probes"]] == content["viewers"]
        for probe in content["probes"]:
            assert probe["n_scanpaths"] == len(probe["scanpaths"]) == 8
            assert probe["n_saccades"] == 96
            assert len(probe["course"]) == 96 + 8
            assert probe["course"][-1]["p"] == pytest.approx(max(probe["posterior"].values()))
            assert "explanation" not in probe

    def test_the_names_in_the_table_do_not_help(self, gazelive, model, probes):
        _, honest, _ = gazelive("identify", model, probes, "--json")
        text = probes.read_text().replace("p0000", "x").replace("p0001", "p0000")
        probes.write_text(text.replace("x,", "p0001,"))
        _, swapped, _ = gazelive("identify", model, probes, "--json")
        first, second = (json.loads(text)["probes"] for text in (honest, swapped))
        assert second[0]["probe"] == "p0001"
        assert second[0]["posterior"] == first[0]["posterior"]
        assert second[1]["posterior"] == first[1]["posterior"]

    def test_sessions(self, gazelive, model, tmp_path):
        table = write_table(tmp_path / "s.csv", people(2), 4, 12, sessions=("1", "2"), seed=500)

        def identified(*arguments):
            _, out, _ = gazelive("identify", model, table, "--json", *arguments)
            return json.loads(out)["probes"]

        both, second = identified(), identified("--session", "2")
        assert [(p["probe"], p["n_scanpaths"]) for p in both] == [("p0000", 8), ("p0001", 8)]
        assert [(p["probe"], p["n_scanpaths"]) for p in second] == [("p0000", 4), ("p0001", 4)]
        assert identified("--session", "1,2") == both

    def test_prior(self, gazelive, model, probes):
        def posterior(*arguments):
            _, out, _ = gazelive("identify", model, probes, "--json", *arguments)
            return json.loads(out)["probes"][0]["posterior"]

        even, odd = posterior(), posterior("--prior", "p0001=1000, p0002=0.001")
        ratio = {name: odd[name] / even[name] for name in even}
        assert ratio["p0001"] / ratio["p0000"] == pytest.approx(1000, rel=1e-3)
        assert ratio["p0002"] / ratio["p0000"] == pytest.approx(0.001, rel=1e-3)
        assert ratio["p0003"] == pytest.approx(ratio["p0004"], rel=1e-3)

    def test_explain(self, gazelive, model, probes):
        _, out, _ = gazelive("identify", model, probes, "--explain", "-q")
        assert "+" in out
        assert "frequency of turn" in out
        _, out, _ = gazelive("identify", model, probes, "--explain", "--json")
        for probe in json.loads(out)["probes"]:
            told = probe["explanation"]
            assert {entry["feature"] for entry in told} >= {"amplitude", "duration"}
            assert sum(entry["evidence"] for entry in told) > 0

    def test_a_label_with_one_fixation(self, gazelive, model, probes):
        with probes.open("a") as file:
            file.write("late,im1.jpg,1,1,1,200\n")
        exit_code, out, _ = gazelive("identify", model, probes, "-q")
        assert exit_code == 0
        assert out.splitlines()[-1].startswith("late: no saccades")
        _, out, _ = gazelive("identify", model, probes, "--json")
        last = json.loads(out)["probes"][-1]
        assert (last["probe"], last["best"], last["accepted"]) == ("late", None, False)
        assert last["unknown"] == pytest.approx(0.1), "the prior"
        assert last["headline"].startswith("no saccades")

    def test_the_terms_are_the_users(self, gazelive, model, probes):
        def told(*options):
            _, out, err = gazelive("identify", model, probes, "--json", "-q", *options)
            assert err == ""
            return json.loads(out)["probes"]

        few, many = told("--stranger-prior", 0.01), told("--stranger-prior", 0.6)
        assert all(a["unknown"] < b["unknown"] for a, b in zip(few, many, strict=True))
        strict, lax = told("--far", 0.0001), told("--far", 0.5)
        assert all(a["accepted"] <= b["accepted"] for a, b in zip(strict, lax, strict=True))
        assert sum(probe["accepted"] for probe in lax) >= 4
        assert any("at 50 % false acceptance" in probe["headline"] for probe in lax)

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("--far", "0.6"),
            ("--far", "0"),
            ("--far", "nan"),
            ("--stranger-prior", "0"),
            ("--stranger-prior", "1"),
            ("--stranger-prior", "nan"),
        ],
    )
    def test_terms_out_of_range(self, gazelive, model, probes, option, value):
        exit_code, out, err = gazelive("identify", model, probes, option, value)
        assert (exit_code, out) == (2, "")
        assert option in err
        assert "must be" in err
        assert len(err.splitlines()) == 1

    @pytest.mark.parametrize("name", ["[bold]anna[/bold]", "a=b", "Ærøskøbing 3"])
    def test_odd_names(self, gazelive, tmp_path, probes, name):
        text = probes.read_text(encoding="utf-8").replace("p0001", name)
        probes.write_text(text, encoding="utf-8")
        model = tmp_path / "odd.model"
        assert gazelive("train", probes, "-o", model, "-q", "--method", "markov").exit_code == 0
        exit_code, out, _ = gazelive("identify", model, probes, "-q", "--prior", f"{name}=2")
        assert exit_code == 0
        assert any(line.startswith(f"{name}: ") for line in out.splitlines())


class TestRecordings:
    def test_a_session_of_a_corpus(self, gazelive, corpus_model):
        exit_code, out, _ = gazelive(
            "identify", corpus_model, small_corpus(), "--session", "2", "--json", "--course", "-q"
        )
        assert exit_code == 0
        content = json.loads(out)
        assert [p["probe"] for p in content["probes"]] == [f"v00{i}_s2" for i in range(1, 5)]
        right = [p["best"] == p["probe"].removesuffix("_s2") for p in content["probes"]]
        assert sum(right) >= 3
        for probe in content["probes"]:
            assert probe["seconds"] == pytest.approx(18, abs=0.2)
            assert all(single["image"] for single in probe["scanpaths"])
            times = [step["t_s"] for step in probe["course"]]
            assert times == sorted(times)

    def test_one_recording(self, gazelive, corpus_model):
        exit_code, out, _ = gazelive(
            "identify", corpus_model, small_corpus() / "v003_s2", "--explain", "-q"
        )
        assert exit_code == 0
        first, *explained = out.splitlines()
        assert first.startswith("v003_s2: ")
        head, *features = explained
        assert "log odds" in head
        assert 0 < len(features) <= 13


class TestImages:
    """A model that was trained with the images needs them."""

    @pytest.fixture
    def seeing(self, gazelive, tmp_path):
        folder = tmp_path / "images"
        folder.mkdir()
        for number in range(3):
            pixels = np.full((40, 60, 3), 60 * number, np.uint8)
            pixels[10 : 20 + 3 * number, 5:15] = 200
            Image.fromarray(pixels).save(folder / f"im{number}.jpg")
        table = write_table(tmp_path / "train.csv", people(2), 3, 9)
        path = tmp_path / "seeing.model"
        options = ("--method", "fisher-scenewalk", "--stimuli", folder, "-q", "--force")
        exit_code, _, err = gazelive("train", table, "-o", path, *options)
        assert exit_code == 0
        assert "centre bias" not in err
        return path, folder

    def test_stimuli_option_gives_the_images(self, gazelive, seeing, tmp_path):
        model, folder = seeing
        table = write_table(tmp_path / "new.csv", people(2), 3, 9, seed=500)
        exit_code, _, err = gazelive("identify", model, table, "-q")
        assert (exit_code, "--stimuli" in err) == (2, True)
        exit_code, _, err = gazelive("identify", model, table, "-q", "--stimuli", folder)
        assert (exit_code, err) == (0, "")
        (folder / "im1.jpg").unlink()
        exit_code, _, err = gazelive("identify", model, table, "-q", "--stimuli", folder)
        assert exit_code == 0
        assert "im1.jpg is not in" in err
        assert "centre bias" in err

    def test_enrolling_needs_them_too(self, gazelive, seeing, tmp_path):
        model, folder = seeing
        table = write_table(tmp_path / "new.csv", people(2, first=7), 3, 9)
        exit_code, _, err = gazelive("model", "enrol", model, table, "-q")
        assert (exit_code, "--stimuli" in err) == (2, True)
        outcome = gazelive("model", "enrol", model, table, "-q", "--stimuli", folder)
        assert outcome.exit_code == 0
        assert load_model(model).identifier.viewer_ids[2:] == ("p0007", "p0008")


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--prior", "zoe=3"], "--prior: not in the model: zoe"),
            (["--prior", "p0001"], "--prior: must be name=number, not p0001"),
            (["--prior", "p0001=much"], "--prior: must be name=number, not p0001=much"),
            (["--prior", "p0001=0"], "--prior: needs numbers above 0"),
            (["--prior", "p0001=inf"], "--prior: needs numbers above 0"),
            (["--session", "4"], "has no session 4"),
            (["--stimuli", "nowhere"], "--stimuli: nowhere: there is no such folder"),
        ],
    )
    def test_options(self, gazelive, model, probes, arguments, message):
        exit_code, out, err = gazelive("identify", model, probes, *arguments)
        assert (exit_code, out) == (2, "")
        assert message in err

    def test_a_table_for_a_model_of_recordings(self, gazelive, corpus_model, probes):
        exit_code, _, err = gazelive("identify", corpus_model, probes)
        assert exit_code == 2
        assert "trained on recordings" in err

    def test_a_recording_for_a_model_of_a_table(self, gazelive, model):
        exit_code, _, err = gazelive("identify", model, small_corpus() / "v001_s1")
        assert exit_code == 2
        assert "trained on a fixation table" in err

    def test_a_corpus_is_refused_before_anything_in_it_is_read(self, gazelive, model, tmp_path):
        (tmp_path / "broken.asc").write_text("no recording at all")
        (tmp_path / "corpus.csv").write_text("recording,viewer,session\nbroken.asc,anna,1\n")
        exit_code, _, err = gazelive("identify", model, tmp_path)
        assert exit_code == 2
        assert "trained on a fixation table" in err
        assert "broken.asc" not in err

    def test_another_rate(self, gazelive, corpus_model, tmp_path, eye_steps):
        times_us, x, y = eye_steps
        rows = [f"{t / 1000},{a:.4f},{b:.4f}" for t, a, b in zip(times_us, x, y, strict=True)]
        path = tmp_path / "fast.csv"
        path.write_text("t_ms,x_deg,y_deg\n" + "\n".join(rows) + "\n")
        exit_code, _, err = gazelive("identify", corpus_model, path)
        assert exit_code == 2
        assert "125 to 500 Hz" in err

    def test_no_model(self, gazelive, model, probes, tmp_path):
        exit_code, _, err = gazelive("identify", tmp_path / "none.model", probes)
        assert (exit_code, "there is no such model: make one with gazelive train" in err) == (
            2,
            True,
        )
        exit_code, _, err = gazelive("identify", probes, probes)
        assert (exit_code, "is no model of gazelive" in err) == (2, True)
        content = bytearray(model.read_bytes())
        content[len(content) // 2] ^= 1
        model.write_bytes(content)
        exit_code, _, err = gazelive("identify", model, probes)
        assert (exit_code, "is damaged (its checksum is wrong)" in err) == (2, True)

    def test_nothing_to_identify(self, gazelive, model, tmp_path):
        exit_code, _, err = gazelive("identify", model, tmp_path / "none.csv")
        assert (exit_code, "no such file" in err) == (2, True)
