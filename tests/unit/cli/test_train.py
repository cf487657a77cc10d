"""`gazelive train` from the command line."""

import json
import shutil

import pytest

from gazelive import train
from gazelive.errors import ChanceError
from gazelive.identification import load_model

from ...support.people import people, small_corpus, write_table

SCREEN = ["--screen", "800x600", "--size-mm", "345x256", "--distance-mm", "570"]


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "fixations.csv", people(5), 10, 12)


class TestTables:
    def test_it_prints_accuracy_and_next_steps(self, gazelive, table, tmp_path):
        model = tmp_path / "a.model"
        exit_code, out, err = gazelive("train", table, "-o", model)
        assert (exit_code, out) == (0, "")
        assert "gazelive for 5 viewers, from 50 scanpaths with 600 saccades." in err
        assert "Accuracy by cross-validation: 0." in err
        assert "SE over viewers, n = 50" in err
        assert "Calibration: " in err
        assert err.rstrip().endswith(f"Wrote {model}. Next: gazelive identify {model} TABLE")
        assert "warning: only 10 scanpaths of a viewer: with fewer than 30" in err
        assert len(load_model(model).identifier.viewer_ids) == 5

    def test_accuracy_by_number_of_images(self, gazelive, tmp_path):
        table, model = write_table(tmp_path / "many.csv", people(3), 50, 9), tmp_path / "a.model"
        _, _, err = gazelive("train", table, "-o", model, "--method", "markov")
        told = next(line for line in err.splitlines() if line.startswith("By number of images"))
        assert "with 1 (n = 150), " in told
        assert "with 10 (n = 15), " in told
        assert "with all of a fold (n = 15)." in told
        _, out, _ = gazelive("model", "show", model, "--json")
        facts = json.loads(out)
        assert list(facts["accuracy_by_images"]) == ["1", "10", "all"]
        assert facts["accuracy_by_images"]["1"] == facts["accuracy"]
        _, out, _ = gazelive("model", "show", model)
        assert "with 10 (n = 15)" in " ".join(out.split())

    def test_quiet_leaves_warnings(self, gazelive, table, tmp_path):
        exit_code, out, err = gazelive("train", table, "-o", tmp_path / "a.model", "-q")
        assert (exit_code, out) == (0, "")
        assert all(line.startswith("warning:") for line in err.splitlines())

    def test_json(self, gazelive, table, tmp_path):
        model = tmp_path / "a.model"
        exit_code, out, _ = gazelive(
            "train", table, "-o", model, "--method", "markov", "--json", "--far", "0.05"
        )
        facts = json.loads(out)
        assert exit_code == 0
        assert facts["method"] == "markov"
        assert facts["viewers"] == [p.name for p in people(5)]
        assert facts["accuracy"]["n"] == 50
        assert facts["provenance"]["false_acceptance_rate"] == 0.05
        assert facts["base_id"] == load_model(model).base_id

    def test_pixels_take_the_screen(self, gazelive, tmp_path):
        table = write_table(tmp_path / "px.csv", people(4), 6, 12, unit="px")
        model = tmp_path / "a.model"
        exit_code, _, err = gazelive("train", table, "-o", model)
        assert exit_code == 2
        assert "--screen" in err
        assert not model.exists()
        exit_code, _, err = gazelive("train", table, "-o", model, *SCREEN)
        assert exit_code == 0
        assert err.rstrip().endswith(f"gazelive identify {model} TABLE {' '.join(SCREEN)}")
        exit_code, _, err = gazelive("identify", model, table)
        assert exit_code == 2
        assert "add --screen" in err
        assert gazelive("identify", model, table, *SCREEN).exit_code == 0

    def test_sessions_viewers_and_images_are_chosen(self, gazelive, tmp_path):
        table = write_table(tmp_path / "s.csv", people(4), 8, 12, sessions=("1", "2", "3"))
        images = tmp_path / "images.txt"
        images.write_bytes(b"\xef\xbb\xbfim1.jpg\r\nim2.jpg\r\n\r\nim3.jpg\r\n")  # from Windows
        model = tmp_path / "a.model"
        exit_code, out, _ = gazelive(
            *("train", table, "-o", model, "--json", "--method", "markov"),
            *("--sessions", "1, 3", "--images", images, "--exclude-viewers", "p0002"),
        )
        facts = json.loads(out)
        assert exit_code == 0
        assert facts["viewers"] == ["p0000", "p0001", "p0003"]
        assert facts["n_scanpaths"] == 3 * 2 * 3
        assert facts["provenance"]["sessions"] == ["1", "3"]
        assert facts["provenance"]["left_out"] == ["viewer p0002: asked for"]
        paths = load_model(model).training.scanpaths
        assert {path.image for path in paths} == {"im1.jpg", "im2.jpg", "im3.jpg"}


class TestExpectation:
    """Train ends with what to expect."""

    def test_table(self, gazelive, table, tmp_path):
        arguments = ("train", table, "-o", tmp_path / "a.model", "--method", "markov")
        exit_code, _, err = gazelive(*arguments, "--far", "0.05")
        assert exit_code == 0
        lines = err.splitlines()
        start = next(i for i, line in enumerate(lines) if line.startswith("What to expect"))
        assert "5 %" in lines[start]
        assert lines[start + 1].split() == ["viewing", "recognised", "accepted", "probes"]
        rows = [line for line in lines[start + 2 :] if line.startswith("  ")]
        assert [row.split()[:2] for row in rows] == [["5", "s"], ["10", "s"]]
        assert {len(line) for line in rows} == {len(lines[start + 1])}
        assert "another day" in lines[start + 2 + len(rows)]

    def test_json_and_model_file(self, gazelive, table, tmp_path):
        model = tmp_path / "a.model"
        _, out, _ = gazelive("train", table, "-o", model, "--method", "markov", "--json", "-q")
        facts = json.loads(out)["expectation"]
        assert [row["seconds"] for row in facts["rows"]] == [5.0, 10.0]
        assert facts["skipped"] is None
        assert facts["n_sessions"] == 1
        _, out, _ = gazelive("model", "show", model, "--json")
        assert json.loads(out)["expectation"] == facts
        gazelive("model", "forget", model, "p0001", "-q")
        assert load_model(model).expectation is None  # it was that of another gallery

    def test_too_little_is_said(self, gazelive, tmp_path):
        table = write_table(tmp_path / "one.csv", people(1), 6, 12)
        _, _, err = gazelive("train", table, "-o", tmp_path / "a.model", "--method", "markov")
        assert "What to expect is not estimated: it takes two viewers" in err

    def test_short_enrolment(self, gazelive, table, tmp_path):
        arguments = ("train", table, "-o", tmp_path / "a.model", "--method", "markov", "-q")
        _, _, err = gazelive(*arguments)
        assert "warning: enrolment is short (about 3" in err
        assert "will not be accepted" in err
        assert "enrolment is short" not in gazelive(*arguments, "--far", "0.5").err


class TestChance:
    """People who do not differ."""

    @pytest.fixture
    def alike(self, tmp_path):
        return write_table(tmp_path / "alike.csv", people(5, spread=0.0), 10, 12)

    def test_nothing_is_written(self, gazelive, alike, tmp_path):
        model = tmp_path / "a.model"
        exit_code, out, err = gazelive("train", alike, "-o", model, "--method", "markov", "-q")
        assert (exit_code, out) == (1, "")
        last = err.splitlines()[-1]
        assert last.startswith("error: ")
        assert "no better than chance" in last
        assert "--force" in last
        assert not model.exists()

    def test_force(self, gazelive, alike, tmp_path):
        model = tmp_path / "a.model"
        arguments = ("train", alike, "-o", model, "--method", "markov", "-q", "--force")
        exit_code, _, err = gazelive(*arguments)
        assert exit_code == 0
        assert "warning: markov recognises these 5 viewers no better than chance" in err
        assert len(load_model(model).identifier.viewer_ids) == 5

    def test_an_older_model_stays(self, gazelive, alike, tmp_path):
        model = tmp_path / "a.model"
        model.write_bytes(b"older")
        assert gazelive("train", alike, "-o", model, "--method", "markov").exit_code == 1
        assert model.read_bytes() == b"older"

    @pytest.mark.filterwarnings("ignore::gazelive.GazeliveWarning")
    def test_from_python(self, alike):
        with pytest.raises(ChanceError, match="no better than chance"):
            train(alike, method="markov")
        assert train(alike, method="markov", force=True).accuracy is not None


class TestShipped:
    def test_it_can_be_switched_off(self, gazelive, tmp_path):
        paths = [tmp_path / "with.model", tmp_path / "without.model"]
        for path, flags in zip(paths, ([], ["--no-shipped"]), strict=True):
            assert gazelive("train", small_corpus(), "-o", path, "-q", *flags).exit_code == 0
        first, second = map(load_model, paths)
        assert first.provenance.shipped
        assert not second.provenance.shipped
        assert first.base_id != second.base_id
        assert "without shipped priors" in second.fitted.calibration
        assert gazelive("model", "refit", paths[1], "-q").exit_code == 0
        assert "without shipped priors" in load_model(paths[1]).fitted.calibration


class TestFewData:
    def test_one_viewer(self, gazelive, tmp_path):
        table = write_table(tmp_path / "one.csv", people(1), 6, 12)
        model = tmp_path / "a.model"
        exit_code, _, err = gazelive("train", table, "-o", model)
        assert exit_code == 0
        assert "warning: only one viewer" in err
        _, out, _ = gazelive("identify", model, table, "-q")
        assert "p0000, the only one enrolled" in out

    @pytest.mark.parametrize("method", ["gazelive", "fisher-markov", "markov"])
    def test_one_image(self, gazelive, tmp_path, method):
        table = write_table(tmp_path / "one.csv", people(4), 1, 25)
        model = tmp_path / "a.model"
        exit_code, _, err = gazelive("train", table, "-o", model, "--method", method)
        assert exit_code == 0
        assert "warning: fewer than 100 saccades of p0000, p0001, p0002, p0003" in err
        assert "warning: only 1 scanpath of a viewer" in err
        assert "nan" not in err.lower()
        exit_code, out, _ = gazelive("identify", model, table, "--json", "-q")
        assert exit_code == 0
        assert "NaN" not in out

    def test_three_saccades(self, gazelive, tmp_path):
        table = write_table(tmp_path / "few.csv", people(2), 1, 3)
        exit_code, _, err = gazelive("train", table, "-o", tmp_path / "a.model")
        assert exit_code == 2
        assert "no viewer has 20 saccades" in err
        assert not (tmp_path / "a.model").exists()

    def test_viewers_with_too_little_data_are_left_out(self, gazelive, table, tmp_path):
        with table.open("a") as file:
            file.write("late,im1.jpg,1,1,1,200\nlate,im1.jpg,2,5,5,200\n")
        exit_code, _, err = gazelive("train", table, "-o", tmp_path / "a.model")
        assert exit_code == 0
        assert "warning: late is left out: 1 saccade is too few" in err
        assert "for 5 viewers" in err


class TestCorpora:
    def test_recordings(self, gazelive, tmp_path):
        model = tmp_path / "a.model"
        exit_code, _, err = gazelive("train", small_corpus(), "-o", model, "--sessions", "1")
        assert exit_code == 0
        assert "gazelive for 4 viewers, from 24 scanpaths" in err
        assert "one session per viewer" in err
        assert "default temperature" in err  # which calibration is used is said
        assert err.rstrip().endswith(
            f"Next: gazelive identify {model} {small_corpus()} --session 2"
        )
        assert load_model(model).rate_range_hz == (125.0, 500.0)

    def test_without_texture(self, gazelive, tmp_path):
        names = []
        for flag in ("--texture", "--no-texture"):
            _, out, _ = gazelive(
                "train", small_corpus(), "-o", tmp_path / "a.model", "--json", "-q", flag
            )
            names.append(json.loads(out)["provenance"]["texture"])
        assert names == [True, False]

    def test_a_broken_recording_is_left_out(self, gazelive, tmp_path):
        folder = tmp_path / "corpus"
        folder.mkdir()
        lines = ["recording,viewer,session"]
        for viewer in ("v001", "v002"):
            shutil.copytree(small_corpus() / f"{viewer}_s1", folder / viewer)
            lines.append(f"{viewer},{viewer},1")
        (folder / "cut.asc").write_text("MSG 12 broken\n")
        lines.append("cut.asc,v003,1")
        (folder / "corpus.csv").write_text("\n".join(lines) + "\n")
        exit_code, _, err = gazelive(
            "train", folder, "-o", tmp_path / "a.model", "--method", "markov", "--force"
        )
        assert exit_code == 0
        assert "cut.asc" in err
        assert "the recording is left out" in err
        assert "markov for 2 viewers" in err
        (folder / "corpus.csv").write_text("\n".join([lines[0], lines[-1]]) + "\n")
        exit_code, _, err = gazelive("train", folder, "-o", tmp_path / "b.model")
        assert exit_code == 2
        assert "no recordings left" in err
        assert "cut.asc" in err


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--method", "oracle"], "--method: must be one of gazelive, fisher-markov-dynamics"),
            (["--method", "markov-dynamics"], "needs recordings"),
            (["--exclude-viewers", "zoe"], "has no viewer zoe; it has p0000"),
            (["--sessions", "4"], "has no session 4"),
            (["--images", "nowhere.txt"], "cannot be read as a list of images"),
            (["--exclude-viewers", "p0000,p0001,p0002,p0003,p0004"], "no recordings left"),
            (["--screen", "800"], "--screen"),
            (["--stimuli", "nowhere"], "--stimuli: nowhere: there is no such folder"),
            (["--far", "0.9"], "--far"),
        ],
    )
    def test_options(self, gazelive, table, tmp_path, arguments, message):
        exit_code, _, err = gazelive("train", table, "-o", tmp_path / "a.model", *arguments)
        assert exit_code == 2
        assert message in err
        assert "Traceback" not in err
        assert not (tmp_path / "a.model").exists()

    @pytest.mark.parametrize(
        ("output", "message"),
        [
            (".", "is a folder"),
            ("no/such/a.model", "there is no such folder"),
            ("fixations.csv", "is the training data"),
        ],
    )
    def test_outputs_are_looked_at_before_anything_takes_time(
        self, gazelive, table, tmp_path, output, message
    ):
        before = table.read_bytes()
        exit_code, _, err = gazelive("train", table, "-o", tmp_path / output)
        assert exit_code == 2
        assert message in err
        assert table.read_bytes() == before

    def test_sources(self, gazelive, tmp_path):
        model = tmp_path / "a.model"
        exit_code, _, err = gazelive("train", tmp_path / "none", "-o", model)
        assert (exit_code, "no such file or folder" in err) == (2, True)
        (tmp_path / "t.csv").write_text("viewer,image,duration_ms\na,b,3\n")
        exit_code, _, err = gazelive("train", tmp_path / "t.csv", "-o", model)
        assert (exit_code, "a fixation table needs viewer,image,fixation,x_px" in err) == (2, True)
        exit_code, _, err = gazelive("train", small_corpus() / "v001_s1", "-o", model)
        assert (exit_code, "no viewers are named" in err) == (2, True)

    def test_images_that_name_nothing(self, gazelive, table, tmp_path):
        images = tmp_path / "images.txt"
        for text, message in (("\n \n", "no image names"), ("mars.jpg\n", "none of the 1 images")):
            images.write_text(text)
            exit_code, _, err = gazelive(
                "train", table, "-o", tmp_path / "a.model", "--images", images
            )
            assert (exit_code, message in err) == (2, True)
        images.write_text("\n".join(f"im{i}.jpg" for i in range(12)))
        exit_code, _, err = gazelive(
            *("train", table, "-o", tmp_path / "a.model", "--images", images, "--method", "markov")
        )
        assert exit_code == 0
        assert "warning: 2 of the 12 images named are not in" in err
