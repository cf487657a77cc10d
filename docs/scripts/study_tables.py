"""Print the tables of docs/study.md from the folders that `gazelive evaluate` wrote.

python docs/scripts/study_tables.py STUDY_FOLDER…
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from pathlib import Path

Row = dict[str, str]
METHODS = (
    "scenewalk", "fisher-scenewalk", "markov", "abdelwahab", "fisher-markov", "holland-2011",
    "cem-b", "markov-dynamics", "fisher-markov-dynamics", "abdelwahab-dynamics", "cem-b-dynamics",
    "fisher-abdelwahab", "fisher-abdelwahab-dynamics", "gazelive",
    "abdelwahab-literal", "holland-2011-literal", "cem-b-literal", "cem-b-dynamics-literal",
)  # fmt: skip
"""Order of the rows: the paper's, then our extensions and method, then literal forms."""


def main() -> None:
    """Print every study's tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    for folder in parser.parse_args().folders:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        print(f"\n### {folder.name}: {manifest['n_viewers']} viewers\n")
        print_accuracy(folder)
        print_choices(folder)


def print_accuracy(folder: Path) -> None:
    """Print accuracy ± standard error over splits, with ECE at the middle amount."""
    summary, calibration = rows(folder, "summary"), rows(folder, "calibration")
    strangers = {(row["method"], amount(row)): row for row in rows(folder, "open_set")}
    amounts = list(dict.fromkeys(map(amount, summary)))
    middle = usual(amounts)
    head = ["method", *amounts, f"ECE, {middle}", f"EER of strangers, {middle}"]
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    errors = {(row["method"], amount(row)): row["ece"] for row in calibration}
    found = {(row["method"], amount(row)): row for row in summary}
    for method in ordered({row["method"] for row in summary}):
        cells = [accuracy(found.get((method, name))) for name in amounts]
        ece, stranger = errors.get((method, middle)), strangers.get((method, middle))
        cells += [short(ece), short(None if stranger is None else stranger["eer"])]
        print(f"| `{method}` | " + " | ".join(cells) + " |")


def print_choices(folder: Path) -> None:
    """Print how often each hyper-parameter was chosen."""
    votes: dict[tuple[str, str], Counter[str]] = {}
    for row in rows(folder, "hyperparameters"):
        votes.setdefault((row["method"], row["name"]), Counter())[row["value"]] += 1
    print()
    for (method, name), counts in votes.items():
        chosen = ", ".join(f"{value} (×{n})" for value, n in counts.most_common())
        print(f"{method}, {name}: {chosen}")


def rows(folder: Path, name: str) -> list[Row]:
    """Return the rows of a table; none if it was not made."""
    path = folder / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def amount(row: Row) -> str:
    """Return the amount of evidence of a row."""
    return row["n_images"] or f"{float(row['seconds']):g} s"


def usual(amounts: list[str]) -> str:
    """Return 20 s, or the number of images that is nearest to ten."""
    if "20 s" in amounts:
        return "20 s"
    return min((a for a in amounts if a.isdigit()), key=lambda a: abs(int(a) - 10))


def ordered(methods: set[str]) -> list[str]:
    """Return methods in the order of `METHODS`, ablations after all."""
    return [m for m in METHODS if m in methods] + sorted(methods - set(METHODS))


def accuracy(row: Row | None) -> str:
    """Return `.987 ± .004`."""
    if row is None:
        return ""
    error = f" ± {short(row['standard_error'])}" if row["standard_error"] else ""
    return short(row["accuracy"]) + error


def short(value: str | None) -> str:
    """Return `.987` or `1.00`."""
    if not value:
        return "–"
    number = float(value)
    return f"{number:.3f}".removeprefix("0") if number < 0.9995 else "1.00"


if __name__ == "__main__":
    main()
