"""Bands: events of the last seconds, to shade in the traces."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gazelive.gaze import Blink, IntervalSettled, Saccade, SaccadeOnset

MOST_BANDS = 400
"""More than occur in the seconds shown."""
LONGEST_OPEN_US = 300_000
"""An onset without an end is hidden after this time."""

BandKind = Literal["saccade", "saccade begun", "artefact", "pursuit", "blink", "loss"]


@dataclass(frozen=True)
class Band:
    """A stretch of time to shade; without an offset it still lasts."""

    kind: BandKind
    onset_us: int
    offset_us: int | None


class Bands:
    """The bands of the last seconds."""

    def __init__(self) -> None:
        self._bands: deque[Band] = deque(maxlen=MOST_BANDS)
        self.revision = 0

    def clear(self) -> None:
        """Remove all bands."""
        self._bands.clear()
        self.revision += 1

    def begin(self, onset: SaccadeOnset) -> None:
        """Add a saccade that has begun."""
        self._put(Band("saccade begun", onset.onset_us, None))

    def add_saccade(self, saccade: Saccade) -> None:
        """Add a saccade; it replaces its own beginning."""
        self._put(Band("saccade", saccade.onset_us, saccade.offset_us))

    def add_blink(self, blink: Blink) -> None:
        """Add a blink or another loss."""
        self._put(Band(blink.cause, blink.onset_us, blink.offset_us))

    def retract(self, onset_us: int) -> None:
        """Remove the saccade with this onset."""
        self._keep(band for band in self._bands if not _is_saccade(band, onset_us))

    def settle(self, settled: IntervalSettled) -> None:
        """Replace the preliminary bands of an interval by the settled ones."""
        self._keep(
            band
            for band in self._bands
            if not (band.offset_us is None or settled.start_us <= band.onset_us < settled.end_us)
        )
        for saccade in settled.saccades:
            self.add_saccade(saccade)
        for blink in settled.blinks:
            self.add_blink(blink)
        for artefact in settled.artefacts:
            self._put(Band("artefact", artefact.onset_us, artefact.offset_us))
        for pursuit in settled.pursuits:
            self._put(Band("pursuit", pursuit.onset_us, pursuit.offset_us))

    def between(self, from_us: int, to_us: int) -> list[Band]:
        """Return the bands that overlap a window; those that still last end with it."""
        found = []
        for band in self._bands:
            if band.offset_us is None and to_us - band.onset_us > LONGEST_OPEN_US:
                continue
            end_us = to_us if band.offset_us is None else band.offset_us
            if band.onset_us <= to_us and end_us >= from_us:
                found.append(Band(band.kind, band.onset_us, end_us))
        return found

    def _put(self, band: Band) -> None:
        """Add a band; a saccade replaces the one that has begun (its onset may have moved)."""
        if _is_saccade(band, band.onset_us):
            self._keep(
                old
                for old in self._bands
                if old.offset_us is not None and not _is_saccade(old, band.onset_us)
            )
        self._bands.append(band)
        self.revision += 1

    def _keep(self, bands: Iterable[Band]) -> None:
        self._bands = deque(list(bands), MOST_BANDS)
        self.revision += 1


def _is_saccade(band: Band, onset_us: int) -> bool:
    return band.kind in ("saccade", "saccade begun") and band.onset_us == onset_us
