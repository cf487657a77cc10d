"""The paper's claims, tested on the tables of a study and put in words.

S. Makowski et al., "Discriminative viewer identification using generative models of eye gaze",
KES 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gazelive.evaluation.figures import amount_words, usual_amount
from gazelive.evaluation.tables import FISHER_PAIRS, Row, Rows, Study

PAPER_ORDER = (
    "scenewalk",
    "markov",
    "abdelwahab",
    "fisher-markov",
    "markov-dynamics",
    "fisher-markov-dynamics",
)
"""From the least to the most accurate."""
SIGNIFICANT = 0.05


def claims_of(study: Study) -> list[tuple[str, str]]:
    """Return each claim that the tables can test, with what they say of it."""
    return [*_fisher_claims(study), *_order_claims(study), *_time_claims(study)]


def _fisher_claims(study: Study) -> Iterator[tuple[str, str]]:
    for fisher, generative in FISHER_PAIRS:
        rows = [row for row in study.tests if row["method"] == fisher]
        if not rows:
            continue
        better = [row for row in rows if row["difference"] > 0]
        sure = [row for row in rows if row["p_holm"] < SIGNIFICANT]
        worse = [row for row in sure if row["difference"] < 0]
        verdict = (
            "holds"
            if len(better) == len(rows) and sure and not worse
            else ("does not hold" if len(better) < len(rows) / 2 or worse else "holds in part")
        )
        largest = max(rows, key=lambda row: abs(row["difference"]))
        yield (
            f"{fisher} is more accurate than {generative}",
            f"{verdict}: better at {len(better)} of {len(rows)} amounts of evidence, "
            f"{len(sure)} of them beyond chance (paired permutation test over "
            f"{rows[0]['n_viewers']} viewers, Holm-corrected p < {SIGNIFICANT:g}); largest "
            f"difference {largest['difference']:+.3f} with {_amount(largest)} "
            f"(p = {largest['p_holm']:.2g}).",
        )


def _order_claims(study: Study) -> Iterator[tuple[str, str]]:
    amount = usual_amount(study.summary)
    accuracy = {
        row["method"]: row["accuracy"]
        for row in study.summary
        if row["n_images"] == amount[0] and (amount[0] is not None or row["seconds"] == amount[1])
    }
    present = [method for method in PAPER_ORDER if method in accuracy]
    for lower, higher in pairwise(present):
        holds = accuracy[lower] < accuracy[higher]
        yield (
            f"{lower} is less accurate than {higher}",
            f"{'holds' if holds else 'does not hold'} with {amount_words(amount)}: "
            f"{accuracy[lower]:.3f} and {accuracy[higher]:.3f}.",
        )
    if {"fisher-markov-dynamics", "cem-b-dynamics"} <= accuracy.keys():
        ours, theirs = accuracy["fisher-markov-dynamics"], accuracy["cem-b-dynamics"]
        yield (
            "fisher-markov-dynamics and cem-b-dynamics are about equally accurate",
            f"with {amount_words(amount)}: {ours:.3f} and {theirs:.3f}.",
        )


def _time_claims(study: Study) -> Iterator[tuple[str, str]]:
    if not study.timing:
        return
    size = max(row["n_viewers"] for row in study.timing)
    at_size = {r["method"]: r["seconds"] for r in study.timing if r["n_viewers"] == size}
    order = sorted(at_size, key=lambda method: at_size[method])
    fisher = [method for method in order if method.startswith("fisher")]
    if not fisher:
        return
    fastest = order[0]
    verdict = "holds" if fastest in fisher else f"does not hold: {fastest} is faster"
    listed = ", ".join(f"{method} {1000 * at_size[method]:.2g} ms" for method in order)
    yield (
        "Fisher SVMs identify fastest, whatever the number of persons",
        f"{verdict}. With {size:,} persons enrolled: {listed}.",
    )


def _amount(row: Row) -> str:
    return amount_words((row["n_images"], row["seconds"]))


def summary_table(
    summary: Rows, most_columns: int | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: one row per method, one column per amount of evidence.

    If there are too many columns, evenly spread ones are kept.
    """
    amounts: dict[tuple[object, object], str] = {}
    for row in summary:
        key = (row["n_images"], None if row["n_images"] is not None else row["seconds"])
        amounts.setdefault(key, _amount(row))
    if most_columns is not None and len(amounts) > most_columns:
        kept = np.linspace(0, len(amounts) - 1, most_columns).round().astype(int)
        amounts = {key: amounts[key] for key in [list(amounts)[i] for i in kept]}
    cells: dict[str, dict[tuple[object, object], str]] = {}
    for row in summary:
        key = (row["n_images"], None if row["n_images"] is not None else row["seconds"])
        error = "" if row["standard_error"] is None else f" ± {_figure(row['standard_error'])}"
        cells.setdefault(row["method"], {})[key] = f"{_figure(row['accuracy'])}{error}"
    head = ["method", *amounts.values()]
    return head, [[name, *(own.get(key, "") for key in amounts)] for name, own in cells.items()]


def _figure(value: float) -> str:
    """Return `.987` or `1.00`."""
    text = f"{value:.3f}"
    return text.removeprefix("0") if value < 0.9995 else "1.00"
