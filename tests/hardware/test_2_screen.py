"""The display PC's screens: vsync, dropped frames, light against messages, calibration."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .recorded import Ask, Confirm, Note, read

pytestmark = [pytest.mark.hardware, pytest.mark.timeout(3600)]

SCRIPT = Path(__file__).with_name("on_screen.py")
FRAMES_S = 60.0
OnScreen = Callable[..., dict[str, Any]]


@pytest.fixture
def on_screen(lab: Path) -> OnScreen:
    """Return a function that runs one of `on_screen.py` in a process of its own."""

    def run(function: str, **arguments: Any) -> dict[str, Any]:
        content = json.dumps({"lab": str(lab), **arguments})
        ran = subprocess.run(
            [sys.executable, "-P", str(SCRIPT), function, content],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout
        answer: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
        return answer

    return run


def test_two_screens(on_screen: OnScreen, note: Note, confirm: Confirm) -> None:
    found = on_screen("screens")
    note(**found)
    assert len(found["screens_px"]) >= 2, "connect a second screen for the dashboard"
    assert found["window_px"] == found["screens_px"][found["number"]], "display scaling is on"
    confirm("A grey window just covered the participant's screen, and only that one?")


def test_frames(on_screen: OnScreen, note: Note) -> None:
    """The screen holds flips back, and drops none in a minute."""
    found = on_screen("frames", seconds=FRAMES_S)
    steps_s = np.diff(found["flips_s"])
    dropped = int((steps_s > 1.5 * found["frame_s"]).sum())
    note(
        synced=found["is_synced"],
        frame_ms=round(1000 * found["frame_s"], 3),
        flips=len(steps_s),
        dropped=dropped,
        longest_ms=round(1000 * float(steps_s.max()), 2),
        sd_ms=round(1000 * float(steps_s.std()), 3),
    )
    assert found["is_synced"], "switch vsync on in the graphics driver"
    assert dropped <= 0.001 * len(steps_s)


def test_photodiode(on_screen: OnScreen, address: str, results: Path, ask: Ask, note: Note) -> None:
    """Light against the message of its flip, by the tracker's input port."""
    answer = ask(
        "Photodiode at the top left corner of the participant's screen, signal to the input port "
        "of the Host PC? [y, or n to skip]"
    )
    if answer[:1].lower() not in ("y", "j"):
        pytest.skip("no photodiode")
    found = on_screen("photodiode", address=address, folder=str(results))
    edf = read(found["edf"])
    sent_us = np.array([m.tracker_time_us for m in edf.messages if m.text == "photodiode white"])
    light_us = np.array([s.tracker_time_us for s in edf.signals if s.kind == "input"])
    note(messages=len(sent_us), input_changes=len(light_us))
    assert len(light_us) >= len(sent_us), "the input port does not see the photodiode"
    nearest = np.abs(light_us[:, None] - sent_us).argmin(axis=0)
    late_ms = (light_us[nearest] - sent_us) / 1000
    note(
        light_minus_message_median_ms=round(float(np.median(late_ms)), 2),
        sd_ms=round(float(late_ms.std()), 2),
        range_ms=[round(float(late_ms.min()), 2), round(float(late_ms.max()), 2)],
    )
    assert late_ms.std() < 2
    assert abs(np.median(late_ms)) < 2000 * found["frame_s"]


def test_calibration(
    on_screen: OnScreen, address: str, results: Path, ask: Ask, confirm: Confirm, note: Note
) -> None:
    """The results shown here are those of the EDF."""
    ask(
        "A person sits before the camera. Keys: ENTER camera image, C calibrate, V validate, "
        "O leave; then fixate the target, SPACE. ENTER here to start."
    )
    found = on_screen("calibration", address=address, folder=str(results))
    note(**found)
    confirm("Targets were round, sharp, where they should be, and the camera image was visible?")
    edf = read(found["edf"])
    validations = [one for one in found["results"] if one["kind"] == "validation"]
    assert validations, "validate with V before you leave"
    for ours in validations:
        theirs = [c for c in edf.calibrations if (c.kind, c.eye) == (ours["kind"], ours["eye"])]
        assert ours["mean_error_deg"] == pytest.approx(theirs[-1].mean_error_deg, abs=0.011)
        assert ours["max_error_deg"] == pytest.approx(theirs[-1].max_error_deg, abs=0.011)
    drifts = found["drifts"]
    for ours, check in zip(drifts, edf.drift_corrections[-len(drifts) :], strict=True):
        assert ours["offset_deg"] == pytest.approx(check.offset_deg, abs=0.011)
