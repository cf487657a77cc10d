"""Runs docs/own-experiment.md: its blocks, one after the other, as one script."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        importlib.util.find_spec("psychopy") is None,
        reason="PsychoPy is not installed (extra `experiment`)",
    ),
]
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-experiment.md"
AFTERWARDS = """
import json

print(json.dumps({
    "viewers": sorted(who.posterior), "inside": inside is None or inside.kind,
    "on_cross": on_cross is None or on_cross.kind, "saccades": saccades.num_rows,
}))
"""


def test_the_page_runs(tmp_path: Path, screen_environment: dict[str, str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 7
    (tmp_path / "page.py").write_text("\n".join([*blocks, AFTERWARDS]), encoding="utf-8")
    (tmp_path / "faces").mkdir()
    shutil.copy(ROOT / "stimuli" / "cat.jpg", tmp_path / "faces" / "07.jpg")
    ran = subprocess.run(
        [sys.executable, str(tmp_path / "page.py")],
        env=screen_environment, cwd=tmp_path, capture_output=True, text=True, timeout=800,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert len(found["viewers"]) == 4
    assert found["inside"] in (True, "enter")
    assert found["on_cross"] in (True, "fixation")
    folders = sorted((tmp_path / "sessions").iterdir(), key=lambda path: path.name.split("-")[-2:])
    manifests = [read_manifest(folder) for folder in folders]
    assert {manifest.stop_reason for manifest in manifests} == {"the script ended"}
    assert sorted((m.viewer or "", m.session) for m in manifests) == [
        ("", "1"), *(("p07", str(number)) for number in range(1, 5)),
    ]  # fmt: skip
    for folder in folders:
        (trial,) = read_session(folder).trials
        assert trial.result == "0"
        assert trial.image == "../../faces/07.jpg"
