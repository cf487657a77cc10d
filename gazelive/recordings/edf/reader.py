"""Read EyeLink's EDF files, with the same result as from the ASC file of edf2asc.

Derived values are computed as edf2asc does: the resolution of a block is the mean over its samples,
and a saccade's amplitude is its path divided by the mean of the resolutions at its start and end.
The head target of the remote mode is omitted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import RecordingError
from gazelive.gaze import (
    Coordinates,
    Eye,
    Eyes,
    Integers,
    Samples,
    SampleStatus,
    SingleFloats,
    StreamDescription,
    TrackerEvent,
    empty_samples,
    in_order,
    left_out_sentence,
)
from gazelive.recordings.asc.columns import INPUT_NAME, RESOLUTION_NAMES
from gazelive.recordings.asc.lines import text_of
from gazelive.recordings.edf.dump import (
    CONTENTS_FILE,
    EVENT_RECORD,
    EVENTS_FILE,
    SAMPLE_RECORD,
    SAMPLES_FILE,
    EdfBlock,
    EdfContents,
)
from gazelive.recordings.edf.process import dump_edf
from gazelive.recordings.messages import interpret, message_at
from gazelive.recordings.recording import Block, Problem, Recording, Signal
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, find_trials
from gazelive.system import scratch_folder

EYES: dict[int, Eyes] = {1: "L", 2: "R", 3: "LR"}
EVENT_KINDS: dict[int, Literal["saccade", "fixation", "blink"]] = {
    4: "blink",
    6: "saccade",
    8: "fixation",
}
BUTTON_EVENT, INPUT_EVENT = 25, 28
HALF_MS_LATER = 0x0002
"""Flag of a sample that is half a millisecond after its time (2000 Hz)."""
HAS_GAZE, HAS_HREF, HAS_RESOLUTION, HAS_INPUT = 0x0400, 0x0800, 0x0200, 0x0040
POSITION_FIELDS = {
    Coordinates.SCREEN_PX: ("gx", "gy"),
    Coordinates.HREF: ("hx", "hy"),
    Coordinates.RAW: ("px", "py"),
}
MISSING_CODE = -32768.0
MISSING_ABOVE = 1e7
"""The library writes 1e8 where there is no position."""
STATUS_OF_ERROR_BIT = {
    0x1000: SampleStatus.INTERPOLATED,
    0x0100: SampleStatus.LEFT_REFLECTION_MISSING,
    0x0200: SampleStatus.RIGHT_REFLECTION_MISSING,
    0x0400: SampleStatus.LEFT_REFLECTION_RECOVERING,
    0x0800: SampleStatus.RIGHT_REFLECTION_RECOVERING,
}
UNUSUAL_ZEROS = 64
MAX_COMPLAINTS = 20
REFUSAL = re.compile("error reading edf file|End of file Exception")
"""The library's message for a file that it reads once zeros are appended."""

_decoder = msgspec.json.Decoder(EdfContents)


def read_edf(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read the EDF file at `path`; damage becomes a problem of the recording."""
    if not path.is_file():
        raise RecordingError("no such file", path=path)
    if not path.stat().st_size:
        raise RecordingError(
            "the file is empty: copy it again from the tracker's host PC", path=path
        )
    with scratch_folder("gazelive-edf-") as folder:
        complaints = dump_edf(path, folder, progress=progress)
        contents = _decoder.decode((folder / CONTENTS_FILE).read_bytes())
        header = tuple(line.lstrip("* ") for line in contents.preamble.splitlines())
        sources = (line.partition(":")[2].strip() for line in header if line.startswith("SOURCE:"))
        device = next(sources, "") or "EyeLink"
        messages = tuple(
            message_at(time_ms * 1000, _text(text)) for time_ms, text in contents.messages
        )
        facts = interpret(messages)
        problems = _damage(path, contents, complaints)
        blocks = []
        for described in contents.blocks:
            records = np.fromfile(
                folder / SAMPLES_FILE,
                SAMPLE_RECORD,
                described.n_samples,
                offset=described.first_sample * SAMPLE_RECORD.itemsize,
            )
            block, reasons = make_block(described, records, device, facts.screen_px)
            problems += [Problem(None, reason) for reason in reasons]
            if block is not None:
                blocks.append(block)
        event_records = np.fromfile(folder / EVENTS_FILE, EVENT_RECORD, contents.n_events)
    tracker_events, n_impossible = make_tracker_events(event_records, blocks)
    if n_impossible:
        problems.append(Problem(None, f"{n_impossible} impossible eye events were skipped"))
    return Recording(
        path=path,
        format="edf",
        blocks=tuple(blocks),
        messages=messages,
        tracker_events=tracker_events,
        signals=make_signals(event_records),
        trials=find_trials(messages, blocks, trial_patterns),
        calibrations=facts.calibrations,
        drift_corrections=facts.drift_corrections,
        header=header,
        screen_px=facts.screen_px,
        problems=tuple(problems),
    )


def make_block(
    described: EdfBlock,
    records: npt.NDArray[Any],
    device: str = "EyeLink",
    screen_px: tuple[int, int] | None = None,
) -> tuple[Block | None, list[str]]:
    """Return the block of `records` (of `SAMPLE_RECORD`), and its problems."""
    where = f"the block that starts at {described.start_ms} ms"
    eyes = EYES.get(described.eye)
    rate_hz = described.sample_rate_hz
    if eyes is None or not (math.isfinite(rate_hz) and 1 <= rate_hz <= 10_000):
        return None, [f"{where} is skipped: its eye or its sampling rate is impossible"]
    coordinates = _coordinates(described.sample_flags)
    samples, extras, n_left_out = in_order(
        make_samples(records, eyes, coordinates), _extras(records, described.sample_flags)
    )
    problems = [left_out_sentence(n_left_out, where)] if n_left_out else []
    start_us, end_us, reasons = _span_us(described, samples["tracker_time_us"])
    problems += [f"{where} {reason}" for reason in reasons]
    stream = StreamDescription(
        device=device,
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        coordinates=coordinates,
        screen_px=screen_px,
        px_per_deg=_mean_resolution(records) if described.sample_flags & HAS_RESOLUTION else None,
        pupil="diameter" if described.pupil_type == 1 else "area",
    )
    return Block(stream, samples, start_us, end_us, extras), problems


def _span_us(described: EdfBlock, times_us: Integers) -> tuple[int, int, list[str]]:
    """Return start and end of a block, its samples included, and what is wrong with them."""
    reasons = []
    start_us = described.start_ms * 1000
    if len(times_us) and times_us[0] < start_us:
        reasons.append("starts after its first sample")
        start_us = int(times_us[0])
    earliest_us = int(times_us[-1]) if len(times_us) else start_us
    if described.end_ms is None:
        reasons.append("has no end: the file is truncated or damaged")
    elif described.end_ms * 1000 < earliest_us:
        reasons.append("ends before its last sample")
    else:
        earliest_us = described.end_ms * 1000
    return start_us, earliest_us, reasons


def make_samples(records: npt.NDArray[Any], eyes: Eyes, coordinates: Coordinates) -> Samples:
    """Return the samples of `records`, with NaN for missing values."""
    samples = empty_samples(len(records))
    half_ms = (records["flags"] & HALF_MS_LATER) != 0
    samples["tracker_time_us"] = records["time"].astype(np.int64) * 1000 + 500 * half_ms
    x_field, y_field = POSITION_FIELDS[coordinates]
    for eye in eyes:
        side, index = ("left", 0) if eye == "L" else ("right", 1)
        x = _without_missing(records[x_field][:, index])
        y = _without_missing(records[y_field][:, index])
        pupil = _without_missing(records["pa"][:, index])
        # edf2asc writes no pupil without a position, though the file may have one
        pupil[(pupil == 0) | np.isnan(x) | np.isnan(y)] = np.nan
        samples[f"{side}_x"], samples[f"{side}_y"], samples[f"{side}_pupil"] = x, y, pupil
    for bit, status in STATUS_OF_ERROR_BIT.items():
        samples["status"] |= np.where(records["errors"] & bit, np.uint32(status), np.uint32(0))
    return samples


def make_tracker_events(
    records: npt.NDArray[Any], blocks: Sequence[Block]
) -> tuple[tuple[TrackerEvent, ...], int]:
    """Return the tracker's saccades, fixations and blinks, and the number of impossible ones."""
    head_referenced = any(block.stream.coordinates is Coordinates.HREF for block in blocks)
    prefix = "h" if head_referenced else "g"
    events = []
    n_impossible = 0
    for record in records:
        kind = EVENT_KINDS.get(int(record["type"]))
        if kind is None:
            continue
        if record["eye"] not in (0, 1) or record["entime"] < record["sttime"]:
            n_impossible += 1
            continue
        events.append(_tracker_event(kind, record, prefix))
    return tuple(events), n_impossible


def make_signals(records: npt.NDArray[Any]) -> tuple[Signal, ...]:
    """Return the changes of the buttons and of the input port."""
    signals = []
    for record in records:
        time_us = int(record["sttime"]) * 1000
        if record["type"] == INPUT_EVENT:
            signals.append(Signal(time_us, "input", 0, int(record["input"])))
        elif record["type"] == BUTTON_EVENT:
            state, changed = int(record["buttons"]) & 0xFF, int(record["buttons"]) >> 8
            signals += [
                Signal(time_us, "button", bit + 1, state >> bit & 1)
                for bit in range(8)
                if changed >> bit & 1
            ]
    return tuple(signals)


def _tracker_event(
    kind: Literal["saccade", "fixation", "blink"], record: Any, prefix: str
) -> TrackerEvent:
    """Return the event with the positions whose fields begin with `prefix` (gaze or HREF)."""
    eye: Eye = "L" if record["eye"] == 0 else "R"
    start_us, end_us = int(record["sttime"]) * 1000, int(record["entime"]) * 1000
    if kind == "saccade":
        start_x, start_y = _known(record, f"{prefix}stx"), _known(record, f"{prefix}sty")
        end_x, end_y = _known(record, f"{prefix}enx"), _known(record, f"{prefix}eny")
        return TrackerEvent(
            kind=kind,
            eye=eye,
            start_us=start_us,
            end_us=end_us,
            start_x=start_x,
            start_y=start_y,
            end_x=end_x,
            end_y=end_y,
            amplitude_deg=_amplitude_deg(record),
            peak_velocity_deg_s=_known(record, "pvel"),
        )
    if kind == "fixation":
        return TrackerEvent(
            kind=kind,
            eye=eye,
            start_us=start_us,
            end_us=end_us,
            mean_x=_known(record, f"{prefix}avx"),
            mean_y=_known(record, f"{prefix}avy"),
            mean_pupil=_known(record, "ava"),
        )
    return TrackerEvent(kind=kind, eye=eye, start_us=start_us, end_us=end_us)


def _amplitude_deg(saccade: Any) -> float | None:
    squares = 0.0
    for axis in "xy":
        start, end = _known(saccade, f"gst{axis}"), _known(saccade, f"gen{axis}")
        start_res, end_res = _known(saccade, f"supd_{axis}"), _known(saccade, f"eupd_{axis}")
        if start is None or end is None or not start_res or not end_res:
            return None
        squares += ((end - start) / ((start_res + end_res) / 2)) ** 2
    return math.sqrt(squares)


def _known(record: Any, name: str) -> float | None:
    """Return a number of the record; the library has tenths, in single precision."""
    value = float(record[name])
    return None if value == MISSING_CODE or not abs(value) < MISSING_ABOVE else round(value, 3)


def _without_missing(values: SingleFloats) -> SingleFloats:
    """Return a copy with NaN for the library's codes of missing values."""
    known = (np.abs(values) < MISSING_ABOVE) & (values != MISSING_CODE)
    return np.where(known, values, np.float32(np.nan))


def _mean_resolution(records: npt.NDArray[Any]) -> tuple[float, float] | None:
    """Return the mean px per degree over the samples that have it."""
    means = []
    for name in ("rx", "ry"):
        values = _without_missing(records[name])
        values = values[values > 0]
        if not len(values):
            return None
        means.append(float(values.mean(dtype=np.float64)))
    return means[0], means[1]


def _extras(records: npt.NDArray[Any], sample_flags: int) -> dict[str, SingleFloats]:
    """Return the further columns of the samples, named as in an ASC file."""
    extras = {}
    if sample_flags & HAS_RESOLUTION:
        for name, field in zip(RESOLUTION_NAMES, ("rx", "ry"), strict=True):
            extras[name] = _without_missing(records[field])
    if sample_flags & HAS_INPUT:
        extras[INPUT_NAME] = records["input"].astype(np.float32)
    return extras


def _coordinates(sample_flags: int) -> Coordinates:
    """Return the best positions of the samples."""
    if sample_flags & HAS_GAZE:
        return Coordinates.SCREEN_PX
    return Coordinates.HREF if sample_flags & HAS_HREF else Coordinates.RAW


def _damage(path: Path, contents: EdfContents, complaints: Sequence[str]) -> list[Problem]:
    """Return the problems of the file as a whole."""
    texts = []
    if _ends_in_zeros(path):
        texts.append(
            "the file ends in zeros: it was not copied completely; everything intact was kept"
        )
    if contents.torn:
        texts.append("the file ends inside a record: it is truncated; everything intact was kept")
        complaints = [line for line in complaints if not REFUSAL.search(line)]
    if contents.n_stray_samples:
        texts.append(f"{contents.n_stray_samples} samples outside any block were skipped")
    if contents.n_unreadable:
        texts.append(f"{contents.n_unreadable} records that cannot be read were skipped")
    if not contents.blocks:
        texts.append("the file has no recording block")
    texts += [f"the tracker lost data at {time_ms} ms" for time_ms in contents.lost_data_ms]
    texts += [f"the EDF library says: {line}" for line in complaints[:MAX_COMPLAINTS]]
    if len(complaints) > MAX_COMPLAINTS:
        texts.append(f"{len(complaints) - MAX_COMPLAINTS} more messages of the EDF library")
    return [Problem(None, text) for text in texts]


def _ends_in_zeros(path: Path) -> bool:
    """Return whether there are more zeros than at the end of every EDF file."""
    with path.open("rb") as file:
        file.seek(-min(UNUSUAL_ZEROS, path.stat().st_size), 2)
        return not any(file.read())


def _text(latin_1: str) -> str:
    """Return a message's text as in an ASC file, without blanks before line breaks."""
    first, *further = latin_1.encode("latin-1").rstrip(b"\r\n").split(b"\n")
    if not further:
        return text_of(first)
    return "\n".join(text_of(line).rstrip() for line in (first, *further))
