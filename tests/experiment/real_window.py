"""Actions with real windows, run by `in_window` of conftest.py; prints one JSON object."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from manual_clock import ManualClock

from gazelive.clock import Clock, MonotonicClock
from gazelive.errors import GazeliveError
from gazelive.experiment.config.schema import ExperimentConfig, Screen, Stimuli, Tracker, Trial
from gazelive.experiment.display.display import (
    Blank,
    Cross,
    Participant,
    Picture,
    Question,
    Scene,
    Target,
    Words,
)
from gazelive.experiment.display.psychopy_display import PsychoPyDisplay
from gazelive.experiment.display.psychopy_window import import_psychopy
from gazelive.experiment.process.launch import RunSpec
from gazelive.live.settings import LiveSettings

SCENES: dict[str, Any] = {
    "blank": Blank,
    "cross": Cross,
    "target": Target,
    "picture": Picture,
    "words": Words,
    "question": Question,
}


def scene_of(kind: str, fields: dict[str, Any]) -> Scene:
    scene: Scene = msgspec.convert(fields, SCENES[kind], dec_hook=lambda kind, value: kind(value))
    return scene


def opened(
    screen: dict[str, Any] | None = None, clock: Clock | None = None, **options: Any
) -> PsychoPyDisplay:
    if "size_px" in options:
        options["size_px"] = tuple(options["size_px"])
    return PsychoPyDisplay(
        msgspec.convert(screen or {}, Screen), clock=clock or MonotonicClock(), **options
    )


def screenshots(
    scenes: dict[str, Any], folder: str, retina: bool = False, **options: Any
) -> dict[str, Any]:
    """Show scenes one after the other and take a picture of each."""
    display = opened(**options)
    display.window.useRetina = retina
    for name, (kind, fields) in scenes.items():
        scene = scene_of(kind, fields)
        display.prepare(scene)
        display.show(scene)
        display.flip()
        display.flip()
        display.save_screenshot(Path(folder) / f"{name}.png")
        display.flip()
    answer = {"window_px": display.window_px, "kept": len(display._stimuli)}
    display.close()
    return answer


def place(**options: Any) -> dict[str, Any]:
    """Return position, size and title of a window."""
    display = opened(**options)
    handle = display.window.winHandle
    display.flip()
    found = {
        "position": handle.get_location(),
        "size": display.window_px,
        "title": handle.caption,
    }
    display.close()
    return found


def frames(n: int, screen_hz: float | None = None, **options: Any) -> dict[str, Any]:
    """Flip on a manual clock; a screen of `screen_hz` holds every flip back, as a real one does."""
    clock = ManualClock()
    if screen_hz is not None:
        visual, _, _ = import_psychopy()
        flip = visual.Window.flip

        def held_back(window: Any) -> Any:
            clock.advance_s(1 / screen_hz)
            return flip(window)

        visual.Window.flip = held_back
    display = opened(clock=clock, **options)
    flips_s = []
    for k in range(n):
        if k % 5 == 0:
            display.show(Target(100 * k, 500) if k % 2 else Blank())
        flips_s.append(display.flip())
    answer = {"flips_s": flips_s, "frame_s": display.frame_s, "is_synced": display.is_synced}
    display.close()
    return answer


def session(folder: str, stimuli: str, **trial: Any) -> dict[str, Any]:
    """Run a session of six images with a simulated tracker on a clock that waits for both."""
    from lockstep import LockstepClock, LockstepDeviceThread

    from gazelive.experiment import run
    from gazelive.experiment.process import owner
    from gazelive.experiment.scene_viewing import scene_viewing

    owner.DeviceThread = LockstepDeviceThread  # type: ignore[misc]
    spec = RunSpec(
        config=ExperimentConfig(
            tracker=Tracker(device="simulated"),
            stimuli=Stimuli(folder=stimuli, n_images=6),
            trial=Trial(**trial),
        ),
        config_path=Path(folder) / "lab.toml",
        participant=Participant(viewer="anna", session=1, eyes="R", mode="enrol"),
        live=LiveSettings(folder=Path(folder), address=None),
        windowed=True,
        window_px=(640, 360),
        quiet=True,
    )
    done = run.run_session(spec, scene_viewing, run.open_display, LockstepClock())
    frames = done.stage.frames.session
    return {"outcomes": done.report.outcomes, "frames": msgspec.to_builtins(frames)}


def keys(**options: Any) -> dict[str, Any]:
    from x_events import XEvents

    display = opened(**options)
    display.show(Blank())
    display.flip()
    events = XEvents()
    events.put_pointer(960, 540)
    said = {"before": display.pressed()}
    events.press("space", "s", "Escape", "Return")
    display.flip()
    said["pressed"] = display.pressed()
    said["again"] = display.pressed()
    events.ask_to_close(display.window.winHandle._window)
    for _ in range(3):
        display.flip()  # the window is still there
    said["closed"] = display.pressed()
    said["once"] = display.pressed()
    display.close()
    display.close()
    said["gone"] = display.pressed()
    try:
        display.flip()
    except GazeliveError as error:
        said["error"] = (str(error),)
    return said


def calibration(folder: str, x_px: int, y_px: int, **options: Any) -> dict[str, Any]:
    """Draw a target as the EyeLink's library asks for it; set-up itself needs a tracker."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):  # pylink greets
        import pylink

    display = opened(**options)
    display.show(Words("instructions"))
    display.flip()
    graphics = display.calibration_graphics()(pylink.EyeLink(None))
    frames: list[Any] = []
    flip = display.window.flip

    def keep_frame(*arguments: Any, **more: Any) -> Any:
        frames.append(display.window._getFrame(buffer="back").convert("RGB"))
        return flip(*arguments, **more)

    pylink.openGraphicsEx(graphics)
    graphics.setup_cal_display()
    display.window.flip = keep_frame
    graphics.draw_cal_target(x_px, y_px)
    frames[-1].save(Path(folder) / "target.png")
    graphics.play_beep(pylink.CAL_TARG_BEEP)
    graphics.erase_cal_target()
    frames[-1].save(Path(folder) / "erased.png")
    graphics.exit_cal_display()
    pylink.closeGraphics()
    keys_before = graphics.get_input_key()

    def interrupted(_graphics: Any) -> list[Any]:
        raise KeyboardInterrupt

    vendors = type(graphics).__mro__[1]
    kept, vendors.get_input_key = vendors.get_input_key, interrupted
    keys_after = graphics.get_input_key()
    vendors.get_input_key = kept
    display.window.flip = flip
    from x_events import XEvents

    events = XEvents()
    events.put_pointer(960, 540)
    events.press("c")
    display.flip()
    pressed = display.pressed()
    display.save_screenshot(Path(folder) / "afterwards.png")
    display.close()
    return {
        "pressed": pressed,
        "keys": [[key.__key__ for key in keys] for keys in (keys_before, keys_after)],
    }


def script_window(folder: str) -> dict[str, Any]:
    """Calibrate and record a trial in the window of a script, and look at what became of it."""
    import contextlib
    import io

    import gazelive

    visual, _, monitors = import_psychopy()
    monitor = monitors.Monitor("lab", width=53.5, distance=60, autoLog=False)
    monitor.setSizePix((1920, 1080))
    window = visual.Window(
        (960, 540), units="height", color=(0.4, -0.2, 0.1), monitor=monitor, checkTiming=False
    )
    always = visual.Rect(window, width=0.1, height=0.1, pos=(0.5, 0.3), autoDraw=True)
    window.flip()
    frames: list[Any] = []
    flip = window.flip

    def keep_frame(*arguments: Any, **more: Any) -> Any:
        frames.append(window._getFrame(buffer="back").convert("RGB"))
        return flip(*arguments, **more)

    picture = visual.ImageStim(window, image=None, size=(0.5, 0.25), pos=(0.1, 0.1), name="p")
    answer: dict[str, Any] = {"before": [[float(c) for c in window.color], window.units]}
    with gazelive.Tracker("simulated", window=window, out=folder, quiet=True) as tracker:
        window.flip = keep_frame
        answer["n_results"] = len(tracker.calibrate())
        answer["n_drifts"] = len(tracker.check_drift())
        window.flip = flip
        answer["n_frames"] = len(frames)
        frames[0].save(Path(folder) / "target.png")
        frames[9].save(Path(folder) / "blank.png")
        with tracker.trial(1, image=picture) as trial:
            shown = trial.picture
            picture.draw()
            window.callOnFlip(trial.shown)
            window.flip()
        area = tracker.area_of(picture, margin_px=10)
        answer["position"] = tracker.position(1919.5, -0.5)
    assert shown is not None
    answer["picture"] = [shown.left_px, shown.top_px, shown.width_px, shown.height_px]
    answer["area"] = [area.x, area.y, area.width, area.height, area.unit]
    answer["after"] = [[float(c) for c in window.color], window.units]
    answer["auto_draw"] = always.autoDraw
    answer["screen"] = msgspec.to_builtins(tracker.screen)
    answer["session"] = str(tracker.folder)

    from gazelive.experiment.display.script_window import ScriptWindow, screen_of

    with contextlib.redirect_stdout(io.StringIO()):  # pylink greets
        import pylink
    ours = ScriptWindow(window, tracker.screen)
    with ours.borrowed():
        graphics = ours.calibration_graphics()(pylink.EyeLink(None))
        pylink.openGraphicsEx(graphics)
        graphics.setup_cal_display()
        window.flip = keep_frame
        graphics.draw_cal_target(480, 270)
        window.flip = flip
        graphics.exit_cal_display()
        pylink.closeGraphics()
    frames[-1].save(Path(folder) / "eyelink.png")
    answer["at_last"] = [[float(c) for c in window.color], window.units]
    window.close()
    answer["errors"] = []
    for refused in (lambda: screen_of(window), lambda: ours.borrowed().__enter__()):
        window.monitor = None
        try:
            refused()
        except GazeliveError as error:
            answer["errors"].append(str(error))
    return answer


def refusal(**options: Any) -> dict[str, Any]:
    """Open a window that cannot be opened."""
    try:
        opened(**options)
    except GazeliveError as error:
        return {"error": type(error).__name__, "text": str(error)}
    return {"error": None}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
