"""`gazelive config` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

Run = Callable[..., Any]


def test_init_check_show(gazelive: Run, tmp_path: Path) -> None:
    toml = tmp_path / "lab" / "scene_viewing.toml"
    ended = gazelive("config", "init", tmp_path / "lab")
    assert ended.exit_code == 0
    assert str(toml) in ended.out.splitlines()
    assert "gazelive config check" in ended.err
    assert f"{tmp_path / 'lab' / 'stimuli'} has painted images" in ended.err

    ended = gazelive("config", "check", toml)
    assert ended.exit_code == 0
    assert ended.out.startswith(f"{toml}: ok\n")
    assert ended.err == ""

    ended = gazelive("config", "show", toml, "--json")
    facts = json.loads(ended.out)
    assert facts["config"]["screen"]["width_px"] == 1920
    assert facts["defaults"] == [
        "stimuli.order_seed",
        "identify.model",
        "identify.false_acceptance_rate",
        "identify.stop_at",
    ]

    ended = gazelive("config", "init", tmp_path / "lab")
    assert ended.exit_code == 2
    assert "--replace" in ended.err
    assert gazelive("config", "init", tmp_path / "lab", "--replace", "-q").err == ""


def test_check_prints_nothing_more_for_a_complete_file(gazelive: Run, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "images" / "a.png")
    (tmp_path / "mine.py").touch()
    toml = tmp_path / "lab.toml"
    toml.write_text('script = "mine.py"\n[stimuli]\nfolder = "images"\n')
    ended = gazelive("config", "check", toml, "-q")
    assert ended == (0, f"{toml}: ok\n", "")


def test_check_tells_everything_that_is_wrong(gazelive: Run, tmp_path: Path) -> None:
    toml = tmp_path / "lab.toml"
    toml.write_text("[screen]\nwidth_cm = 53.5\n[trial]\nimage_ms = 8000\n")
    ended = gazelive("config", "check", toml)
    assert ended.exit_code == 2
    assert ended.out == ""
    first, second = ended.err.splitlines()
    assert first.startswith(f"error: {toml}: screen.width_cm: unknown key")
    assert second.startswith(f"{toml}: trial.image_ms: unknown key")

    ended = gazelive("config", "check", toml, "--json")
    assert ended.exit_code == 2
    facts = json.loads(ended.out)
    assert not facts["ok"]
    assert [problem["key"] for problem in facts["problems"]] == [
        "screen.width_cm",
        "trial.image_ms",
    ]
    assert gazelive("config", "show", toml).exit_code == 2


def test_show_marks_the_defaults(gazelive: Run, tmp_path: Path) -> None:
    toml = tmp_path / "lab.toml"
    toml.write_text("[trial]\nimage_s = 3\n")
    ended = gazelive("config", "show", toml)
    assert ended.exit_code == 0
    assert "image_s = 3.0\nblank_s = 0.5  # default\n" in ended.out


def test_next_steps_can_be_pasted(gazelive: Run, tmp_path: Path) -> None:
    ended = gazelive("config", "init", tmp_path / "my lab")
    toml = tmp_path / "my lab" / "scene_viewing.toml"
    said = " ".join(ended.err.split())
    assert f'gazelive config check "{toml}"' in said
    assert f'gazelive doctor "{toml}"' in said


def test_impossible_file_names_are_reported(gazelive: Run, tmp_path: Path) -> None:
    toml = tmp_path / "lab.toml"
    toml.write_text('script = "a\\u0000"\n[tracker]\ndevice = "replay:b\\u0000"\n')
    ended = gazelive("config", "check", toml)
    assert ended.exit_code == 2
    assert "script: contains a tab or line break" in ended.err
    assert "tracker.device: contains a tab or line break" in ended.err
    toml.write_text('[identify]\nmodel = "~nobody-here/lab.model"\n')
    ended = gazelive("config", "check", toml)
    assert ended.exit_code == 0
    assert "there is no" in ended.err
    assert "~nobody-here" in ended.err
