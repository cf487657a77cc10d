"""The TOML that a lab begins with says what the schema says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from gazelive.errors import ConfigError
from gazelive.experiment.config.reading import examine_config, read_config, snapshot
from gazelive.experiment.config.schema import ExperimentConfig, Screen, Task
from gazelive.experiment.config.summary import summary
from gazelive.experiment.config.template import (
    N_PAINTED,
    effective,
    field_texts,
    key_names,
    template,
    write_start,
)
from gazelive.experiment.process.named_files import missing_files
from gazelive.stimuli import images_in, paint_images

COMMITTED = Path(__file__).parents[4] / "experiments" / "scene_viewing.toml"


def test_the_committed_file_is_what_init_writes() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == template(), (
        "the schema changed: gazelive config init experiments/scene_viewing.toml --replace"
    )


def test_the_committed_script_is_what_init_writes(tmp_path: Path) -> None:
    toml, script, _ = write_start(tmp_path).made
    assert (toml.name, script.name) == ("scene_viewing.toml", "scene_viewing.py")
    assert script.read_bytes() == COMMITTED.with_suffix(".py").read_bytes()


def test_it_contains_exactly_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    path.write_text(template(), encoding="utf-8")
    assert read_config(path) == ExperimentConfig()
    optional = {
        "stimuli.order_seed",
        "identify.model",
        "identify.false_acceptance_rate",
        "identify.stop_at",
    }
    assert examine_config(path).given == set(key_names()) - optional


def test_optional_keys_can_be_uncommented(tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    text = template()
    for key in ("order_seed", "model", "false_acceptance_rate", "stop_at"):
        assert f"\n# {key} = " in text
        text = text.replace(f"\n# {key} = ", f"\n{key} = ")
    path.write_text(text, encoding="utf-8")
    assert examine_config(path).given == set(key_names())
    assert read_config(path).identify.stop_at == 0.99


def test_the_comment_of_each_key_is_the_text_of_its_field() -> None:
    texts = field_texts()
    assert {"gate", "screen.eye_distance_mm", "tracker.calibration_type"} <= set(texts)
    lines = template().splitlines()
    comment = lines[lines.index("eye_distance_mm = 600.0") - 1]
    assert comment == f"# {texts['screen.eye_distance_mm']}"
    assert lines[lines.index("[gate]") - 1] == f"# {texts['gate']}"
    choices = f'# {texts["tracker.calibration_type"]} Choices: "HV3", "HV5", "HV9", "HV13".'
    assert choices in lines
    assert max(map(len, lines)) <= 100


def test_the_effective_configuration_marks_defaults() -> None:
    config = ExperimentConfig(
        screen=Screen(width_mm=530.0), task=Task(farewell='A "quote"""\nand a \\ line')
    )
    text = effective(config, frozenset({"screen.width_mm", "task.farewell"}))
    assert "\nwidth_mm = 530.0\n" in text
    assert "\nheight_mm = 301.0  # default\n" in text
    assert "\n# model is not set\n" in text
    assert msgspec.convert(tomllib.loads(text), ExperimentConfig) == config


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    start = write_start(tmp_path / "lab")
    assert start.toml == tmp_path / "lab" / "scene_viewing.toml"
    assert start.toml in start.made
    with pytest.raises(ConfigError, match="--replace"):
        write_start(tmp_path / "lab")
    start.toml.write_text("")
    write_start(start.toml, replace=True)
    assert read_config(start.toml).screen == Screen()


def test_an_existing_script_is_kept(tmp_path: Path) -> None:
    toml, script = tmp_path / "second.toml", tmp_path / "scene_viewing.py"
    script.write_text("mine")
    paint_images(tmp_path / "stimuli", 1)
    assert write_start(toml).made == (toml,)
    assert write_start(toml, replace=True).made == (toml,)
    assert script.read_text() == "mine"
    assert write_start(tmp_path).made == (tmp_path / "scene_viewing.toml",)
    assert write_start(tmp_path, replace=True).made[1] == script
    assert script.read_text() != "mine"


def test_images_are_painted_where_there_are_none(tmp_path: Path) -> None:
    start = write_start(tmp_path / "lab")
    assert start.painted == start.made[-1] == tmp_path / "lab" / "stimuli"
    assert len(images_in(start.painted)) == N_PAINTED
    config = read_config(start.toml)
    assert config.stimuli.folder == "stimuli"
    assert missing_files(config, start.toml) == []
    own = start.painted / "painted_01.png"
    own.write_bytes(b"mine")
    assert write_start(tmp_path / "lab", replace=True).painted is None
    assert own.read_bytes() == b"mine"


def test_images_in_the_default_folder_are_used(tmp_path: Path) -> None:
    paint_images(tmp_path / "stimuli", 1)
    start = write_start(tmp_path / "lab")
    assert start.painted is None
    assert read_config(start.toml) == ExperimentConfig()
    assert start.toml.read_text(encoding="utf-8") == template()


def test_the_summary_describes_the_configuration() -> None:
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
