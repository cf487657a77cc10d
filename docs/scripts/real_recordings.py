"""The real recordings that the simulator is held against, as gaze in degrees.

They were published by others and are not part of the project; see `docs/simulation.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.gaze.arrays import Floats
from gazelive.gaze.samples import EYE_FIELDS
from gazelive.recordings.open import read_recording

BIOEYE_RATE_HZ = 250.0
BIOEYE_LOST = -32768
BIOEYE_START_UP = 120
"""Samples at the start of a BioEye recording that are a transient of its filter."""
ASC_FILES = ("bino500_unclosed", "mono1000_trials")
SHORTEST_BLOCK_S = 1.5


@dataclass(frozen=True)
class RealRecording:
    """One eye's gaze, (n, 2) degrees, y down, NaN where lost."""

    name: str
    gaze_deg: Floats
    rate_hz: float
    filtered: bool
    """True if the tracker's noise filter was on."""


def bioeye_recordings(path: Path) -> dict[str, Floats]:
    """Return person_session → gaze of a BioEye 2015 file (EyeLink 1000, left eye)."""
    recordings = {}
    with np.load(path) as file:
        for name in file.files:
            raw = file[name][BIOEYE_START_UP:].astype(np.float64)
            raw[(raw == BIOEYE_LOST).any(axis=1)] = np.nan
            recordings[name] = raw / 1000 * np.array([1.0, -1.0])  # the file's y grows upwards
    return recordings


def zemblys_recordings(folder: Path) -> list[RealRecording]:
    """Return the 1000 Hz EyeLink recordings of Zemblys et al. (2018), unfiltered."""
    recordings = []
    for path in sorted(folder.glob("zemblys_*.npz")):
        with np.load(path) as file:
            gaze = np.column_stack((file["x_deg"], file["y_deg"])).astype(np.float64)
            gaze[~file["valid"]] = np.nan
            recordings.append(RealRecording(path.stem, gaze, float(file["rate_hz"]), False))
    return recordings


def lund_recordings(folder: Path) -> list[RealRecording]:
    """Return the 500 Hz recordings of images and videos of Andersson et al. (2017), SMI tower."""
    recordings = []
    for path in sorted(folder.glob("lund2013_[iv]*.npz")):
        with np.load(path) as file:
            px = np.column_stack((file["x_px"], file["y_px"])).astype(np.float64)
            from_centre = (px - file["screen_px"] / 2) * file["screen_m"] / file["screen_px"]
            gaze = np.degrees(np.arctan(from_centre / float(file["distance_m"])))
            gaze[(px == 0).all(axis=1)] = np.nan
            recordings.append(RealRecording(path.stem, gaze, float(file["rate_hz"]), True))
    return recordings


def asc_recordings(folder: Path) -> list[RealRecording]:
    """Return EyeLink recordings with the filter on, one per block, by the tracker's resolution."""
    recordings = []
    paths = [folder / "asc" / f"{name}.asc.gz" for name in ASC_FILES]
    for path in (*paths, folder / "edf" / "pair_left500.asc.gz"):
        for number, block in enumerate(read_recording(path).blocks):
            if block.stream.px_per_deg is None or block.duration_s < SHORTEST_BLOCK_S:
                continue
            x_field, y_field, _ = EYE_FIELDS[block.stream.eyes[0]]
            px = np.column_stack((block.samples[x_field], block.samples[y_field]))
            gaze = px.astype(np.float64) / np.array(block.stream.px_per_deg)
            name = f"{path.name.split('.')[0]}_{number}"
            recordings.append(RealRecording(name, gaze, block.stream.sampling_rate_hz, True))
    return recordings
