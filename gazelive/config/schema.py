"""What an experiment's TOML may say, with units in the names and what holds where it is silent.

Each table of the file is a Struct here and each key a field; the text below a field is what
`gazelive config init` writes above the key. Reading is strict: `reading.py` tells what is wrong.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gazelive.gaze.samples import Eyes
from gazelive.gaze.screen import PAPER_SCREEN, ScreenGeometry

Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Part = Annotated[float, Meta(gt=0, le=1)]
Grey = Annotated[int, Meta(ge=0, le=255)]
Filter = Literal["off", "standard", "extra"]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: unknown keys are errors."""


class Screen(_Table, frozen=True, kw_only=True):
    """The screen that the participant sees."""

    width_px: AtLeastOne = PAPER_SCREEN.width_px
    height_px: AtLeastOne = PAPER_SCREEN.height_px
    width_mm: Positive = PAPER_SCREEN.width_mm
    """Of the picture itself, without the frame: measure it with a ruler."""
    height_mm: Positive = PAPER_SCREEN.height_mm
    eye_distance_mm: Positive = PAPER_SCREEN.eye_distance_mm
    """From the eye to the middle of the screen."""
    number: Count = 0
    """Which screen, where there are several; 0 is the first."""
    full_screen: bool = True
    refresh_rate_hz: Positive = 60.0
    """What the screen is set to; `gazelive doctor` measures it."""
    background_grey: Grey = 128
    """0 is black, 255 is white."""

    @property
    def geometry(self) -> ScreenGeometry:
        """The screen in front of the eye."""
        return ScreenGeometry(
            width_px=self.width_px,
            height_px=self.height_px,
            width_mm=self.width_mm,
            height_mm=self.height_mm,
            eye_distance_mm=self.eye_distance_mm,
        )


class Tracker(_Table, frozen=True, kw_only=True):
    """Where gaze comes from."""

    device: str = "eyelink"
    """"eyelink", "simulated", or "replay:FILE"."""
    address: str = "100.1.1.1"
    """The EyeLink's Host PC."""
    sampling_rate_hz: Literal[250, 500, 1000, 2000] = 1000
    eyes: Eyes = "R"
    """"L" or "R" (the dominant eye), or "LR" for both."""
    link_filter: Filter = "standard"
    """The EyeLink's heuristic filter of what comes live; "extra" costs a millisecond more."""
    file_filter: Filter = "extra"
    """The same for the EDF file on the Host PC."""
    calibration_type: Literal["HV3", "HV5", "HV9", "HV13"] = "HV9"
    """How many targets a calibration shows."""
    real_time: bool = True
    """Ask the operating system for real-time priority while recording, where it gives it."""


class Stimuli(_Table, frozen=True, kw_only=True):
    """The images."""

    folder: str = "../stimuli"
    """Where they are; .jpg, .png and .webp are taken."""
    n_images: AtLeastOne = 106
    """A random choice of so many, or all there are if there are fewer; none comes twice."""
    width_px: AtLeastOne = 1500
    """An image is scaled to fit into this rectangle in the middle of the screen."""
    height_px: AtLeastOne = 1000
    order_seed: Annotated[int, Meta(examples=[1])] | None = None
    """The same seed, viewer and session give the same images in the same order; without it, 0."""


class Trial(_Table, frozen=True, kw_only=True):
    """One trial: cross, gate, image, blank."""

    image_s: Positive = 8.0
    blank_s: NotNegative = 0.5
    cross_size_deg: Positive = 0.6
    cross_area: Part = 0.8
    """Part of the image's width and height in whose middle the cross may be."""


class Gate(_Table, frozen=True, kw_only=True):
    """The image appears once gaze has rested on the cross."""

    radius_deg: Positive = 1.5
    dwell_s: Positive = 0.3
    timeout_s: Positive = 5.0
    tries: AtLeastOne = 2
    """After so many time-outs the tracker is calibrated again."""


class Schedule(_Table, frozen=True, kw_only=True):
    """What comes between trials; 0 is never."""

    recalibrate_every_trials: Count = 14
    break_every_trials: Count = 14
    drift_check_every_trials: Count = 7


class Task(_Table, frozen=True, kw_only=True):
    """What the participant is told and asked."""

    instructions: str = (
        "You will see a series of images.\n"
        "Look at each as you like and try to remember it.\n\n"
        "Before each image a small cross appears:\n"
        "look at the cross until the image comes."
    )
    break_text: str = "Time for a short break. Rest your eyes."
    farewell: str = "That was the last image. Thank you!"
    recognition_questions: Count = 0
    """Asked at the end, half about images that were shown and half about others."""


class Keys(_Table, frozen=True, kw_only=True):
    """Keys of the experimenter; names are those of PsychoPy."""

    go_on: str = "space"
    skip: str = "s"
    repeat: str = "r"
    recalibrate: str = "c"
    pause: str = "p"
    abort: str = "escape"
    yes: str = "y"
    no: str = "n"


class Identify(_Table, frozen=True, kw_only=True):
    """For sessions that identify."""

    model: Annotated[str, Meta(examples=["lab.model"])] | None = None
    """Made by `gazelive train`."""
    stop_at: Annotated[float, Meta(gt=0.5, lt=1, examples=[0.99])] | None = None
    """Stop once the settled posterior of an enrolled viewer passes this, such as 0.99."""
    stop_after_images: AtLeastOne = 3
    """But not before so many images were seen."""


class Simulated(_Table, frozen=True, kw_only=True):
    """The simulated tracker's viewer."""

    seed: int = 1
    """The population's seed: the same viewer and seed are the same person everywhere."""


class Dashboard(_Table, frozen=True, kw_only=True):
    """The experimenter's window."""

    open: bool = True
    screen_number: Count = 1
    """Which screen, where there are several."""
    hide_viewer: bool = False


class Output(_Table, frozen=True, kw_only=True):
    """Where sessions go."""

    folder: str = "../sessions"
    """Each session makes a folder of its own in it."""


class ExperimentConfig(_Table, frozen=True, kw_only=True):
    """Everything that an experiment's TOML says."""

    script: str = "scene_viewing.py"
    """The experiment that this file is for. Paths begin in the folder of this file."""
    screen: Screen = Screen()
    tracker: Tracker = Tracker()
    stimuli: Stimuli = Stimuli()
    trial: Trial = Trial()
    gate: Gate = Gate()
    schedule: Schedule = Schedule()
    task: Task = Task()
    keys: Keys = Keys()
    identify: Identify = Identify()
    simulated: Simulated = Simulated()
    dashboard: Dashboard = Dashboard()
    output: Output = Output()
