"""What an EyeLink is told before it records, and what of it the tracker is asked back.

All of this is sent in offline mode: while the tracker records or calibrates it takes no settings.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from gazelive.devices.eyelink_link import Link
from gazelive.errors import ConfigError, DeviceError
from gazelive.gaze.quality_messages import Kind
from gazelive.gaze.samples import Eyes
from gazelive.gaze.screen import ScreenGeometry

Filter = Literal["off", "standard", "extra"]
FILTER_LEVELS: dict[Filter, int] = {"off": 0, "standard": 1, "extra": 2}
_EYES = {"L": "LEFT", "R": "RIGHT"}
_EVENTS = "LEFT,RIGHT,FIXATION,SACCADE,BLINK,MESSAGE,BUTTON,INPUT"
_LINK_EVENTS = "LEFT,RIGHT,FIXATION,SACCADE,BLINK,BUTTON,INPUT"
_FILE_SAMPLES = "LEFT,RIGHT,GAZE,HREF,RAW,AREA,GAZERES,BUTTON,STATUS,INPUT"
_LINK_SAMPLES = "LEFT,RIGHT,GAZE,GAZERES,AREA,STATUS,INPUT"
_TARGET_SINCE_VERSION = 4
"""Older trackers do not know the head target and would refuse the whole list."""

Told = tuple[Kind, str]
"""Something to tell of the configuration."""


class EyeLinkSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an EyeLink is to record."""

    screen: ScreenGeometry
    address: str = "100.1.1.1"
    """The Host PC's; the vendor's default."""
    sampling_rate_hz: float = 1000.0
    eyes: Eyes = "R"
    link_filter: Filter = "standard"
    """What arrives here is late by it: off < 2 ms, standard 3 ms, extra 4 ms at 1000 Hz."""
    file_filter: Filter = "extra"
    calibration_type: str = "HV9"
    real_time: bool = True
    """Raise the process's priority while recording, where the system allows it."""

    def __post_init__(self) -> None:
        if not self.address.strip():
            raise ConfigError(
                "must be the Host PC's address, such as 100.1.1.1; without a tracker use the "
                "simulated device",
                key="address",
            )
        if not self.sampling_rate_hz > 0:
            raise ConfigError(f"must be more than 0, not {self.sampling_rate_hz}", key="rate")
        if not re.fullmatch(r"[A-Z]+\d+", self.calibration_type):
            raise ConfigError(
                f"must be a pattern such as HV9, HV13 or H3, not {self.calibration_type!r}",
                key="calibration_type",
            )


def software_version(tracker: Any) -> int:
    """Return the main number of the Host PC's software (5 of "EYELINK CL 5.15"), 0 if unknown."""
    match = re.search(r"(\d+)(?:\.\d+)*\s*$", tracker.getTrackerVersionString() or "")
    return int(match[1]) if match else 0


def commands(settings: EyeLinkSettings, version: int) -> list[str]:
    """Return the commands that make the tracker record as `settings` say."""
    screen = settings.screen
    half_width_mm, half_height_mm = screen.width_mm / 2, screen.height_mm / 2
    target = ",HTARGET" if version >= _TARGET_SINCE_VERSION else ""
    is_binocular = settings.eyes == "LR"
    eye = [] if is_binocular else [f"active_eye = {_EYES[settings.eyes]}"]
    return [
        f"sample_rate {settings.sampling_rate_hz:g}",
        f"screen_pixel_coords = {display_coords(screen)}",
        f"screen_phys_coords = {-half_width_mm:.1f} {half_height_mm:.1f} "
        f"{half_width_mm:.1f} {-half_height_mm:.1f}",
        f"screen_distance = {screen.eye_distance_mm:.0f}",
        f"binocular_enabled = {'YES' if is_binocular else 'NO'}",
        *eye,
        f"calibration_type = {settings.calibration_type}",
        "recording_parse_type = GAZE",
        "pupil_size_diameter = NO",
        f"file_event_filter = {_EVENTS}",
        f"file_sample_data = {_FILE_SAMPLES}{target}",
        f"link_event_filter = {_LINK_EVENTS}",
        f"link_sample_data = {_LINK_SAMPLES}{target}",
    ]


def display_coords(screen: ScreenGeometry) -> str:
    """Return the first and last pixel as the tracker wants them."""
    return f"0 0 {screen.width_px - 1} {screen.height_px - 1}"


def configure(link: Link, settings: EyeLinkSettings) -> list[Told]:
    """Send all settings and ask back those that gaze depends on; return what is to be told.

    Gaze in the pixels of another screen would be worthless, so that is an error. Everything
    else the tracker may know better (a rate that its licence lacks): it is told.
    """
    tracker = link.tracker
    tracker.setOfflineMode()
    refused = [link.command(text) for text in commands(settings, software_version(tracker))]
    told: list[Told] = [("message", text) for text in refused if text is not None]
    # Data Viewer knows the screen by this message, not by the command
    tracker.sendMessage(f"DISPLAY_COORDS {display_coords(settings.screen)}")
    return told + _asked_back(link, settings)


def _asked_back(link: Link, settings: EyeLinkSettings) -> list[Told]:
    """Compare what the tracker has with what it was sent."""
    screen, told = settings.screen, list[Told]()
    half_width_mm, half_height_mm = screen.width_mm / 2, screen.height_mm / 2
    sent: dict[str, list[float]] = {
        "screen_pixel_coords": [float(number) for number in display_coords(screen).split()],
        "sample_rate": [settings.sampling_rate_hz],
        "screen_phys_coords": [-half_width_mm, half_height_mm, half_width_mm, -half_height_mm],
        "screen_distance": [screen.eye_distance_mm],
    }
    for setting, wanted in sent.items():
        actual = link.read_numbers(setting)
        if actual is None:
            break  # old trackers never answer, and a late answer would be taken for the next one
        if len(actual) != len(wanted) or _alike(actual, wanted):
            continue
        if setting == "screen_pixel_coords":
            raise DeviceError(
                f"the EyeLink keeps its screen at {_listed(actual)} px instead of "
                f"{_listed(wanted)}: check the [screen] of the configuration and the Host PC's "
                "ini files"
            )
        kind: Kind = "rate" if setting == "sample_rate" else "message"
        text = f"{_listed(wanted)} was asked for as {setting}, the EyeLink has {_listed(actual)}"
        told.append((kind, text))
    return told


def _alike(actual: list[float], wanted: list[float]) -> bool:
    """Compare up to what the tracker may have rounded."""
    return all(abs(a - w) < 1.0 for a, w in zip(actual, wanted, strict=True))


def _listed(numbers: list[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)
