"""ASC files, plain and gzipped."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.gaze import Message, StreamDescription
from gazelive.recordings.asc import sample_kernels
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.asc.writer import has_resolution, write_asc
from gazelive.recordings.recording import Block, Recording, Signal
from gazelive.system import GZIP_MAGIC

from ..unit.recordings.asc_recordings import EYES, RATES_HZ, make_events, make_extras, make_samples
from .target import Target

ONE_IN = 8
"""The dearer law is tried with one input in so many."""
TOKENS = (
    *(b"MSG", b"START", b"END", b"SAMPLES", b"EVENTS", b"GAZE", b"HREF", b"PUPIL", b"LEFT"),
    *(b"RIGHT", b"VEL", b"RES", b"RATE", b"TRACKING", b"CR", b"FILTER", b"INPUT", b"BUTTON"),
    *(b"HTARGET", b"PRESCALER", b"VPRESCALER", b"AREA", b"DIAMETER", b"EFIX", b"ESACC"),
    *(b"EBLINK", b"SFIX", b"SSACC", b"SBLINK", b"RECCFG", b"DISPLAY_COORDS", b"GAZE_COORDS"),
    *(b"TRIALID", b"TRIAL_RESULT", b"!V IMGLOAD", b"!CAL", b"VALIDATION", b"DRIFTCORRECT"),
    *(b"MISSING_DATA", b"ELCLCFG", b"THRESHOLDS", b"...", b".....", b".............", b"1e300"),
    *(
        b"-32768.0",
        b"9999999999999999",
        b"0.5",
        b"nan",
        b"inf",
        b"**",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
    ),
)

TEXTS = (
    "MSG 1 RECCFG CR 500 2 1 L\nSTART 2 LEFT SAMPLES\n3 1.0 2.0 3.0 ...\n5 . . 0.0 C..\nEND 7 L\n",
    "** SOURCE: x\nMSG 5 -2 !CAL VALIDATION HV9 L LEFT GOOD ERROR 0.36 avg. 0.98 max OFFSET 0.27 "
    "deg. 3.1,-2.0 pix.\nMSG 6 !CAL\n  1 2 3\n  4 5\nMSG 7 DRIFTCORRECT R RIGHT at 512,384 OFFSET "
    "0.4 deg. 3.1,-9.0 pix.\nMSG 9 DISPLAY_COORDS 0 0 1023 767\n",
    "START 100 RIGHT EVENTS\nPRESCALER 10\nVPRESCALER 10\nPUPIL DIAMETER\nEVENTS HREF RIGHT RATE "
    "250.00\nSFIX R 100\nEFIX R 100 140 44 12.0 13.0 900\nESACC R 141 150 12 1 2 3 4 0.5 100\n"
    "EBLINK R 151 160 12\nBUTTON 161 3 1\nINPUT 162 255\nEND 170 EVENTS RES 20.1 21.2\n",
    "MSG 1 TRIALID 3\nMSG 2 !V IMGLOAD CENTER a.png 512 384 800 600\nMSG 3 image_onset\nMSG 4 "
    "!V TRIAL_VAR a b\nMSG 5 TRIAL_RESULT 0\n",
)


def seeds(folder: Path) -> list[bytes]:
    """Return short files of all kinds, as `write_asc` writes them, and lines of other forms."""
    path = folder / "seed.asc"
    made = [text.encode() for text in TEXTS]
    kinds = (set[str](), {"velocity", "resolution", "input", "target"}, {"resolution"})
    for number, (eyes, rate_hz) in enumerate((e, r) for e in EYES for r in RATES_HZ):
        rng = np.random.default_rng(number)
        samples = make_samples(rng, eyes, rate_hz, 1_000_000, 6, missing=0.2)
        stream = StreamDescription(
            device="made up",
            sampling_rate_hz=rate_hz,
            eyes=eyes,
            screen_px=(1920, 1080),
            px_per_deg=(35.0, 36.0) if number % 2 else None,
        )
        columns = make_extras(rng, eyes, len(samples), frozenset(kinds[number % len(kinds)]))
        end_us = int(samples["tracker_time_us"][-1]) + 4000
        recording = Recording(
            path=path,
            format="session",
            blocks=(Block(stream, samples, 1_000_000, end_us, columns),),
            messages=(Message(999_000, "TRIALID 1"), Message(1_001_000, "image_onset")),
            tracker_events=tuple(make_events(rng, samples, eyes)),
            signals=(Signal(1_002_000, "input", 0, 7), Signal(1_003_000, "button", 1, 1)),
            screen_px=(1920, 1080),
        )
        write_asc(recording, path, resolution=has_resolution(recording))
        made.append(path.read_bytes())
    return [*made, gzip.compress(made[0]), gzip.compress(made[-1])]


def read(data: bytes, folder: Path) -> None:
    """Read a file; now and then write what was read, and read it again."""
    path = folder / "a.asc"
    path.write_bytes(data)
    recording = read_asc(path)
    for block in recording.blocks:
        assert (np.diff(block.samples["tracker_time_us"]) > 0).all()
        assert block.start_us <= block.end_us
        assert all(len(extra) == len(block.samples) for extra in block.extras.values())
    if not data.startswith(GZIP_MAGIC):
        n_lines = data.count(b"\n") + 1
        assert all(p.line is None or 1 <= p.line <= n_lines for p in recording.problems)
    if zlib.crc32(data) % ONE_IN == 0:
        write_asc(recording, path)
        again = read_asc(path)
        assert times_of(again) == times_of(recording)


def times_of(recording: Recording) -> list[bytes]:
    """Return the times of the samples of each block, in the order of their starts."""
    blocks = sorted(recording.blocks, key=lambda block: block.start_us)
    return [block.samples["tracker_time_us"].tobytes() for block in blocks]


def interpret() -> None:
    """Leave all lines to the byte parser: the word parser consists of processor instructions."""

    def take_none(*state: Any) -> tuple[Any, ...]:
        _text, at, _stop, _layout, _numbers, _bits, row, last_us, last_written_us, *_ = state
        return at, row, last_us, last_written_us

    sample_kernels.take_usual_samples = take_none
    np.seterr(all="ignore")  # unsigned numbers are meant to wrap around


TARGET = Target(read=read, seeds=seeds, interpret=interpret, tokens=TOKENS)
