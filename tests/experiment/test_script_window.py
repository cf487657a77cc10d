"""`gazelive.Tracker` in a real PsychoPy window that belongs to a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gazelive.devices.simulated_host import calibration_targets_px
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.session.reader import read_session

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def dark_at(path: Path) -> tuple[float, float]:
    """Return the middle of what is nearly black in a picture."""
    pixels = np.asarray(Image.open(path).convert("L"))
    rows, columns = np.nonzero(pixels < 40)
    return float(columns.mean()), float(rows.mean())


def test_a_tracker_borrows_the_window_and_gives_it_back(
    in_window: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    told = in_window("script_window", folder=str(tmp_path))
    assert told["after"] == told["at_last"] == told["before"]
    assert told["auto_draw"], "the script's own stimuli come back"
    assert told["screen"]["width_px"] == 1920
    assert told["screen"]["height_mm"] == pytest.approx(535 * 1080 / 1920)
    # nine targets and a blank frame, a drift check and a blank frame
    assert (told["n_results"], told["n_drifts"], told["n_frames"]) == (2, 1, 12)
    x_px, y_px = calibration_targets_px(PAPER_SCREEN)[0]
    in_window_px = (x_px + 0.5) / 2 - 0.5, (y_px + 0.5) / 2 - 0.5
    assert dark_at(tmp_path / "target.png") == pytest.approx(in_window_px, abs=1)
    assert dark_at(tmp_path / "eyelink.png") == pytest.approx((239.75, 134.75), abs=1)
    blank = np.asarray(Image.open(tmp_path / "blank.png"))
    assert len(np.unique(blank.reshape(-1, 3), axis=0)) == 1
    # half the screen's height wide, its centre a tenth of it right of and above the centre
    assert told["picture"] == pytest.approx([960 + 108 - 270, 540 - 108 - 135, 540, 270])
    assert told["area"] == [1067.5, 431.5, 560.0, 290.0, "px"]
    assert told["position"] == [480.0, 270.0]
    missing, closed = told["errors"]
    assert missing.startswith("screen: the window's monitor has no width and distance")
    assert closed == "the script's window is closed: calibrate before that"
    texts = [message.text for message in read_session(Path(told["session"])).messages]
    assert any(text.startswith("!V IMGLOAD CENTER") and text.endswith("540 270") for text in texts)
