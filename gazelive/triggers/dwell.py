"""Dwell: how long gaze has been in a place without interruption."""

from __future__ import annotations

from gazelive.gaze import Flags, Integers

LONGEST_DROPOUT_S = 0.02
"""A shorter loss does not end a dwell: trackers lose a sample now and then."""


class Dwell:
    """Follows gaze in and out of a place."""

    def __init__(self) -> None:
        self._since_us: int | None = None
        self._seen_us = 0

    def take(self, times_us: Integers, seen: Flags, inside: Flags) -> list[int | None]:
        """Return for each of the next samples since when gaze has been inside; None if it is not.

        A lost sample is not inside, but ends the dwell only after `LONGEST_DROPOUT_S`.
        """
        return [
            self._since(*sample)
            for sample in zip(times_us.tolist(), seen.tolist(), inside.tolist(), strict=True)
        ]

    def _since(self, time_us: int, is_seen: bool, is_inside: bool) -> int | None:
        if time_us - self._seen_us > LONGEST_DROPOUT_S * 1e6:  # gaze was lost for too long
            self._since_us = None
        if not is_seen:
            return None
        self._seen_us = time_us
        if not is_inside:
            self._since_us = None
        elif self._since_us is None:
            self._since_us = time_us
        return self._since_us
