"""The times of a sample table, block by block: read, judged, mended, and what was wrong told."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.errors import RecordingError
from gazelive.recordings.recording import Problem
from gazelive.recordings.table_sidecar import sidecar_path
from gazelive.recordings.table_times import (
    LATEST_MS,
    estimate_rate_hz,
    mend_times_us,
    other_unit,
    restarts,
)
from gazelive.recordings.time_order import increasing

LEAST_IN_ORDER = 0.4
"""Of rows in the order of time at least so many go on; half do where every time is there twice."""
CONTRADICTION = 1.25
"""A stated rate that is so many times the one of the steps, or the other way, is told."""


@dataclass(frozen=True)
class BlockClock:
    """When the rows of one block that stay were taken."""

    sampling_rate_hz: float
    times_us: npt.NDArray[np.int64]


class TableClock:
    """Takes the times of a table's blocks in their order."""

    def __init__(
        self, path: Path, t_ms: npt.NDArray[np.float64], *, problems: list[Problem]
    ) -> None:
        self._path = path
        self._t_ms = t_ms
        self._problems = problems
        self.kept = np.ones(len(t_ms), bool)
        """Which rows of the table stay."""

    def cut_at_restarts(self, rows: list[range]) -> list[range]:
        """Return the blocks with those cut in which time begins anew."""
        cut: list[range] = []
        for block in rows:
            found = [block.start + row for row in restarts(self._t_ms[block.start : block.stop])]
            borders = [block.start, *found, block.stop]
            cut += [range(first, beyond) for first, beyond in itertools.pairwise(borders)]
            if found:
                self._tell(
                    f"t_ms begins anew {_times(len(found))}, first in row {found[0] + 1}: every "
                    "such row starts a new block",
                )
        return cut

    def described(self, rows: range, rate_hz: float, where: str) -> BlockClock:
        """Return the clock of a block that gazelive wrote: it knew the rate."""
        return self._mended(rows, rate_hz, where)

    def read(self, rows: range, stated_hz: float | None, where: str) -> BlockClock:
        """Return the clock of one block; `where` names it before what is wrong with it."""
        t_ms = self._t_ms[rows.start : rows.stop]
        self._refuse_disorder(t_ms, where)
        self._refuse_other_unit(t_ms, stated_hz, where)
        found_hz = estimate_rate_hz(t_ms) or estimate_rate_hz(self._t_ms)
        rate_hz = stated_hz or found_hz
        if rate_hz is None:
            raise RecordingError(
                f"{where}the sampling rate cannot be told from column t_ms: write "
                f'{{"sampling_rate_hz": 500}} (or whatever it is) into '
                f"{sidecar_path(self._path).name}",
                path=self._path,
            )
        if found_hz and not 1 / CONTRADICTION <= rate_hz / found_hz <= CONTRADICTION:
            self._tell(
                f"{where}{sidecar_path(self._path).name} says {rate_hz:g} Hz, but t_ms advances "
                f"as at {found_hz:.4g} Hz: one of them is wrong; {rate_hz:g} Hz is believed"
            )
        return self._mended(rows, rate_hz, where, doubt_ends=True)

    def _mended(
        self, rows: range, rate_hz: float, where: str, *, doubt_ends: bool = False
    ) -> BlockClock:
        mended = mend_times_us(self._t_ms[rows.start : rows.stop], rate_hz, doubt_ends=doubt_ends)
        self.kept[rows.start : rows.stop] = mended.kept
        self._tell_mended(rows.start, mended.mended, mended.kept, where)
        return BlockClock(rate_hz, mended.times_us)

    def _refuse_disorder(self, t_ms: npt.NDArray[np.float64], where: str) -> None:
        known_us = np.round(t_ms[np.abs(t_ms) < LATEST_MS] * 1000).astype(np.int64)
        if len(known_us) > 2 and increasing(known_us).mean() < LEAST_IN_ORDER:
            raise RecordingError(
                f"{where}the rows are not in the order of column t_ms: sort the table by it",
                path=self._path,
            )

    def _refuse_other_unit(
        self, t_ms: npt.NDArray[np.float64], stated_hz: float | None, where: str
    ) -> None:
        found = other_unit(t_ms, stated_hz)
        if found is None:
            return
        unit, in_ms = found
        how = f"multiply it by {in_ms:g}" if in_ms > 1 else f"divide it by {1 / in_ms:g}"
        step = float(np.median(np.abs(np.diff(t_ms[np.isfinite(t_ms)]))))
        raise RecordingError(
            f"{where}column t_ms advances by {step:g} from row to row, so it seems to be in "
            f"{unit} and not in milliseconds: {how}",
            path=self._path,
        )

    def _tell_mended(
        self,
        first: int,
        mended: npt.NDArray[np.bool_],
        kept: npt.NDArray[np.bool_],
        where: str,
    ) -> None:
        for rows, one, many in (
            (
                np.flatnonzero(mended),
                "row had no time, or one out of order, and got the time of its place",
                "rows had no time, or one out of order, and got the times of their places",
            ),
            (
                np.flatnonzero(~kept),
                "row was left out: its time repeats another's or is out of order",
                "rows were left out: their times repeat others' or are out of order",
            ),
        ):
            if len(rows):
                row = first + int(rows[0])
                self._tell(
                    f"{where}{len(rows)} {one if len(rows) == 1 else many} (first: row {row + 1}, "
                    f"t_ms {self._t_ms[row]:g})"
                )

    def _tell(self, text: str) -> None:
        self._problems.append(Problem(None, text))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
