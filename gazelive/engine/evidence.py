"""Who is looking: saccades and settled intervals in, posteriors out.

While an interval is open, a posterior goes out with every saccade. Each is computed from the same
numbers whatever chunks the samples came in, and offline (`gazelive.features.running`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.features.running import RunningInterval
from gazelive.features.scanpath import Scanpath
from gazelive.features.stream import SaccadeRow
from gazelive.gaze.documents import Notice, Posterior
from gazelive.gaze.events import Fixation, Saccade
from gazelive.identification.contract import Estimate, Floats, Identifier, LooksAtImages, Probe
from gazelive.identification.evidence_kernels import write_leading
from gazelive.identification.running import take_running

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
        self._image: str | None = None
        self._told: set[str] = set()

    def begin(self, start_us: int, sampling_rate_hz: float) -> None:
        """Open an interval."""
        self._interval = RunningInterval(start_us, sampling_rate_hz)

    def add_fixation(self, fixation: Fixation) -> None:
        """Take a fixation of the open interval."""
        self._interval.add_fixation(fixation)

    def add_saccade(
        self, row: SaccadeRow, saccade: Saccade, image: str | None
    ) -> list[Notice | Posterior]:
        """Take a saccade of the open interval that nothing disproves any more."""
        notices = self._open(image)
        estimate = take_running(self._probe, self._interval.add_saccade(row, saccade))
        return [*notices, self._posterior(estimate, saccade.offset_us)]

    def settle(self, scanpath: Scanpath, time_us: int) -> list[Notice | Posterior]:
        """Replace what the open interval said by the whole of it."""
        notices = self._open(scanpath.image)
        self._probe.settle(scanpath)
        self._has_spoken = False
        self._settled.append(scanpath)
        return [*notices, self._posterior(self._probe.estimate(), time_us)]

    def leave_out(self, time_us: int) -> list[Posterior]:
        """Forget what the open interval said, which does not count; say what holds without it."""
        if not self._has_spoken:
            return []
        self.abandon()
        return [self._posterior(self._probe.estimate(), time_us)]

    def abandon(self) -> None:
        """Forget what the open interval said: it is none."""
        if not self._has_spoken:
            return
        self._has_spoken = False
        self._probe = self._identifier.probe()
        for scanpath in self._settled:
            self._probe.begin(scanpath.image)
            self._probe.settle(scanpath)

    def _open(self, image: str | None) -> list[Notice]:
        """Open an interval, unless it is open; return what there is to say of its image."""
        if not self._has_spoken:
            self._probe.begin(image)
            self._has_spoken = True
        elif image == self._image:
            return []
        self._image = image
        identifier = self._identifier
        problem = identifier.image_problem(image) if isinstance(identifier, LooksAtImages) else None
        if problem is None or problem in self._told:
            return []
        self._told.add(problem)
        return [Notice(level="warning", text=problem)]

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


def leading_of(log_probabilities: Floats, n: int) -> npt.NDArray[np.int64]:
    """Return the places of the `n` greatest, the greatest first; of equals the earlier."""
    places = np.empty(min(n, len(log_probabilities)), np.int64)
    write_leading(log_probabilities, places)
    return places
