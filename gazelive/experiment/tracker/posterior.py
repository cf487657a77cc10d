"""The posterior of a running session, with the names of the viewers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gazelive.gaze import Posterior


@dataclass(frozen=True)
class LivePosterior:
    """What the engine has found out about the viewer so far."""

    best: str
    """The most probable of the enrolled."""
    posterior: dict[str, float]
    """Probability of the most probable viewers, given that the person is enrolled."""
    unknown: float | None
    """Probability that it is none of them; None if strangers cannot be detected."""
    accepted: bool | None
    """Whether the best match is accepted at the false-acceptance rate; None as above."""
    more_s: float | None
    """Seconds of viewing until it will probably be accepted; None if it is, or if that cannot be
    expected."""
    n_saccades: int
    n_images: int
    seconds: float
    """Viewing time."""
    settled: bool
    """True after a viewing was analysed as a whole, False while it runs."""
    tracker_time_us: int

    @property
    def probability(self) -> float:
        """Probability of the best match."""
        return self.posterior[self.best]


def named(document: Posterior, viewers: tuple[str, ...]) -> LivePosterior:
    """Return the engine's document with names instead of indices."""
    names = [viewers[index] for index in document.leading]
    probabilities = map(math.exp, document.log_probabilities)
    return LivePosterior(
        best=names[0],
        posterior=dict(zip(names, probabilities, strict=True)),
        unknown=None if document.log_unknown is None else math.exp(document.log_unknown),
        accepted=document.accepted,
        more_s=document.more_s,
        n_saccades=document.n_saccades,
        n_images=document.n_images,
        seconds=document.seconds,
        settled=document.settled,
        tracker_time_us=document.tracker_time_us,
    )
