"""Mirror an image during a saccade, when nobody can see the change. Copy and edit this script.

    python gaze_contingent.py                               # a simulated viewer
    python gaze_contingent.py --device eyelink --viewer anna

At the end it says how many changes fell inside a saccade, by the settled detector on the recording,
and how late the flips were. docs/own-experiment.md explains every step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

import gazelive

SCREEN = gazelive.ScreenGeometry(
    width_px=1920, height_px=1080, width_mm=535, height_mm=301, eye_distance_mm=600
)
"""Your participant's screen: measure it with a ruler."""
GREY = (0, 0, 0)
LOOK_S, AFTER_S, PATIENCE_S = 1.0, 1.0, 10.0


def main() -> None:
    """Run the experiment as the command line says."""
    options = parsed()
    images = sorted(path for path in options.images.iterdir() if path.suffix in (".jpg", ".png"))
    if not images:
        sys.exit(f"error: no .jpg or .png in {options.images}: give --images FOLDER")
    from psychopy import visual

    window = visual.Window(
        (960, 540) if options.windowed else SCREEN.size_px,
        fullscr=not options.windowed,
        color=GREY,
        units="pix",
        checkTiming=False,
    )
    try:
        with gazelive.Tracker(
            options.device,
            screen=SCREEN,
            window=window,
            out=options.out,
            viewer=options.viewer,
            model=options.model,
            dashboard=options.dashboard,
            quiet=options.json,
        ) as tracker:
            tracker.calibrate()
            for number in range(1, options.trials + 1):
                mirror_in_a_saccade(tracker, window, number, images[number % len(images)])
    except gazelive.GazeliveError as error:
        sys.exit(f"error: {error}")
    finally:
        window.close()
    found = report(tracker.folder)
    print(json.dumps(found) if options.json else in_words(found))


def mirror_in_a_saccade(tracker: gazelive.Tracker, window: Any, number: int, image: Path) -> None:
    """Show an image, and mirror it during the first saccade after a while."""
    from psychopy import core, visual

    scale = window.size[0] / SCREEN.width_px
    picture = visual.ImageStim(window, image=str(image), size=(1500 * scale, 1000 * scale))
    mirrored = visual.ImageStim(
        window, image=str(image), size=(1500 * scale, 1000 * scale), flipHoriz=True
    )
    with tracker.trial(number, image=picture) as trial:
        picture.draw()
        window.callOnFlip(trial.shown)
        window.flip()
        core.wait(LOOK_S)
        mirrored.draw()  # before the saccade, and now: then only the flip is left to do
        window.backend.GL.glFinish()
        saccade = trial.wait_saccade(timeout_s=PATIENCE_S, min_amplitude_deg=2.0)
        if saccade is not None:
            window.callOnFlip(trial.message, f"mirrored {saccade.tracker_time_us}")
            window.flip()
            core.wait(AFTER_S)
        window.clearBuffer()
        window.callOnFlip(trial.hidden)
        window.flip()


def report(folder: Path) -> dict[str, Any]:
    """Return how many changes fell inside a saccade, and how late the flips were."""
    recording = gazelive.read(folder)
    saccades = gazelive.detect(recording).saccades
    spans_ms = list(
        zip(saccades["onset_ms"].to_pylist(), saccades["offset_ms"].to_pylist(), strict=True)
    )
    inside, from_trigger_ms, from_onset_ms = 0, [], []
    for message in recording.messages:
        if not message.text.startswith("mirrored "):
            continue
        flip_ms = message.tracker_time_us / 1000
        trigger_ms = int(message.text.split()[1]) / 1000
        from_trigger_ms.append(flip_ms - trigger_ms)
        onsets_ms = [onset for onset, offset in spans_ms if onset <= flip_ms <= offset]
        inside += bool(onsets_ms)
        from_onset_ms += [flip_ms - onset_ms for onset_ms in onsets_ms]
    return {
        "session": str(folder),
        "trials": len(recording.trials),
        "changes": len(from_trigger_ms),
        "inside_saccade": inside,
        "trigger_to_flip_ms": spread(from_trigger_ms),
        "onset_to_flip_ms": spread(from_onset_ms),
    }


def spread(values: list[float]) -> dict[str, float] | None:
    """Return the least, median and largest value."""
    if not values:
        return None
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def in_words(found: dict[str, Any]) -> str:
    """Return the report as text."""
    lines = [
        f"{found['changes']} changes in {found['trials']} trials, "
        f"{found['inside_saccade']} of them inside a saccade."
    ]
    for key, text in (
        ("trigger_to_flip_ms", "From the trigger's sample to the flip"),
        ("onset_to_flip_ms", "From the saccade's onset to the flip"),
    ):
        if found[key] is not None:
            lines.append("{}: {median:.1f} ms ({min:.1f} to {max:.1f}).".format(text, **found[key]))
    return "\n".join(lines)


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description="Mirror an image during a saccade.")
    parser.add_argument("--device", default="simulated", help="eyelink, simulated or replay:FILE")
    parser.add_argument("--viewer", default="v001", help="participant ID")
    parser.add_argument("--trials", type=int, default=10, help="number of trials")
    parser.add_argument("--out", default="sessions", help="folder for the sessions")
    parser.add_argument("--images", type=Path, default=Path(__file__).parents[1] / "stimuli")
    parser.add_argument("--model", help="model file, to identify the viewer meanwhile")
    parser.add_argument("--dashboard", action="store_true", help="open the dashboard")
    parser.add_argument("--windowed", action="store_true", help="use a window, for trying out")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
