"""Work in the experiment's window, in a process of its own; prints one JSON object at the end.

python on_screen.py FUNCTION '{"argument": "value"}'
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from gazelive.clock import Clock, MonotonicClock
from gazelive.devices.eyelink.device import EyeLinkDevice, EyeLinkSettings
from gazelive.experiment.config.reading import read_config
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Blank, Target
from gazelive.experiment.display.psychopy_display import PsychoPyDisplay

PHOTODIODE_S, N_FLASHES = 0.4, 60


def screens(lab: str) -> dict[str, Any]:
    """Return the screens, and where the experiment's window is."""
    import pyglet

    config = read_config(Path(lab))
    display = PsychoPyDisplay(config.screen, clock=MonotonicClock())
    found = [(s.width, s.height) for s in pyglet.canvas.get_display().get_screens()]
    answer = {"screens_px": found, "window_px": display.window_px, "number": config.screen.number}
    display.close()
    return answer


def frames(lab: str, seconds: float) -> dict[str, Any]:
    """Flip for some time with a target that moves; return the intervals."""
    clock = MonotonicClock()
    config = read_config(Path(lab))
    display = PsychoPyDisplay(config.screen, clock=clock)
    flips_s = [display.flip()]
    while flips_s[-1] < flips_s[0] + seconds:
        display.show(Target(x_px=960, y_px=540) if len(flips_s) % 2 else Blank())
        flips_s.append(display.flip())
    answer = {"flips_s": flips_s, "frame_s": display.frame_s, "is_synced": display.is_synced}
    display.close()
    return answer


def photodiode(lab: str, address: str, folder: str) -> dict[str, Any]:
    """Flash a white corner and send a message at each flip to white; return the EDF."""
    from psychopy import visual

    clock = MonotonicClock()
    config = read_config(Path(lab))
    display = PsychoPyDisplay(config.screen, clock=clock)
    device = _device(config, address, clock)
    width_px, height_px = display.window_px
    corner = {"units": "pix", "width": 200, "height": 200, "lineWidth": 0, "autoLog": False}
    place = (100 - width_px / 2, height_px / 2 - 100)
    white = visual.Rect(display.window, fillColor="white", pos=place, **corner)
    black = visual.Rect(display.window, fillColor="black", pos=place, **corner)
    device.start()
    try:
        for number in range(2 * N_FLASHES):
            began_s = clock.now_s()
            is_first = True
            while clock.now_s() < began_s + PHOTODIODE_S:
                (white if number % 2 else black).draw()
                display.window.flip()
                if is_first and number % 2:
                    device.send_message("photodiode white", at_s=clock.now_s())
                is_first = False
                device.read_chunk(0.0)
        device.stop()
        path = device.receive_host_file(Path(folder), "photodiode")
    finally:
        device.close()
        display.close()
    return {"edf": str(path), "frame_s": display.frame_s}


def calibration(lab: str, address: str, folder: str) -> dict[str, Any]:
    """Calibrate, validate, check drift in the middle of the screen; return the results."""
    clock = MonotonicClock()
    config = read_config(Path(lab))
    display = PsychoPyDisplay(config.screen, clock=clock)
    device = _device(config, address, clock)
    try:
        device.use_graphics(display.calibration_graphics())
        results = device.calibrate()
        text = device._tracker.getCalibrationMessage()
        screen = config.screen
        drifts = device.check_drift(screen.width_px / 2, screen.height_px / 2)
        drift_text = device._tracker.getCalibrationMessage()
        device.start()
        until_s = clock.now_s() + 1.0
        while clock.now_s() < until_s:
            device.read_chunk(0.1)
        device.stop()
        path = device.receive_host_file(Path(folder), "calibration")
    finally:
        device.close()
        display.close()
    return {
        "edf": str(path),
        "results": msgspec.to_builtins(results),
        "drifts": msgspec.to_builtins(drifts),
        "tracker_texts": [text, drift_text],
    }


def _device(config: ExperimentConfig, address: str, clock: Clock) -> EyeLinkDevice:
    tracker = config.tracker
    settings = EyeLinkSettings(
        address=address,
        screen=config.screen.geometry,
        sampling_rate_hz=tracker.sampling_rate_hz,
        eyes=tracker.eyes,
        calibration_type=tracker.calibration_type,
    )
    return EyeLinkDevice(settings, clock=clock, host_file_stem="gltest")


if __name__ == "__main__":
    answer = globals()[sys.argv[1]](**json.loads(sys.argv[2]))
    print("\n" + json.dumps(answer))
