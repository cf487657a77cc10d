"""The recording that a tracker's own computer keeps, for a tracker that has no such computer.

The EyeLink's file holds every sample, also those that were lost on the way to the experiment, and
is fetched at the end. So does this one: what was recorded goes to an unnamed file on disk, since a
long session does not belong into memory, and is fetched as ASC.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from gazelive.gaze.samples import SAMPLE_DTYPE, Samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.recording import Block, Calibration, DriftCorrection, Recording


class HostFile:
    """Samples in an unnamed file, and what else was recorded."""

    def __init__(self) -> None:
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._streams: list[StreamDescription] = []
        self._n_samples: list[int] = []
        self._messages: list[Message] = []
        self._calibrations: list[Calibration] = []
        self._drift_corrections: list[DriftCorrection] = []

    def start_block(self, stream: StreamDescription) -> None:
        """Begin a block."""
        self._streams.append(stream)
        self._n_samples.append(0)

    def append(self, samples: Samples) -> None:
        """Keep samples of the current block."""
        self._spool.write(samples.tobytes())
        self._n_samples[-1] += len(samples)

    def add_message(self, message: Message) -> None:
        """Keep a message."""
        self._messages.append(message)

    def add_calibrations(self, calibrations: Iterable[Calibration]) -> None:
        """Keep the results of a calibration."""
        self._calibrations.extend(calibrations)

    def add_drift_corrections(self, drift_corrections: Iterable[DriftCorrection]) -> None:
        """Keep the results of a drift check."""
        self._drift_corrections.extend(drift_corrections)

    def write(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Write everything as ASC, whole or not at all."""
        from gazelive.recordings.asc_writer import write_asc  # compiled; needed only at the end

        target = folder / f"{stem}.asc"
        write_asc(self._recording(target), target, progress=progress)
        return target

    def _recording(self, path: Path) -> Recording:
        self._spool.seek(0)
        blocks = []
        for stream, n in zip(self._streams, self._n_samples, strict=True):
            samples = np.frombuffer(self._spool.read(n * SAMPLE_DTYPE.itemsize), SAMPLE_DTYPE)
            if n:
                times_us = samples["tracker_time_us"]
                blocks.append(Block(stream, samples, int(times_us[0]), int(times_us[-1])))
        screen = self._streams[0].screen if self._streams else None
        messages = tuple(sorted(self._messages, key=lambda message: message.tracker_time_us))
        return Recording(
            path=path,
            format="asc",
            blocks=tuple(blocks),
            messages=messages,
            calibrations=tuple(self._calibrations),
            drift_corrections=tuple(self._drift_corrections),
            screen=screen,
            screen_px=self._streams[0].screen_px if self._streams else None,
        )

    def close(self) -> None:
        """Delete the file."""
        self._spool.close()
