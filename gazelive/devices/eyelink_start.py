"""The start of a block: what the tracker really records is known only once it does."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from gazelive.devices.eyelink_link import Link
from gazelive.devices.eyelink_setup import FILTER_LEVELS, EyeLinkSettings, Told
from gazelive.errors import DeviceError
from gazelive.gaze.samples import Eyes

BLOCK_START_MS = 100
_EYES: dict[int, Eyes] = {0: "L", 1: "R", 2: "LR"}
_EYE_WORDS: dict[Eyes, str] = {"L": "the left eye", "R": "the right eye", "LR": "both eyes"}


@dataclass(frozen=True, slots=True)
class Began:
    """What a block delivers, and what of it was asked for otherwise."""

    rate_hz: float
    eyes: Eyes
    told: tuple[Told, ...]


def begin_recording(link: Link, wanted: EyeLinkSettings) -> Began:
    """Let the tracker record, into its file and to us; return what it does."""
    tracker = link.tracker
    tracker.setOfflineMode()
    # each stop resets the filter
    tracker.setHeuristicLinkAndFileFilter(
        FILTER_LEVELS[wanted.link_filter], FILTER_LEVELS[wanted.file_filter]
    )
    code = tracker.startRecording(1, 1, 1, 1)
    if code != 0:
        raise DeviceError(
            f"the EyeLink did not start to record (code {code}): look at the Host PC's screen"
        )
    try:
        began = _what_it_records(link, wanted)
    except DeviceError:
        tracker.stopRecording()
        raise
    if wanted.real_time:
        with contextlib.suppress(RuntimeError, OSError):
            link.pylink.beginRealTimeMode(0)
    return began


def _what_it_records(link: Link, wanted: EyeLinkSettings) -> Began:
    tracker, told = link.tracker, list[Told]()
    if not tracker.waitForBlockStart(BLOCK_START_MS, 1, 0):
        raise DeviceError("the EyeLink records but sends no samples: restart the Host PC's program")
    eyes = _EYES.get(tracker.eyeAvailable())
    if eyes is None:
        raise DeviceError("the EyeLink records no eye: set up the camera on the Host PC")
    if eyes != wanted.eyes:
        asked, actual = _EYE_WORDS[wanted.eyes], _EYE_WORDS[eyes]
        told.append(("eye", f"{asked} should be recorded, the EyeLink records {actual}"))
    rate_hz = float(tracker.getSampleRate())
    if not rate_hz > 0:
        told.append(("rate", "the EyeLink does not tell its sampling rate: taken as asked for"))
        rate_hz = wanted.sampling_rate_hz
    elif rate_hz != wanted.sampling_rate_hz:
        text = (
            f"{wanted.sampling_rate_hz:g} Hz was asked for, the EyeLink records at {rate_hz:g} Hz"
        )
        told.append(("rate", text))
    return Began(rate_hz, eyes, tuple(told))
