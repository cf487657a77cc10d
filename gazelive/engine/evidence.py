"""Who is looking: saccades and settled intervals in, posteriors out.

While an interval is open, a posterior goes out with every saccade. Each is computed from the same
numbers whatever chunks the samples came in: fixations and the late column of the saccade before
are handed over together with the next saccade, not when a chunk happened to hold them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.features.scanpath import LATE_COLUMN, Rows, Scanpath, scanpath_row
from gazelive.features.stream import SaccadeRow
from gazelive.gaze.documents import Posterior
from gazelive.gaze.events import Fixation, Saccade
from gazelive.identification.contract import Estimate, Floats, Identifier, Probe

N_LEADING = 10


class Evidence:
    """One person being identified, interval after interval."""

    def __init__(self, identifier: Identifier, n_leading: int = N_LEADING) -> None:
        self._identifier = identifier
        self._n_leading = min(n_leading, len(identifier.viewer_ids))
        self._probe: Probe = identifier.probe()
        self._settled: list[Scanpath] = []
        """Everything that counts, to begin anew with where an interval turns out to be none."""
        self._has_spoken = False

    def begin(self, start_us: int, sampling_rate_hz: float) -> None:
        """Open an interval."""
        self._start_us = start_us
        self._rate_hz = sampling_rate_hz
        self._fixations: list[Fixation] = []
        self._n_saccades = 0
        self._last: tuple[SaccadeRow, Rows] | None = None

    def add_fixation(self, fixation: Fixation) -> None:
        """Take a fixation of the open interval."""
        self._fixations.append(fixation)

    def add_saccade(self, row: SaccadeRow, saccade: Saccade, image: str | None) -> Posterior:
        """Take a saccade of the open interval that nothing disproves any more."""
        if not self._has_spoken:
            self._probe.begin(image)
            self._has_spoken = True
        sample_s = 1 / self._rate_hz
        for fixation in self._fixations:
            if fixation.offset_us < saccade.onset_us:
                duration_s = (fixation.offset_us - fixation.onset_us) / 1e6 + sample_s
                self._probe.add_fixation(fixation.x_deg, fixation.y_deg, duration_s)
        self._fixations = [f for f in self._fixations if f.offset_us >= saccade.onset_us]
        before = None
        if self._last is not None:
            before, completed = self._last
            completed[LATE_COLUMN] = row.previous_fixation_ms / 1000
            self._probe.complete_saccade(completed)
        numbers = scanpath_row(
            row,
            before,
            ordinal=self._n_saccades,
            sampling_rate_hz=self._rate_hz,
            near_loss=saccade.near_loss,
        )
        numbers[LATE_COLUMN] = np.nan  # it may be known by now, or not: that depends on the chunk
        self._probe.add_saccade(numbers)
        self._last = row, numbers.copy()
        self._n_saccades += 1
        seconds = (saccade.offset_us - self._start_us) / 1e6 + sample_s
        return self._posterior(self._probe.estimate(seconds), saccade.offset_us)

    def settle(self, scanpath: Scanpath, time_us: int) -> Posterior:
        """Replace what the open interval said by the whole of it."""
        if not self._has_spoken:
            self._probe.begin(scanpath.image)
        self._probe.settle(scanpath)
        self._has_spoken = False
        self._settled.append(scanpath)
        return self._posterior(self._probe.estimate(), time_us)

    def abandon(self) -> None:
        """Forget what the open interval said: it is none."""
        if not self._has_spoken:
            return
        self._has_spoken = False
        self._probe = self._identifier.probe()
        for scanpath in self._settled:
            self._probe.begin(scanpath.image)
            self._probe.settle(scanpath)

    def _posterior(self, estimate: Estimate, time_us: int) -> Posterior:
        leading = leading_of(estimate.log_probabilities, self._n_leading)
        return Posterior(
            tracker_time_us=time_us,
            leading=tuple(leading.tolist()),
            log_probabilities=tuple(estimate.log_probabilities[leading].tolist()),
            log_unknown=estimate.log_unknown,
            n_saccades=estimate.n_saccades,
            n_images=estimate.n_images,
            seconds=estimate.seconds,
            settled=estimate.settled,
        )


def leading_of(log_probabilities: Floats, n: int) -> npt.NDArray[np.intp]:
    """Return the places of the `n` greatest, the greatest first; of equals the earlier."""
    if n < len(log_probabilities):
        smallest = np.partition(log_probabilities, -n)[-n]
        places = np.flatnonzero(log_probabilities >= smallest)
    else:
        places = np.arange(len(log_probabilities))
    order = np.lexsort((places, -log_probabilities[places]))
    leading: npt.NDArray[np.intp] = places[order][:n]
    return leading
