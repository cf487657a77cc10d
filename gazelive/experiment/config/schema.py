"""Schema of an experiment's TOML: tables, keys, types, defaults; units are in the names.

Each table of the file is a Struct and each key a field; `gazelive config init` writes the text
below a field above its key. `reading.py` reads the file strictly.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gazelive.gaze import PAPER_SCREEN, Eyes, ScreenGeometry
from gazelive.verdict import LARGEST_RATE, LEAST_RATE, STRANGER_PRIOR

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
    """The participant's screen."""

    width_px: AtLeastOne = PAPER_SCREEN.width_px
    height_px: AtLeastOne = PAPER_SCREEN.height_px
    width_mm: Positive = PAPER_SCREEN.width_mm
    """Size of the visible picture without the frame; measure it with a ruler."""
    height_mm: Positive = PAPER_SCREEN.height_mm
    eye_distance_mm: Positive = PAPER_SCREEN.eye_distance_mm
    """From the eye to the centre of the screen."""
    number: Count = 0
    """Number of the screen, if there are several; 0 is the first."""
    full_screen: bool = True
    refresh_rate_hz: Positive = 60.0
    """Refresh rate set in the system; `gazelive doctor` measures it."""
    background_grey: Grey = 128
    """0 is black, 255 is white."""

    @property
    def geometry(self) -> ScreenGeometry:
        """The screen's geometry."""
        return ScreenGeometry(
            width_px=self.width_px,
            height_px=self.height_px,
            width_mm=self.width_mm,
            height_mm=self.height_mm,
            eye_distance_mm=self.eye_distance_mm,
        )


class Tracker(_Table, frozen=True, kw_only=True):
    """The eye tracker."""

    device: str = "eyelink"
    """"eyelink", "simulated", or "replay:FILE"."""
    address: str = "100.1.1.1"
    """Address of the EyeLink Host PC."""
    sampling_rate_hz: Literal[250, 500, 1000, 2000] = 1000
    eyes: Eyes = "R"
    """"L" or "R" (the dominant eye), or "LR" for both."""
    link_filter: Filter = "standard"
    """EyeLink heuristic filter of the live data; "extra" adds a millisecond of delay."""
    file_filter: Filter = "extra"
    """The same for the EDF file on the Host PC."""
    calibration_type: Literal["HV3", "HV5", "HV9", "HV13"] = "HV9"
    """Calibration targets."""
    real_time: bool = True
    """Request real-time priority from the operating system while recording, if it allows it."""


class Stimuli(_Table, frozen=True, kw_only=True):
    """The images."""

    folder: str = "../stimuli"
    """Folder with .jpg, .png or .webp files."""
    n_images: AtLeastOne = 106
    """Number of randomly chosen images (all, if there are fewer); none is shown twice."""
    width_px: AtLeastOne = 1500
    """Images are scaled to fit this rectangle in the centre of the screen."""
    height_px: AtLeastOne = 1000
    order_seed: Annotated[int, Meta(examples=[1])] | None = None
    """Seed of the choice and order of images, together with viewer and session; default 0."""


class Trial(_Table, frozen=True, kw_only=True):
    """One trial: cross, gate, image, blank."""

    image_s: Positive = 8.0
    blank_s: NotNegative = 0.5
    cross_size_deg: Positive = 0.6
    cross_area: Part = 0.8
    """Central fraction of the image's width and height in which the cross may appear."""


class Gate(_Table, frozen=True, kw_only=True):
    """Fixation gate: the image appears after a fixation on the cross."""

    radius_deg: Positive = 1.5
    dwell_s: Positive = 0.3
    timeout_s: Positive = 5.0
    tries: AtLeastOne = 2
    """Number of time-outs before a recalibration."""


class Schedule(_Table, frozen=True, kw_only=True):
    """Steps between trials; 0 means never."""

    recalibrate_every_trials: Count = 14
    break_every_trials: Count = 14
    drift_check_every_trials: Count = 7


class Task(_Table, frozen=True, kw_only=True):
    """Texts and questions for the participant."""

    instructions: str = (
        "You will see a series of images.\n"
        "Look at each as you like and try to remember it.\n\n"
        "Before each image a small cross appears:\n"
        "look at the cross until the image comes."
    )
    break_text: str = "Time for a short break. Rest your eyes."
    farewell: str = "That was the last image. Thank you!"
    recognition_questions: Count = 0
    """Number of questions at the end, half about shown and half about new images."""


class Keys(_Table, frozen=True, kw_only=True):
    """Keys of the experimenter, with PsychoPy's names."""

    go_on: str = "space"
    skip: str = "s"
    repeat: str = "r"
    recalibrate: str = "c"
    pause: str = "p"
    abort: str = "escape"
    yes: str = "y"
    no: str = "n"


class Identify(_Table, frozen=True, kw_only=True):
    """Identification sessions."""

    model: Annotated[str, Meta(examples=["lab.model"])] | None = None
    """Model file from `gazelive train`."""
    false_acceptance_rate: (
        Annotated[float, Meta(ge=LEAST_RATE, le=LARGEST_RATE, examples=[0.01])] | None
    ) = None
    """Share of strangers who are accepted; default: as in the model's training."""
    stranger_prior: Annotated[float, Meta(gt=0, lt=1)] = STRANGER_PRIOR
    """Probability of a stranger before any evidence."""
    stop_at: Annotated[float, Meta(gt=0.5, lt=1, examples=[0.99])] | None = None
    """Stop once the settled posterior of an enrolled viewer reaches this value, such as 0.99."""
    stop_after_images: AtLeastOne = 3
    """Minimum number of images before an early stop."""


class Simulated(_Table, frozen=True, kw_only=True):
    """The viewer of a simulated tracker."""

    seed: int = 1
    """Seed of the population: the same viewer and seed are the same person everywhere."""


class Dashboard(_Table, frozen=True, kw_only=True):
    """The experimenter's window."""

    open: bool = True
    screen_number: Count = 1
    """Number of the screen, if there are several."""
    hide_viewer: bool = False


class Output(_Table, frozen=True, kw_only=True):
    """Where sessions are saved."""

    folder: str = "../sessions"
    """Each session creates its own folder in it."""


class ExperimentConfig(_Table, frozen=True, kw_only=True):
    """The whole configuration of an experiment."""

    script: str = "scene_viewing.py"
    """Script of the experiment. Paths are relative to the folder of this file."""
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


def table_fields(table: str) -> tuple[str, ...]:
    """Return the names directly in `table`; "" is the top of the file."""
    if not table:
        return ExperimentConfig.__struct_fields__
    return tables()[table].__struct_fields__


def tables() -> dict[str, type[msgspec.Struct]]:
    """Return the Struct of each table of the file."""
    return {
        field.name: field.type
        for field in msgspec.structs.fields(ExperimentConfig)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
    }


def dotted(table: str, name: str) -> str:
    """Return the full name of a key, such as `screen.width_mm`."""
    return f"{table}.{name}" if table else name
