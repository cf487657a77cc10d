"""Parts that all probes share: the prior, the counts, and the hand-over of running saccades."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gazelive.analysis import RunningSaccade
from gazelive.errors import ModelError
from gazelive.features import Rows, Scanpath
from gazelive.gaze import Floats
from gazelive.identification.contract import DEFAULT_TERMS, Estimate, Match, Probe, Terms
from gazelive.identification.open_set import NO_STRANGERS, Strangers


class CountingProbe(ABC):
    """A probe that counts saccades, intervals and seconds; a method adds the evidence."""

    def __init__(
        self,
        n_viewers: int,
        log_prior: Floats | None,
        terms: Terms = DEFAULT_TERMS,
        strangers: Strangers = NO_STRANGERS,
    ) -> None:
        self.log_prior = checked_log_prior(log_prior, n_viewers)
        self._terms = terms
        self._strangers = strangers
        self.is_open = False
        self.n_open = 0
        """Saccades of the open interval."""
        self._n_saccades = 0
        self._n_images = 0
        self._seconds = 0.0

    @abstractmethod
    def take_saccade(self, row: Rows) -> None:
        """Take the row of a saccade of the open interval."""

    @abstractmethod
    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval by that of its scanpath, for good."""

    @abstractmethod
    def keep_open(self) -> None:
        """Keep the evidence of the open interval, which never settles."""

    @abstractmethod
    def drop_open(self) -> None:
        """Drop the evidence of the open interval."""

    @abstractmethod
    def judge(self) -> tuple[Floats, Match | None]:
        """Return the log posterior (viewers,) and the best match, if there is one yet."""

    def begin(self, image: str | None) -> None:
        """Open an interval; the evidence of an open one that never settled stays."""
        del image
        if self.is_open:
            self.keep_open()
            self._close(self.n_open, 0.0)
        self.is_open = True

    def add_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        self.take_saccade(row)
        self.n_open += 1

    def complete_saccade(self, row: Rows) -> None:
        """Take the late column of the last saccade: ignored unless a method needs it."""
        del row

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Take a fixation: ignored unless a method needs it."""
        del x_deg, y_deg, duration_s

    def settle(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval."""
        self.take_scanpath(scanpath)
        self._close(scanpath.n_saccades, scanpath.seconds)

    def abandon(self) -> None:
        """Drop the evidence of the open interval, if one is open."""
        if self.is_open:
            self.drop_open()
            self.n_open, self.is_open = 0, False

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return the posterior of all evidence so far."""
        log_probabilities, match = self.judge()
        found = self._strangers.judge(match, self._terms)
        seen_s = self._seconds + (seconds or 0.0)
        return Estimate(
            log_probabilities,
            found.log_unknown,
            found.accepted,
            None if found.growth is None else seen_s * (found.growth - 1),
            self._n_saccades + self.n_open,
            self._n_images + self.is_open,
            seen_s,
            not self.is_open,
        )

    def _close(self, n_saccades: int, seconds: float) -> None:
        self._n_saccades += n_saccades
        self._n_images += 1
        self._seconds += seconds
        self.n_open = 0
        self.is_open = False


def checked_log_prior(log_prior: Floats | None, n_viewers: int) -> Floats:
    """Return the prior, even by default; raise `ModelError` if it is not one."""
    if log_prior is None:
        return np.full(n_viewers, -np.log(max(1, n_viewers)))
    prior = np.asarray(log_prior, np.float64)
    if prior.shape != (n_viewers,) or not np.isfinite(prior).all():
        raise ModelError(
            f"a prior is one finite log probability for each of {n_viewers} viewers, in their order"
        )
    return prior


def take_running(probe: Probe, saccade: RunningSaccade) -> Estimate:
    """Hand a running saccade with all that is known by then to a probe; return its estimate."""
    for fixation in saccade.fixations:
        probe.add_fixation(*fixation)
    if saccade.completed is not None:
        probe.complete_saccade(saccade.completed)
    probe.add_saccade(saccade.row)
    return probe.estimate(saccade.seconds)
