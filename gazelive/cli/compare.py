"""`gazelive compare`: agreement of detected saccades with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    announce_first_compile,
    output,
    progress,
    say,
    warn,
)
from gazelive.cli.terminal.options import check_table_target

if TYPE_CHECKING:
    from gazelive.workflows import Comparison


def compare(
    events: Annotated[
        Path, typer.Argument(metavar="EVENTS", help="Table of saccades, as written by detect.")
    ],
    labels: Annotated[
        Path,
        typer.Argument(
            metavar="LABELS",
            help="Table t_ms,label (2 or saccade for saccades), table of events, truth written by "
            "simulate, or recording with the tracker's own events.",
        ),
    ],
    codes: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEME|LIST",
            help="Codes of the labels: lund2013, gazecom, or a list such as 3=pursuit,4=noise.",
            show_default="lund2013",
        ),
    ] = None,
    mismatches: Annotated[
        Path | None,
        typer.Option(help="Table of missed and extra saccades to write, .csv or .parquet."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare saccades with labels: κ, F1, timing errors and confusion matrix."""
    announce_first_compile(quiet=quiet)
    from gazelive.workflows import compare as compare_events, parse_codes

    check_table_target(mismatches, "--mismatches", inputs=(events, labels))
    given = {} if codes is None else {"codes": parse_codes(codes, "--codes")}
    with progress(f"Reading {labels.name}", quiet=quiet) as report:
        result = compare_events(events, labels, progress=report, **given)
    for warning in result.warnings:
        warn(warning)
    facts = summary(result)
    if json:
        import msgspec

        typer.echo(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode())
    else:
        _print(facts, events, labels)
    if mismatches is not None:
        from gazelive.recordings import write_table_file
        from gazelive.workflows import mismatch_table

        write_table_file(mismatch_table(result), mismatches)
        n_missed = sum(mismatch.what == "missed" for mismatch in result.mismatches)
        n_extra = len(result.mismatches) - n_missed
        say(f"Wrote {mismatches}: {n_missed} missed, {n_extra} extra.", quiet=quiet)


def summary(result: Comparison) -> dict[str, Any]:
    """Return the figures for JSON; None for undefined ones."""
    agreement = result.agreement
    return {
        "kappa": agreement.kappa,
        "f1": agreement.f1,
        "precision": agreement.precision,
        "recall": agreement.recall,
        "n_events": agreement.n_found,
        "n_labels": agreement.n_reference,
        "n_matched": agreement.n_matched,
        "n_samples": result.n_samples,
        "sample_ms": result.sample_ms,
        "onset_error_ms": _spread(agreement.onset_errors_ms),
        "offset_error_ms": _spread(agreement.offset_errors_ms),
        "confusion": {
            label: {"saccade": found, "no saccade": not_found}
            for label, (found, not_found) in result.confusion.items()
        },
    }


def _spread(errors_ms: Any) -> dict[str, float] | None:
    if not len(errors_ms):
        return None
    import numpy as np

    return {"median": float(np.median(errors_ms)), "sd": float(np.std(errors_ms))}


def _print(facts: dict[str, Any], events: Path, labels: Path) -> None:
    from rich.table import Table

    kappa = "not defined" if facts["kappa"] is None else f"{facts['kappa']:.3f}"
    unit = "ms (sampling rate not known)"
    if facts["sample_ms"] is not None:
        unit = f"samples of {facts['sample_ms']:.3g} ms"
    output.print(f"{events.name} against {labels.name}, {facts['n_samples']:,} {unit}")
    output.print(f"  sample κ     {kappa}")
    output.print(
        f"  event F1     {facts['f1']:.3f}  (precision {facts['precision']:.3f}, recall "
        f"{facts['recall']:.3f}; {facts['n_matched']} of {facts['n_events']} events match "
        f"{facts['n_labels']} labels)"
    )
    for name in ("onset", "offset"):
        error = facts[f"{name}_error_ms"]
        if error is not None:
            output.print(
                f"  {name:6s} error median {error['median']:+.1f} ms, SD {error['sd']:.1f} ms"
            )
    counted = "Samples" if facts["sample_ms"] is not None else "Milliseconds"
    table = Table(title=f"{counted} by label", title_justify="left", box=None, pad_edge=False)
    table.add_column("label")
    table.add_column("detected as saccade", justify="right")
    table.add_column("not detected", justify="right")
    for label, counts in facts["confusion"].items():
        table.add_row(label, f"{counts['saccade']:,}", f"{counts['no saccade']:,}")
    output.print(table)
