"""Report of a study: one HTML page that reads like the results section of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from gazelive.evaluation.claims import claims_of, summary_table
from gazelive.evaluation.figures import Figure, amount_words, drawn, usual_amount
from gazelive.evaluation.tables import Row, Rows, Study
from gazelive.reporting import as_svg, html_page
from gazelive.system import write_bytes
from gazelive.wording import NOTHING, counted, duration, percent


def write_report(study: Study, figures: Sequence[Figure], path: Path) -> None:
    """Write the page."""
    title = f"Viewer identification: {study.manifest['source']}"
    pictures = {figure.name: _picture(figure) for figure in figures}
    sections = [
        f"<header><h1>{escape(title)}</h1></header>",
        _section("Data and protocol", _protocol(study.manifest)),
        _section(
            "Accuracy",
            _accuracy_words(study)
            + _table(*summary_table(study.summary))
            + pictures.get("accuracy", "")
            + pictures.get("accuracy-seconds", ""),
        ),
        _section("The paper's claims", _claims(study)),
        _section("Calibration", _calibration(study) + pictures.get("calibration", "")),
        _section("Time to identify", _times(study.time_to_identify)),
        _section("Strangers", _strangers(study) + pictures.get("strangers", "")),
        _section("Execution time", pictures.get("execution-time", "")),
        _section("Hyper-parameters", _hyperparameters(study.hyperparameters)),
    ]
    write_bytes(path, html_page(title, filter(None, sections)).encode())


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{content}</section>" if content else ""


def _picture(figure: Figure) -> str:
    with drawn(figure) as made:
        source = as_svg(made)
    return (
        f'<figure><img src="{source}" alt="{escape(figure.caption)}">'
        f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
    )


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    top = "".join(f"<th{_class(i)}>{escape(name)}</th>" for i, name in enumerate(head))
    body = "".join(
        "<tr>"
        + "".join(f"<td{_class(i)}>{escape(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _class(column: int) -> str:
    return ' class="number"' if column else ' class="name"'


def _protocol(manifest: Row) -> str:
    protocol = manifest["protocol"]
    what = "recordings" if manifest["kind"] == "samples" else "a fixation table"
    data = (
        f"{counted(manifest['n_viewers'], 'viewer')}, "
        f"{counted(manifest['n_scanpaths'], 'scanpath')} "
        f"and {counted(manifest['n_saccades'], 'saccade')} in {duration(manifest['seconds'])} of "
        f"viewing, from {what} ({manifest['source']})."
    )
    if protocol["kind"] == "images":
        how = (
            f"The images were divided into two halves at random, {protocol['n_splits']} times: the "
            "methods learned from one half and were tested on the other, so no image was in both."
        )
    else:
        disjoint = " The images of training were not tested." if protocol["disjoint_images"] else ""
        how = f"The methods learned from one session and were tested on the others.{disjoint}"
    search = (
        "Hyper-parameters were chosen on each method's grid by 3-fold cross-validation inside the "
        "training part."
        if manifest["search"]
        else "Hyper-parameters were the defaults."
    )
    return _paragraph(data) + _paragraph(f"{how} {search}")


def _accuracy_words(study: Study) -> str:
    best = max(study.summary, key=lambda row: (row["accuracy"], -(row["n_images"] or 0)))
    return _paragraph(
        f"Share of probes in which the right viewer of {best['n_viewers']} has the largest "
        "posterior (mean over viewers, ± standard error over splits; summary.csv has 95 % "
        "confidence intervals by bootstrap over viewers, and equal error rates)."
    )


def _claims(study: Study) -> str:
    items = "".join(
        f"<li><b>{escape(claim)}</b>: {escape(found)}</li>" for claim, found in claims_of(study)
    )
    return f'<ul class="notes">{items}</ul>' if items else ""


def _calibration(study: Study) -> str:
    amount = usual_amount(study.summary)
    rows = [
        [
            row["method"],
            f"{row['mean_confidence']:.2f}",
            f"{row['accuracy']:.2f}",
            f"{row['ece']:.3f}",
            f"{row['ci_low']:.3f} – {row['ci_high']:.3f}",
            f"{row['n_probes']:,}",
        ]
        for row in study.calibration
        if row["n_images"] == amount[0] and (amount[0] is not None or row["seconds"] == amount[1])
    ]
    head = ["method", "mean claim", "accuracy", "ECE", "95 % interval", "probes"]
    words = (
        f"With {amount_words(amount)}: how far the leading posterior is from how often it is right "
        "(expected calibration error, ten equal bins; bootstrap over viewers)."
    )
    return _paragraph(words) + _table(head, rows)


def _times(rows: Rows) -> str:
    cells = [
        [
            row["method"],
            percent(row["posterior"], 0),
            percent(row["reached"], 0),
            "–" if row["median_seconds"] is None else f"{row['median_seconds']:.1f}",
            "–" if row["median_saccades"] is None else f"{row['median_saccades']:.0f}",
            percent(row["wrong"]),
        ]
        for row in rows
    ]
    head = ["method", "posterior", "reached", "seconds", "saccades", "wrong then"]
    words = (
        "When the leading posterior first passes 90 and 99 %: medians of the walks in which it "
        "does, and how often the leader is the wrong viewer."
    )
    return _paragraph(words) + _table(head, cells) if cells else ""


def _strangers(study: Study) -> str:
    amount = usual_amount(study.summary)
    rows = [
        [
            row["method"],
            f"{row['eer']:.3f}",
            percent(row["fnir_at_1_percent_fpir"]),
            percent(row["realised_far"]),
            percent(row["refused"]),
            f"{row['n_non_mated']:,}",
        ]
        for row in study.open_set
        if row["n_images"] == amount[0] and (amount[0] is not None or row["seconds"] == amount[1])
    ]
    if not rows:
        return ""
    head = ["method", "EER", "FNIR at 1 % FPIR", "accepted at 1 %", "enrolled refused", "strangers"]
    words = (
        "Half of the viewers were enrolled, the others were strangers (non-mated probes, ISO/IEC "
        "19795). FPIR is the share of strangers who are accepted, FNIR the share of enrolled "
        "viewers who are refused or taken for somebody else. The last columns are the share of "
        "strangers accepted and of enrolled viewers refused at the nominal false-acceptance rate "
        f"of 1 %. With {amount_words(amount)}."
    )
    again = (
        "Judged after every saccade, with the stricter threshold that this needs: how many "
        "strangers are ever accepted, how many enrolled viewers are accepted as themselves, and "
        "after how many seconds. ECE is the calibration error of the probability of a stranger, "
        "over all lengths."
    )
    return (
        _paragraph(words)
        + _table(head, rows)
        + _paragraph(again)
        + _table(
            [
                "method",
                "strangers ever accepted",
                "enrolled accepted",
                "median seconds",
                "strangers",
                "enrolled",
                "ECE",
            ],
            [
                [
                    row["method"],
                    percent(row["strangers_ever_accepted"]),
                    percent(row["enrolled_accepted"]),
                    NOTHING if row["median_seconds"] is None else f"{row['median_seconds']:.1f}",
                    f"{row['n_strangers']:,}",
                    f"{row['n_enrolled']:,}",
                    f"{row['unknown_ece']:.3f}",
                ]
                for row in study.decisions
            ],
        )
    )


def _hyperparameters(rows: Rows) -> str:
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["method"], row["name"]), []).append(f"{row['value']:g}")
    cells = [[method, name, ", ".join(values)] for (method, name), values in found.items()]
    return _table(["method", "hyper-parameter", "chosen in each split"], cells)
