"""Posteriors over viewers, from running saccades and settled intervals.

An open interval gives a posterior with every saccade. It does not depend on the chunks, and equals
the one computed offline (`gazelive.analysis.running`).
"""

from __future__ import annotations

import numpy as np

from gazelive.analysis import RunningInterval
from gazelive.features import SaccadeRow, Scanpath
from gazelive.gaze import Fixation, Floats, Integers, Notice, Posterior
from gazelive.identification import (
    DEFAULT_TERMS,
    Estimate,
    Identifier,
    LooksAtImages,
    Probe,
    Terms,
    take_running,
    write_leading,
)

N_LEADING = 10


class Evidence:
    """Identifies one viewer, interval after interval."""

    def __init__(
        self,
        identifier: Identifier,
        n_leading: int = N_LEADING,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        self._identifier = identifier
        self._n_leading = min(n_leading, len(identifier.viewer_ids))
        self._probe: Probe = identifier.probe(terms=terms)
        self._is_open = False
        self._image: str | None = None
        self._reported: set[str] = set()

    def begin(self, start_us: int, sampling_rate_hz: float) -> None:
        """Open an interval."""
        self._interval = RunningInterval(start_us, sampling_rate_hz)

    def add_fixation(self, fixation: Fixation) -> None:
        """Take a fixation of the open interval."""
        self._interval.add_fixation(fixation)

    def add_saccade(self, row: SaccadeRow, image: str | None) -> list[Notice | Posterior]:
        """Take a saccade of the open interval that can no longer be retracted."""
        notices = self._open(image)
        estimate = take_running(self._probe, self._interval.add_saccade(row))
        return [*notices, self._posterior(estimate, row.saccade.offset_us)]

    def settle(self, scanpath: Scanpath, time_us: int) -> list[Notice | Posterior]:
        """Replace the evidence of the open interval by that of the settled one."""
        notices = self._open(scanpath.image)
        self._probe.settle(scanpath)
        self._is_open = False
        return [*notices, self._posterior(self._probe.estimate(), time_us)]

    def leave_out(self, time_us: int) -> list[Posterior]:
        """Drop an interval that does not count; return the posterior without it."""
        if not self._is_open:
            return []
        self.abandon()
        return [self._posterior(self._probe.estimate(), time_us)]

    def abandon(self) -> None:
        """Drop the evidence of the open interval: it is not an interval after all."""
        self._is_open = False
        self._probe.abandon()

    def _open(self, image: str | None) -> list[Notice]:
        """Open an interval unless one is open; return notices about its image."""
        if not self._is_open:
            self._probe.begin(image)
            self._is_open = True
        elif image == self._image:
            return []
        self._image = image
        identifier = self._identifier
        problem = identifier.image_problem(image) if isinstance(identifier, LooksAtImages) else None
        if problem is None or problem in self._reported:
            return []
        self._reported.add(problem)
        return [Notice(level="warning", text=problem)]

    def _posterior(self, estimate: Estimate, time_us: int) -> Posterior:
        leading = leading_of(estimate.log_probabilities, self._n_leading)
        return Posterior(
            tracker_time_us=time_us,
            leading=tuple(leading.tolist()),
            log_probabilities=tuple(estimate.log_probabilities[leading].tolist()),
            log_unknown=estimate.log_unknown,
            accepted=estimate.accepted,
            more_s=estimate.more_s,
            n_saccades=estimate.n_saccades,
            n_images=estimate.n_images,
            seconds=estimate.seconds,
            settled=estimate.settled,
        )


def leading_of(log_probabilities: Floats, n: int) -> Integers:
    """Return the indices of the `n` largest, largest first; of equal ones the earlier first."""
    places = np.empty(min(n, len(log_probabilities)), np.int64)
    write_leading(log_probabilities, places)
    return places
