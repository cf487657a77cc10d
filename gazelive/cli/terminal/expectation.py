"""What to expect of a model, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gazelive.identification import Expectation, ExpectedRow

HEADING = ("viewing", "recognised", "accepted", "probes")


def expectation_lines(expectation: Expectation) -> Iterator[str]:
    """Yield a small table and what it is, or why there is none."""
    if not expectation.rows:
        yield f"What to expect is not estimated: {expectation.skipped}."
        return
    rate_percent = 100 * expectation.false_acceptance_rate
    yield f"What to expect at a false-acceptance rate of {rate_percent:g} %:"
    yield _line(HEADING)
    for row in expectation.rows:
        yield _line(_cells(row))
    another = "fewer will be" if expectation.n_sessions < 2 else "fewer may be"
    yield (
        "Held out within the training sessions, with half of the data enrolled (± SE over "
        f"viewers); on another day {another} accepted."
    )


def _cells(row: ExpectedRow) -> tuple[str, ...]:
    return (
        f"{row.seconds:g} s",
        _share(row.recognised, row.standard_error),
        _share(row.accepted, row.accepted_standard_error),
        str(row.n),
    )


def _share(share: float | None, standard_error: float | None) -> str:
    if share is None or standard_error is None:
        return "–"
    return f"{100 * share:.0f} ± {100 * standard_error:.0f} %"


def _line(cells: tuple[str, ...]) -> str:
    widths = (9, 14, 14, 8)
    return " " + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
