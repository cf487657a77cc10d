"""Strict reading of an experiment's TOML, and its messages."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError
from gazelive.experiment.config.reading import (
    examine_config,
    read_config,
    replay_file,
    resolved,
    snapshot,
)
from gazelive.experiment.config.schema import ExperimentConfig


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return tmp_path / "lab.toml"


def complaint(toml: Path, text: str) -> str:
    """Return the message about a file, without the file's name."""
    toml.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_config(toml)
    assert caught.value.path == toml
    return str(caught.value).replace(f"{toml}: ", "")


def check_message(toml: Path, text: str, key: str, words: str) -> None:
    """Check that the one message about a file begins with the key and contains the words."""
    said = complaint(toml, text)
    assert said.startswith(f"{key}: ")
    assert "\n" not in said
    assert [word for word in words.split("|") if word not in said] == []


def test_an_empty_file_is_all_defaults(toml: Path) -> None:
    toml.write_text("")
    assert read_config(toml) == ExperimentConfig()


def test_given_values_are_used(toml: Path) -> None:
    toml.write_text(
        'script = "other.py"\n[screen]\nwidth_mm = 530\n[identify]\nmodel = "a.model"\n'
        "stop_at = 0.99\n[stimuli]\norder_seed = 4\n"
    )
    config = read_config(toml)
    assert config.script == "other.py"
    assert config.screen.width_mm == 530.0
    assert isinstance(config.screen.width_mm, float)
    assert (config.identify.model, config.identify.stop_at) == ("a.model", 0.99)
    assert config.stimuli.order_seed == 4
    assert examine_config(toml).given == {
        "script",
        "screen.width_mm",
        "identify.model",
        "identify.stop_at",
        "stimuli.order_seed",
    }


def test_a_byte_order_mark_is_accepted(toml: Path) -> None:
    toml.write_bytes(b"\xef\xbb\xbf[trial]\r\nimage_s = 3\r\n")
    assert read_config(toml).trial.image_s == 3


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[trial]\nimage_ms = 8000", "trial.image_ms", "trial.image_s, in seconds|image_s = 8"),
        (
            "[screen]\nwidth_cm = 53.5",
            "screen.width_cm",
            "screen.width_mm, in milli|width_mm = 535",
        ),
        (
            "[screen]\nwidth = 53.5",
            "screen.width",
            "screen.width_px, in pixels, or screen.width_mm",
        ),
        ("[gate]\nradius_px = 40", "gate.radius_px", "gate.radius_deg, in degrees"),
        ("[screen]\nheigth_mm = 301", "screen.heigth_mm", "screen.height_mm"),
        ("[trial]\ndwell_s = 1", "trial.dwell_s", "gate.dwell_s"),
        ("width_px = 1", "width_px", "screen.width_px or stimuli.width_px"),
        ("[traker]\n", "traker", "unknown table|tracker"),
        ('[screen]\nscript = "a"', "screen.script", "script at the top"),
        ("[gate]\ntrial = 1", "gate.trial", "[trial]"),
        ("[simulated]\nqqq = 1", "simulated.qqq", "unknown key|[simulated] has seed"),
        ("screen = 5", "screen", "table|[screen]|not 5"),
        ("[[screen]]\nwidth_px = 5", "screen", 'table|not [{"width_px": 5}]'),
    ],
)
def test_an_unknown_key_comes_with_the_probable_one(
    toml: Path, text: str, key: str, words: str
) -> None:
    check_message(toml, text, key, words)


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ('[screen]\nfull_screen = "true"', "screen.full_screen", 'true or false|not "true"|quotes'),
        ('[screen]\nwidth_mm = "535 mm"', "screen.width_mm", 'a number above 0|not "535 mm"'),
        ("[screen]\nwidth_px = 1920.0", "screen.width_px", "whole number, 1 or more|write 1920"),
        ("[screen]\nbackground_grey = 300", "screen.background_grey", "from 0 to 255|not 300"),
        ("[trial]\ncross_area = 80", "trial.cross_area", "above 0 and at most 1|write 0.8"),
        ("[identify]\nfalse_acceptance_rate = 0.7", "identify.false_acceptance_rate", "to 0.5"),
        ("[identify]\nstranger_prior = 1", "identify.stranger_prior", "above 0 and below 1"),
        ("[identify]\nstop_at = 99", "identify.stop_at", "above 0.5 and below 1|write 0.99"),
        ("[gate]\ndwell_s = inf", "gate.dwell_s", "a number above 0|not inf"),
        ("[gate]\ndwell_s = nan", "gate.dwell_s", "a number above 0|not nan"),
        ("[gate]\ntries = true", "gate.tries", "whole number|not true"),
        (
            '[tracker]\ncalibration_type = "hv9"',
            "tracker.calibration_type",
            '"HV3", "HV5", "HV9" or "HV13"|not "hv9"|mean "HV9"?',
        ),
        (
            "[tracker]\nsampling_rate_hz = 1200",
            "tracker.sampling_rate_hz",
            "250, 500, 1000 or 2000|not 1200",
        ),
        ("[output]\nfolder = 3", "output.folder", 'text|quotes|not 3|write "3"'),
        (f"[trial]\nblank_s = 1{'0' * 400}", "trial.blank_s", "a number, 0 or more|large"),
        ("[trial]\nblank_s = 1979-05-27", "trial.blank_s", "0 or more|not 1979-05-27"),
    ],
)
def test_a_wrong_value_comes_with_the_allowed_ones(
    toml: Path, text: str, key: str, words: str
) -> None:
    check_message(toml, text, key, words)


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (
            "[screen]\neye_distance_mm = 60",
            "screen.eye_distance_mm",
            "60 mm|150 to 5000 mm|cm|write 600",
        ),
        (
            "[screen]\nwidth_mm = 53.5\nheight_mm = 301",
            "screen.width_mm",
            "53.5 mm|80 to 10000 mm|cm|write 535",
        ),
        ("[trial]\nimage_s = 8000", "trial.image_s", "8000 s|0.05 to 600 s|ms|write 8"),
        (
            "[screen]\nwidth_mm = 400\nheight_mm = 300",
            "screen.height_mm",
            "0.208 × 0.278 mm|not square",
        ),
        ("[screen]\nwidth_px = 19", "screen.width_px", "19 pixels"),
        ("[screen]\nwidth_px = 19200\nheight_px = 1080", "screen.width_mm", "0.028 mm"),
        ("[stimuli]\nheight_px = 1200", "stimuli.height_px", "1200|screen|write 1080"),
        ("[gate]\ntimeout_s = 0.2", "gate.dwell_s", "0.3 s|gate.timeout_s = 0.2"),
        ('[tracker]\ndevice = "eyelnik"', "tracker.device", '"replay:FILE"|mean "eyelink"?'),
        ('[tracker]\ndevice = "replay"', "tracker.device", 'mean "replay:FILE"?'),
        ('[tracker]\ndevice = "replay: "', "tracker.device", 'no file|"replay:recording.edf"'),
        ('[tracker]\naddress = "100.1.1.1/24"', "tracker.address", '"100.1.1.1/24"|Host PC'),
        ('[stimuli]\nfolder = " "', "stimuli.folder", "empty"),
        ('[stimuli]\nfolder = "C:\\new"', "stimuli.folder", "line break|write /"),
        ('[keys]\nabort = "esc"', "keys.abort", '"esc"|mean "escape"?'),
        ('[keys]\nskip = "S"', "keys.skip", '"S"|mean "s"?'),
        ('[keys]\nskip = "#+"', "keys.skip", '"#+"'),
        ('[keys]\npause = "s"', "keys.pause", '"s"|keys.skip'),
        (
            "[stimuli]\nn_images = 2\n[identify]\nstop_at = 0.9",
            "identify.stop_after_images",
            "3 is more than|stimuli.n_images|2",
        ),
    ],
)
def test_implausible_values_are_refused(toml: Path, text: str, key: str, words: str) -> None:
    check_message(toml, text, key, words)


def test_all_problems_are_reported_in_the_order_of_the_file(toml: Path) -> None:
    toml.write_text(
        '[keys]\nabort = "esc"\n[trial]\nimage_ms = 8\nblank_s = "a"\n[screen]\n'
        "eye_distance_mm = 60\n"
    )
    with pytest.raises(ConfigError) as caught:
        read_config(toml)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == [
        "keys.abort",
        "trial.image_ms",
        "trial.blank_s",
        "screen.eye_distance_mm",
    ]
    assert all(line.startswith(f"{toml}: ") for line in lines)
    assert caught.value.key == "keys.abort"


def test_consequences_of_a_misspelt_key_are_not_reported(toml: Path) -> None:
    said = complaint(toml, "[screen]\nwidth_cm = 40\nheight_mm = 225\n")
    assert said.startswith("screen.width_cm: unknown key")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[screen]\nwidth_px 1920", "line 2, column 10: expected '=' after a key"),
        ('folder = "..\\stimuli"', "(write / between folders, also on Windows)"),
        ("a = 0,5", "line 1, column 6: expected newline"),
        ("a = yes", "line 1, column 5: invalid value"),
        ("[screen]\n[screen]\n", "line 2, column 8: cannot declare [screen] twice"),
        ("a = 1\na = 2\n", "cannot overwrite a value"),
        ('a = "', "unterminated string"),
        ("a = " + "[" * 2000, "syntax error: maximum recursion depth"),
        ("a = " + "9" * 5000, "syntax error: exceeds the limit"),
    ],
)
def test_a_syntax_error_comes_with_its_line(toml: Path, text: str, said: str) -> None:
    assert said in complaint(toml, text)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gazelive config init"):
        read_config(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="this is a folder"):
        read_config(tmp_path)
    (tmp_path / "a.toml").write_bytes("script = 'ä'".encode("utf-16"))
    with pytest.raises(ConfigError, match="save it as UTF-8"):
        read_config(tmp_path / "a.toml")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    toml = tmp_path / "experiments" / "lab.toml"
    assert resolved("../stimuli", toml) == (tmp_path / "stimuli").resolve()
    assert resolved(str(tmp_path / "other"), toml) == (tmp_path / "other").resolve()
    assert resolved("~/images", toml) == (Path.home() / "images").resolve()


def test_the_file_of_a_replay() -> None:
    assert replay_file("replay: C:/data/a.edf ") == "C:/data/a.edf"
    assert replay_file("eyelink") is None


def test_a_snapshot_round_trips() -> None:
    config = ExperimentConfig()
    plain = msgspec.json.decode(msgspec.json.encode(snapshot(config)))
    assert plain["screen"]["eye_distance_mm"] == 600.0
    assert msgspec.convert(plain, ExperimentConfig) == config


SIMPLE = (
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=8)
)


@given(
    st.dictionaries(
        st.sampled_from(["screen", "trial", "keys", "script", "tracker", "qq"]),
        SIMPLE
        | st.dictionaries(
            st.sampled_from(["width_px", "image_s", "image_ms", "abort", "device", "eyes", "x"]),
            SIMPLE | st.lists(st.integers(), max_size=2),
        ),
    )
)
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, object]
) -> None:
    toml = tmp_path_factory.mktemp("any") / "any.toml"
    toml.write_text(_as_toml(document), encoding="utf-8")
    examined = examine_config(toml)
    if examined.problems:
        with pytest.raises(ConfigError):
            read_config(toml)
    else:
        assert read_config(toml) == examined.config


def _as_toml(document: dict[str, object]) -> str:
    top = [f"{k} = {_value(v)}" for k, v in document.items() if v is not None and not _table(v)]
    for name, part in document.items():
        if isinstance(part, dict):
            top.append(f"[{name}]")
            top += [f"{k} = {_value(v)}" for k, v in part.items() if v is not None]
    return "\n".join(top)


def _table(value: object) -> bool:
    return isinstance(value, dict)


def _value(value: object) -> str:
    if isinstance(value, str):
        return msgspec.json.encode("".join(c for c in value if c.isprintable())).decode()
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
