"""Medians of large arrays, without the copies and checks of `np.median`."""

from __future__ import annotations

from gazelive.detection.outcome import Floats


def middle_two(values: Floats) -> tuple[float, float]:
    """Return the two middle values, twice the same where their number is odd.

    Their mean is the median. `values` must be finite and not empty; they are left in disorder.
    """
    middle = len(values) // 2
    values.partition(middle)
    upper = float(values[middle])
    return (float(values[:middle].max()) if len(values) % 2 == 0 else upper), upper
