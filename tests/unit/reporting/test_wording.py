"""Numbers as a person reads them."""

import pytest

from gazelive.wording import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (7.54, "7.5 s"),
        (59.94, "59.9 s"),
        (60, "1 min 0 s"),
        (725.4, "12 min 5 s"),
        (3599.9, "1 h 0 min 0 s"),
        (3665, "1 h 1 min 5 s"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text
