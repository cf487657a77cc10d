"""Set up an EyeLink: send its settings, read them back, and start a block.

Settings are sent in offline mode: the tracker accepts none while it records or calibrates. What the
tracker actually records is known only once a block has started.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from gazelive.devices.eyelink.link import Link
from gazelive.errors import ConfigError, DeviceError
from gazelive.gaze import Eyes, Kind, ScreenGeometry

Filter = Literal["off", "standard", "extra"]
FILTER_LEVELS: dict[Filter, int] = {"off": 0, "standard": 1, "extra": 2}
_EYES = {"L": "LEFT", "R": "RIGHT"}
_EVENTS = "LEFT,RIGHT,FIXATION,SACCADE,BLINK,MESSAGE,BUTTON,INPUT"
_LINK_EVENTS = "LEFT,RIGHT,FIXATION,SACCADE,BLINK,BUTTON,INPUT"
_FILE_SAMPLES = "LEFT,RIGHT,GAZE,HREF,RAW,AREA,GAZERES,BUTTON,STATUS,INPUT"
_LINK_SAMPLES = "LEFT,RIGHT,GAZE,GAZERES,AREA,STATUS,INPUT"
_TARGET_SINCE_VERSION = 4
"""Older trackers do not know the head target and would reject the whole list."""

Deviation = tuple[Kind, str]
"""A deviation of the configuration to report."""


class EyeLinkSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of an EyeLink."""

    screen: ScreenGeometry
    address: str = "100.1.1.1"
    """Address of the Host PC; the vendor's default."""
    sampling_rate_hz: float = 1000.0
    eyes: Eyes = "R"
    link_filter: Filter = "standard"
    """Delays the samples: off < 2 ms, standard 3 ms, extra 4 ms at 1000 Hz."""
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
    """Return the major version of the Host PC's software (5 of "EYELINK CL 5.15"), 0 if unknown."""
    match = re.search(r"(\d+)(?:\.\d+)*\s*$", tracker.getTrackerVersionString() or "")
    return int(match[1]) if match else 0


def commands(settings: EyeLinkSettings, version: int) -> list[str]:
    """Return the commands for these settings."""
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
    """Return the first and last pixel in the tracker's format."""
    return f"0 0 {screen.width_px - 1} {screen.height_px - 1}"


def configure(link: Link, settings: EyeLinkSettings) -> list[Deviation]:
    """Send all settings and read back those that gaze depends on; return the deviations.

    Gaze in the pixels of another screen would be worthless, so that is an error. Other deviations
    (such as a rate that the licence does not include) are reported.
    """
    tracker = link.tracker
    tracker.setOfflineMode()
    refused = [link.command(text) for text in commands(settings, software_version(tracker))]
    deviations: list[Deviation] = [("message", text) for text in refused if text is not None]
    # Data Viewer gets the screen from this message, not from the command
    tracker.sendMessage(f"DISPLAY_COORDS {display_coords(settings.screen)}")
    return deviations + _read_back(link, settings)


def _read_back(link: Link, settings: EyeLinkSettings) -> list[Deviation]:
    """Compare the tracker's settings with those sent."""
    screen, deviations = settings.screen, list[Deviation]()
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
            break  # old trackers never answer, and a late answer would be taken for the next
        if len(actual) != len(wanted) or _alike(actual, wanted):
            continue
        if setting == "screen_pixel_coords":
            raise DeviceError(
                f"the EyeLink has a screen of {_listed(actual)} px instead of "
                f"{_listed(wanted)}: check the [screen] of the configuration and the Host PC's "
                "ini files"
            )
        kind: Kind = "rate" if setting == "sample_rate" else "message"
        text = f"{setting}: requested {_listed(wanted)}, the EyeLink has {_listed(actual)}"
        deviations.append((kind, text))
    return deviations


def _alike(actual: list[float], wanted: list[float]) -> bool:
    """Compare up to the tracker's rounding."""
    return all(abs(a - w) < 1.0 for a, w in zip(actual, wanted, strict=True))


def _listed(numbers: list[float]) -> str:
    return " ".join(f"{number:g}" for number in numbers)


BLOCK_START_MS = 100
_EYES_OF_CODE: dict[int, Eyes] = {0: "L", 1: "R", 2: "LR"}
_EYE_WORDS: dict[Eyes, str] = {"L": "the left eye", "R": "the right eye", "LR": "both eyes"}


@dataclass(frozen=True, slots=True)
class BlockStart:
    """Content of a block, and its deviations from the settings."""

    rate_hz: float
    eyes: Eyes
    deviations: tuple[Deviation, ...]


def begin_recording(link: Link, wanted: EyeLinkSettings) -> BlockStart:
    """Start recording to the file and the link; return what the tracker records."""
    tracker = link.tracker
    tracker.setOfflineMode()
    # each stop resets the filter
    tracker.setHeuristicLinkAndFileFilter(
        FILTER_LEVELS[wanted.link_filter], FILTER_LEVELS[wanted.file_filter]
    )
    code = tracker.startRecording(1, 1, 1, 1)
    if code != 0:
        raise DeviceError(
            f"the EyeLink did not start recording (code {code}): check the Host PC's screen"
        )
    try:
        started = _describe_block(link, wanted)
    except DeviceError:
        tracker.stopRecording()
        raise
    if wanted.real_time:
        with contextlib.suppress(RuntimeError, OSError):
            link.pylink.beginRealTimeMode(0)
    return started


def _describe_block(link: Link, wanted: EyeLinkSettings) -> BlockStart:
    tracker, deviations = link.tracker, list[Deviation]()
    if not tracker.waitForBlockStart(BLOCK_START_MS, 1, 0):
        raise DeviceError("the EyeLink records but sends no samples: restart the Host PC's program")
    eyes = _EYES_OF_CODE.get(tracker.eyeAvailable())
    if eyes is None:
        raise DeviceError("the EyeLink records no eye: set up the camera on the Host PC")
    if eyes != wanted.eyes:
        asked, actual = _EYE_WORDS[wanted.eyes], _EYE_WORDS[eyes]
        deviations.append(("eye", f"requested {asked}, the EyeLink records {actual}"))
    rate_hz = float(tracker.getSampleRate())
    if not rate_hz > 0:
        deviations.append(
            ("rate", "the EyeLink does not report its sampling rate: using the requested one")
        )
        rate_hz = wanted.sampling_rate_hz
    elif rate_hz != wanted.sampling_rate_hz:
        text = f"requested {wanted.sampling_rate_hz:g} Hz, the EyeLink records at {rate_hz:g} Hz"
        deviations.append(("rate", text))
    return BlockStart(rate_hz, eyes, tuple(deviations))
