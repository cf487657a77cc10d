"""Dump of an EDF file, from the worker to the reader: two files of plain records and one of JSON.

Field names are those of SR Research's EDF library; its manual explains them.
"""

from __future__ import annotations

import msgspec
import numpy as np

SAMPLES_FILE = "samples.bin"
EVENTS_FILE = "events.bin"
CONTENTS_FILE = "contents.json"
"""Written last: if it exists, the dump is complete."""

EXIT_NO_LIBRARY = 3
EXIT_REFUSED = 4

SAMPLE_RECORD = np.dtype(
    [
        ("time", "<u4"),
        ("flags", "<u2"),
        ("errors", "<u2"),
        ("input", "<u2"),
        ("gx", "<f4", 2),
        ("gy", "<f4", 2),
        ("hx", "<f4", 2),
        ("hy", "<f4", 2),
        ("px", "<f4", 2),
        ("py", "<f4", 2),
        ("pa", "<f4", 2),
        ("rx", "<f4"),
        ("ry", "<f4"),
    ]
)
"""One sample: milliseconds, gaze, HREF and raw positions of (left, right), pupil, px per degree.

The library's velocities are omitted: they differ from run to run.
"""

EVENT_RECORD = np.dtype(
    [("time", "<u4"), ("type", "<i2"), ("eye", "<i2"), ("sttime", "<u4"), ("entime", "<u4")]
    + [(name, "<f4") for name in ("gstx", "gsty", "genx", "geny", "gavx", "gavy")]
    + [(name, "<f4") for name in ("hstx", "hsty", "henx", "heny", "havx", "havy")]
    + [(name, "<f4") for name in ("ava", "pvel", "supd_x", "supd_y", "eupd_x", "eupd_y")]
    + [("input", "<u2"), ("buttons", "<u2")]
)
"""An ended saccade, fixation or blink, or a change of the buttons or the input port."""


class EdfBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One recording block; its samples are consecutive in the file of samples."""

    start_ms: int
    end_ms: int | None
    """None if the file ends before the block does."""
    sample_rate_hz: float
    eye: int
    """1 left, 2 right, 3 both."""
    sample_flags: int
    pupil_type: int
    """0 area, 1 diameter."""
    first_sample: int
    n_samples: int


class EdfContents(msgspec.Struct, frozen=True, kw_only=True):
    """Everything but samples and events."""

    preamble: str
    blocks: list[EdfBlock]
    messages: list[tuple[int, str]]
    """Milliseconds and text, its bytes decoded as Latin-1, so nothing is lost."""
    n_events: int
    """Number of valid records in the file of events."""
    lost_data_ms: list[int]
    """Times at which the tracker reported lost data."""
    n_stray_samples: int
    """Samples outside any block."""
    n_unreadable: int
    """Records that the library announced but did not return."""
    torn: bool
    """True if the file ends inside a record, which was skipped."""
