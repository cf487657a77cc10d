"""A small honest identifier for tests: people differ by how far their saccades go.

Each viewer has a normal density of ln(amplitude). Numbers are summed in the order in which they
come, so that any evidence that is left out, repeated or put in another order shows.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.features.scanpath import Column, Scanpath
from gazelive.identification import Estimate

SPREAD = 0.6
UNKNOWN_SPREAD = 1.5


class AmplitudeIdentifier:
    """Fulfils the contract of an `Identifier`."""

    method = "amplitude"

    def __init__(self, mean_log_amplitudes: dict[str, float]) -> None:
        self.viewer_ids = tuple(mean_log_amplitudes)
        self.means = np.array(list(mean_log_amplitudes.values()))

    @classmethod
    def of(cls, n_viewers: int) -> AmplitudeIdentifier:
        """Return viewers who spread over 1° to 8°."""
        means = np.linspace(0, math.log(8), n_viewers)
        return cls({f"v{k:03}": float(mean) for k, mean in enumerate(means)})

    def probe(self, log_prior=None, terms=None):
        n = len(self.viewer_ids)
        return AmplitudeProbe(self, np.full(n, -math.log(n)) if log_prior is None else log_prior)


class AmplitudeProbe:
    def __init__(self, identifier, log_prior) -> None:
        self._means = identifier.means
        self._log_prior = log_prior
        self._log_evidence = np.zeros(len(log_prior))
        self._log_unknown = math.log(0.1)
        self._n_saccades, self._n_images, self._seconds = 0, 0, 0.0
        self._rows: list[np.ndarray] | None = None
        self._fixations: list[tuple[float, float, float]] = []

    def begin(self, image) -> None:
        if self._rows is None:
            self._rows, self._fixations = [], []

    def add_saccade(self, row) -> None:
        assert self._rows is not None
        assert np.isnan(row[Column.NEXT_FIXATION_S])
        self._rows.append(row.copy())

    def complete_saccade(self, row) -> None:
        assert self._rows
        self._rows[-1] = row.copy()

    def add_fixation(self, x_deg, y_deg, duration_s) -> None:
        assert self._rows is not None
        self._fixations.append((x_deg, y_deg, duration_s))

    def settle(self, scanpath: Scanpath) -> None:
        assert self._rows is not None
        self._rows = None
        log_evidence, log_unknown = self._of(scanpath.saccades, scanpath.fixations)
        self._log_evidence = self._log_evidence + log_evidence
        self._log_unknown += log_unknown
        self._n_saccades += scanpath.n_saccades
        self._n_images += 1
        self._seconds += scanpath.seconds

    def abandon(self) -> None:
        self._rows = None

    def estimate(self, seconds=None) -> Estimate:
        log_evidence, log_unknown, n = self._log_evidence, self._log_unknown, self._n_saccades
        is_open = self._rows is not None
        if self._rows:
            more, unknown = self._of(np.array(self._rows), np.array(self._fixations))
            log_evidence, log_unknown = log_evidence + more, log_unknown + unknown
            n += len(self._rows)
        joint = self._log_prior + log_evidence
        total = np.logaddexp.reduce(joint)
        return Estimate(
            log_probabilities=joint - total,
            log_unknown=float(log_unknown - np.logaddexp(log_unknown, total)),
            accepted=False,
            more_s=None,
            n_saccades=n,
            n_images=self._n_images + is_open,
            seconds=self._seconds + (seconds or 0.0),
            settled=not is_open,
        )

    def _of(self, rows, fixations):
        """Return the evidence of saccades; all they and the fixations hold counts a little."""
        if not len(rows):
            return np.zeros(len(self._means)), 0.0
        log_amplitude = np.log(rows[:, Column.AMPLITUDE_DEG].astype(float))
        off = (log_amplitude[:, None] - self._means) / SPREAD
        dwell = np.nansum(rows[:, Column.NEXT_FIXATION_S]) + np.nansum(rows[:, 17:]) * 1e-6
        dwell += np.sum(fixations) * 1e-3 if len(fixations) else 0.0
        evidence = -0.5 * (off**2).sum(0) + dwell * np.arange(len(self._means)) * 1e-3
        middle = (log_amplitude - self._means.mean()) / UNKNOWN_SPREAD
        unknown = -0.5 * (middle**2).sum() - len(rows) * math.log(UNKNOWN_SPREAD / SPREAD)
        return evidence, float(unknown)
