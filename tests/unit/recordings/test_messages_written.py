"""Messages in EyeLink's format."""

from __future__ import annotations

import pytest

from gazelive.recordings.messages import validation_verdict


@pytest.mark.parametrize(
    ("mean_error_deg", "max_error_deg", "verdict"),
    [
        (0.43, 0.63, "GOOD"),
        (0.99, 1.49, "GOOD"),
        (1.0, 1.4, "FAIR"),
        (0.5, 1.5, "FAIR"),
        (1.5, 1.9, "POOR"),
        (0.5, 2.0, "POOR"),
        (3.58, 3.73, "POOR"),
    ],
)
def test_the_worse_of_mean_and_maximum_counts(
    mean_error_deg: float, max_error_deg: float, verdict: str
) -> None:
    assert validation_verdict(mean_error_deg, max_error_deg) == verdict
