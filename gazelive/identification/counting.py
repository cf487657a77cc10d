"""What every probe counts beside its evidence: saccades, intervals and seconds."""

from __future__ import annotations

from gazelive.identification.contract import Estimate, Floats


class Counts:
    """How much of a person was seen; one interval at a time may be open."""

    def __init__(self) -> None:
        self.is_open = False
        self.n_open = 0
        """Saccades of the open interval."""
        self._n_saccades = 0
        self._n_images = 0
        self._seconds = 0.0

    def close(self, n_saccades: int, seconds: float) -> None:
        """Count an interval that has ended, in the place of the open one."""
        self._n_saccades += n_saccades
        self._n_images += 1
        self._seconds += seconds
        self.n_open = 0
        self.is_open = False

    def estimate(
        self, log_probabilities: Floats, log_unknown: float, open_seconds: float | None
    ) -> Estimate:
        """Return what is believed after so much."""
        return Estimate(
            log_probabilities,
            log_unknown,
            self._n_saccades + self.n_open,
            self._n_images + self.is_open,
            self._seconds + (open_seconds or 0.0),
            not self.is_open,
        )
