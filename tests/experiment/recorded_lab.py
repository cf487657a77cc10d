"""The lab in which `gazelive record` runs: its configuration."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT_LINE = f'script = "{(ROOT / "experiments" / "scene_viewing.py").as_posix()}"'
CONFIG = f"""
{SCRIPT_LINE}
[tracker]
device = "simulated"
[stimuli]
folder = "{(ROOT / "stimuli").as_posix()}"
n_images = 6
[trial]
image_s = 2.0
blank_s = 0.3
[schedule]
break_every_trials = 4
drift_check_every_trials = 2
[output]
folder = "sessions"
[dashboard]
open = false
"""


def change(lab: Path, before: str, after: str) -> None:
    """Change a line of the configuration."""
    assert f"\n{before}\n" in CONFIG
    (lab / "lab.toml").write_text(CONFIG.replace(before, after), encoding="utf-8")
