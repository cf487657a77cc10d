"""Clock of a sample table: the times of its blocks, checked, repaired and reported."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.errors import RecordingError
from gazelive.gaze import Flags, Floats, Integers, increasing
from gazelive.recordings.recording import Problem
from gazelive.recordings.tables.sidecar import sidecar_path
from gazelive.recordings.tables.times import (
    LATEST_MS,
    estimate_rate_hz,
    other_unit,
    repair_times_us,
    restarts,
)

LEAST_IN_ORDER = 0.4
"""Least share of rows in an ordered table that increase; half do if every time is repeated."""
CONTRADICTION = 1.25
"""Ratio of stated and measured rate from which the contradiction is reported."""


@dataclass(frozen=True)
class BlockClock:
    """Times of the kept rows of one block."""

    sampling_rate_hz: float
    times_us: Integers


class TableClock:
    """Reads the times of a table's blocks in order."""

    def __init__(self, path: Path, t_ms: Floats, *, problems: list[Problem]) -> None:
        self._path = path
        self._t_ms = t_ms
        self._problems = problems
        self.kept = np.ones(len(t_ms), bool)
        """Rows of the table that are kept."""

    def cut_at_restarts(self, rows: list[range]) -> list[range]:
        """Return the blocks, split where time restarts."""
        cut: list[range] = []
        for block in rows:
            found = [block.start + row for row in restarts(self._t_ms[block.start : block.stop])]
            borders = [block.start, *found, block.stop]
            cut += [range(first, stop) for first, stop in itertools.pairwise(borders)]
            if found:
                self._report(
                    f"t_ms restarts {_times(len(found))}, first in row {found[0] + 1}: each starts "
                    "a new block",
                )
        return cut

    def described(self, rows: range, rate_hz: float, where: str) -> BlockClock:
        """Return the clock of a block written by gazelive, whose rate is known."""
        return self._repaired(rows, rate_hz, where)

    def read(self, rows: range, stated_hz: float | None, where: str) -> BlockClock:
        """Return the clock of one block; `where` names it in problems."""
        t_ms = self._t_ms[rows.start : rows.stop]
        self._refuse_disorder(t_ms, where)
        self._refuse_other_unit(t_ms, stated_hz, where)
        found_hz = estimate_rate_hz(t_ms) or estimate_rate_hz(self._t_ms)
        rate_hz = stated_hz or found_hz
        if rate_hz is None:
            raise RecordingError(
                f"{where}the sampling rate does not follow from column t_ms: write it, such as "
                f'{{"sampling_rate_hz": 500}}, into '
                f"{sidecar_path(self._path).name}",
                path=self._path,
            )
        if found_hz and not 1 / CONTRADICTION <= rate_hz / found_hz <= CONTRADICTION:
            self._report(
                f"{where}{sidecar_path(self._path).name} gives {rate_hz:g} Hz, but t_ms advances "
                f"at {found_hz:.4g} Hz: one of them is wrong; using {rate_hz:g} Hz"
            )
        return self._repaired(rows, rate_hz, where, distrust_ends=True)

    def _repaired(
        self, rows: range, rate_hz: float, where: str, *, distrust_ends: bool = False
    ) -> BlockClock:
        repaired = repair_times_us(
            self._t_ms[rows.start : rows.stop], rate_hz, distrust_ends=distrust_ends
        )
        self.kept[rows.start : rows.stop] = repaired.kept
        self._report_repairs(rows.start, repaired.repaired, repaired.kept, where)
        return BlockClock(rate_hz, repaired.times_us)

    def _refuse_disorder(self, t_ms: Floats, where: str) -> None:
        known_us = np.round(t_ms[np.abs(t_ms) < LATEST_MS] * 1000).astype(np.int64)
        if len(known_us) > 2 and increasing(known_us).mean() < LEAST_IN_ORDER:
            raise RecordingError(
                f"{where}the rows are not in the order of column t_ms: sort the table by t_ms",
                path=self._path,
            )

    def _refuse_other_unit(self, t_ms: Floats, stated_hz: float | None, where: str) -> None:
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

    def _report_repairs(
        self,
        first: int,
        repaired: Flags,
        kept: Flags,
        where: str,
    ) -> None:
        for rows, one, many in (
            (
                np.flatnonzero(repaired),
                "row had no time or one out of order; it was interpolated",
                "rows had no time or one out of order; they were interpolated",
            ),
            (
                np.flatnonzero(~kept),
                "row was skipped: its time is repeated or out of order",
                "rows were skipped: their times are repeated or out of order",
            ),
        ):
            if len(rows):
                row = first + int(rows[0])
                self._report(
                    f"{where}{len(rows)} {one if len(rows) == 1 else many} (first: row {row + 1}, "
                    f"t_ms {self._t_ms[row]:g})"
                )

    def _report(self, text: str) -> None:
        self._problems.append(Problem(None, text))


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"
