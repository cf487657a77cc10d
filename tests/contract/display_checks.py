"""Contract of `Display`: each check is a function of an open display.

PsychoPy's windows live in processes of their own (see tests/experiment/conftest.py), so this file
is also a program that runs all of them on a window: it prints what failed as JSON.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gazelive.clock import MonotonicClock
from gazelive.errors import DeviceDisconnectedError, RecordingError
from gazelive.experiment.config.schema import Screen
from gazelive.experiment.display.display import (
    Blank,
    Cross,
    Display,
    Picture,
    Question,
    Scene,
    Target,
    Words,
)
from gazelive.experiment.display.scene_painting import Painter

STIMULI = Path(__file__).parents[2] / "stimuli"
SCREEN = Screen(background_grey=100)
SIZE_PX = (640, 360)
PICTURE = Picture(STIMULI / "cat.jpg", 210, 40, 1500, 1000)
SCENES: tuple[Scene, ...] = (
    Blank(),
    Cross(500, 300, 0.6),
    Target(192, 108),
    PICTURE,
    Words("You will see images.", "Press space"),
    Question(PICTURE, "Did you see this?", "y: yes"),
)


def it_knows_the_screen_that_gaze_is_measured_on(display: Display, folder: Path) -> None:
    assert display.screen == SCREEN.geometry


def frames_come_one_after_the_other_and_not_too_soon(display: Display, folder: Path) -> None:
    display.show(Cross(900, 500, 0.6))
    flips_s = np.array([display.flip() for _ in range(8)])
    assert (np.diff(flips_s) > 0).all()
    assert flips_s[-1] - flips_s[0] > 6 * display.frame_s > 0


def every_scene_is_as_it_was_painted(display: Display, folder: Path) -> None:
    for number, scene in enumerate(SCENES):
        path = folder / f"{number}.png"
        display.prepare(scene)
        display.show(scene)
        display.flip()
        display.save_screenshot(path)
        with Image.open(path) as seen:
            assert seen.format == "PNG"
            painted = Image.new("RGB", seen.size, (SCREEN.background_grey,) * 3)
            for patch in Painter(display.screen, seen.size, SCREEN.background_grey).paint(scene):
                painted.paste(patch.image, (patch.left_px, patch.top_px))
            np.testing.assert_array_equal(np.asarray(seen), np.asarray(painted))


def no_scene_need_be_prepared_and_any_number_may_be(display: Display, folder: Path) -> None:
    first = Cross(10, 10, 0.6)
    display.show(first)
    for x_px in range(0, 1900, 100):
        display.prepare(Target(x_px, 500))
    display.flip()
    display.save_screenshot(folder / "before.png")
    display.show(Target(0, 500))
    display.flip()
    display.show(first)
    display.flip()
    display.save_screenshot(folder / "after.png")
    assert (folder / "before.png").read_bytes() == (folder / "after.png").read_bytes()


def an_image_that_cannot_be_read_changes_nothing(display: Display, folder: Path) -> None:
    (folder / "broken.png").write_bytes(b"no image")
    display.show(PICTURE)
    display.flip()
    display.save_screenshot(folder / "before.png")
    for name in ("broken.png", "nowhere.png"):
        bad = Picture(folder / name, 210, 40, 1500, 1000)
        for use in (display.prepare, display.show):
            with pytest.raises(RecordingError, match=name):
                use(bad)
    display.flip()
    display.save_screenshot(folder / "after.png")
    assert (folder / "before.png").read_bytes() == (folder / "after.png").read_bytes()


def keys_are_not_waited_for(display: Display, folder: Path) -> None:
    display.come_to_front()
    display.flip()
    assert display.pressed() == ()


def after_its_end_it_says_so(display: Display, folder: Path) -> None:
    display.close()
    display.close()
    for use in (display.flip, lambda: display.show(Blank()), lambda: display.prepare(Blank())):
        with pytest.raises(DeviceDisconnectedError, match="is closed"):
            use()


CHECKS: dict[str, Any] = {
    check.__name__: check
    for check in (
        it_knows_the_screen_that_gaze_is_measured_on,
        frames_come_one_after_the_other_and_not_too_soon,
        every_scene_is_as_it_was_painted,
        no_scene_need_be_prepared_and_any_number_may_be,
        an_image_that_cannot_be_read_changes_nothing,
        keys_are_not_waited_for,
        after_its_end_it_says_so,
    )
}


def failures_of_a_window(folder: Path) -> dict[str, str]:
    """Run all checks on PsychoPy's window, one after the other; return what failed."""
    from gazelive.experiment.display.psychopy_display import PsychoPyDisplay

    failed = {}
    display = PsychoPyDisplay(SCREEN, clock=MonotonicClock(), windowed=True, size_px=SIZE_PX)
    for name, check in CHECKS.items():
        (folder / name).mkdir()
        try:
            check(display, folder / name)
        except BaseException:
            failed[name] = traceback.format_exc()
    display.close()
    return failed


if __name__ == "__main__":
    print(json.dumps(failures_of_a_window(Path(sys.argv[1]))))
