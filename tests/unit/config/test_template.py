"""The TOML that a lab begins with says what the schema says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from gazelive.config.reading import examine_config, read_config, snapshot
from gazelive.config.schema import ExperimentConfig, Screen, Task
from gazelive.config.starting import write_start
from gazelive.config.summary import summary
from gazelive.config.template import effective, field_texts, key_names, template
from gazelive.errors import ConfigError

COMMITTED = Path(__file__).parents[3] / "experiments" / "scene_viewing.toml"


def test_the_committed_file_is_what_init_writes() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == template(), (
        "the schema changed: gazelive config init experiments/scene_viewing.toml --replace"
    )


def test_the_committed_script_is_what_init_writes(tmp_path: Path) -> None:
    toml, script = write_start(tmp_path).made
    assert (toml.name, script.name) == ("scene_viewing.toml", "scene_viewing.py")
    assert script.read_bytes() == COMMITTED.with_suffix(".py").read_bytes()


def test_it_says_the_defaults_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_text(template(), encoding="utf-8")
    assert read_config(path) == ExperimentConfig()
    optional = {"stimuli.order_seed", "identify.model", "identify.stop_at"}
    assert examine_config(path).given == set(key_names()) - optional


def test_optional_keys_can_be_taken_out_of_their_comments(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    text = template()
    for key in ("order_seed", "model", "stop_at"):
        assert f"\n# {key} = " in text
        text = text.replace(f"\n# {key} = ", f"\n{key} = ")
    path.write_text(text, encoding="utf-8")
    assert examine_config(path).given == set(key_names())
    assert read_config(path).identify.stop_at == 0.99


def test_every_text_is_above_its_key() -> None:
    texts = field_texts()
    assert texts["screen.eye_distance_mm"] == "From the eye to the middle of the screen."
    assert texts["gate"] == "The image appears once gaze has rested on the cross."
    lines = template().splitlines()
    assert lines[lines.index("eye_distance_mm = 600.0") - 1] == (
        "# From the eye to the middle of the screen."
    )
    assert '# How many targets a calibration shows. Choices: "HV3", "HV5", "HV9", "HV13".' in lines
    assert max(map(len, lines)) <= 100


def test_what_holds_is_shown_with_its_defaults_marked() -> None:
    config = ExperimentConfig(
        screen=Screen(width_mm=530.0), task=Task(farewell='A "quote"""\nand a \\ line')
    )
    text = effective(config, frozenset({"screen.width_mm", "task.farewell"}))
    assert "\nwidth_mm = 530.0\n" in text
    assert "\nheight_mm = 301.0  # default\n" in text
    assert "\n# model is not set\n" in text
    assert msgspec.convert(tomllib.loads(text), ExperimentConfig) == config


def test_a_start_overwrites_nothing_unasked(tmp_path: Path) -> None:
    start = write_start(tmp_path / "lab")
    assert start.toml == tmp_path / "lab" / "scene_viewing.toml"
    assert start.toml in start.made
    with pytest.raises(ConfigError, match="--replace"):
        write_start(tmp_path / "lab")
    start.toml.write_text("")
    write_start(start.toml, replace=True)
    assert start.toml.read_text(encoding="utf-8") == template()


def test_a_script_that_is_there_is_kept(tmp_path: Path) -> None:
    toml, script = tmp_path / "second.toml", tmp_path / "scene_viewing.py"
    script.write_text("mine")
    assert write_start(toml).made == (toml,)
    assert write_start(toml, replace=True).made == (toml,)
    assert script.read_text() == "mine"
    assert write_start(tmp_path).made == (tmp_path / "scene_viewing.toml",)
    assert write_start(tmp_path, replace=True).made[1] == script
    assert script.read_text() != "mine"


def test_the_summary_is_of_this_configuration() -> None:
    config = msgspec.convert(
        snapshot(ExperimentConfig())
        | {"identify": {"model": "lab.model", "stop_at": 0.9}, "stimuli": {"n_images": 6}},
        ExperimentConfig,
    )
    text = "\n".join(summary(config))
    assert "48.1 × 28.2°" in text
    assert "up to 6 of ../stimuli" in text
    assert "with lab.model, stops early at 0.9" in text
    assert "eyelink at 100.1.1.1, 1000 Hz, right eye" in text
