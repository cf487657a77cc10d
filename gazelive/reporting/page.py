"""Report of a session as one self-contained HTML page that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path, PureWindowsPath
from typing import Any

import msgspec

from gazelive import __version__
from gazelive.reporting.calibration_history import last_validation
from gazelive.reporting.figures import (
    draw_checks,
    draw_data_loss,
    draw_main_sequence,
    draw_posteriors,
)
from gazelive.reporting.html_document import html_page
from gazelive.reporting.notes import MUCH_MISSING, Note
from gazelive.reporting.scanpath_pictures import ScanpathPicture, image_folders, scanpath_pictures
from gazelive.reporting.session_facts import Progress, SessionFacts
from gazelive.reporting.tables import (
    Column,
    check_columns,
    crossing_rows,
    summary_rows,
    trial_columns,
)
from gazelive.reporting.trial_facts import session_start_us
from gazelive.wording import clock_time, count, date_time, degrees, duration, file_name, percent


def session_page(
    facts: SessionFacts,
    *,
    images: Sequence[Path] = (),
    made_at: str,
    progress: Progress | None = None,
) -> str:
    """Return the page; `images` are folders to search first for stimuli."""
    pictures = _pictures(facts, images, progress)
    sections = [
        _header(facts),
        _tiles(facts),
        _facts_list(facts),
        _notes(facts.notes),
        _trials(facts),
        _section("Data loss over time", _chart(
            draw_data_loss(facts.recording, facts.trials if facts.recording.trials else ()),
            "Samples without gaze (blinks and losses), in per cent of the expected samples. "
            "Grey: not recorded. Black bars above: trials.",
            "Percentage of samples without gaze over the session",
        )),
        _calibrations(facts),
        _identification(facts),
        _main_sequence(facts),
        _scanpaths(pictures),
        _configuration(facts),
        _footer(facts, made_at),
    ]  # fmt: skip
    title = f"{facts.manifest.viewer or 'Session'} · {facts.manifest.session}"
    return html_page(title, [section for section in sections if section])


def _pictures(
    facts: SessionFacts, images: Sequence[Path], progress: Progress | None
) -> list[ScanpathPicture]:
    n = 1 if facts.analysis is None else max(1, len(facts.analysis.intervals))
    pictures = []
    for picture in scanpath_pictures(facts, image_folders(facts, images)):
        pictures.append(picture)
        if progress is not None:
            progress(len(pictures) / n)
    return pictures


def _header(facts: SessionFacts) -> str:
    manifest = facts.manifest
    who = manifest.viewer or "Viewer not given"
    return (
        f"<header><h1>{escape(who)} · session {escape(manifest.session)}</h1>"
        f'<p class="faint">{escape(manifest.purpose)} · {escape(manifest.device)} · '
        f"{escape(date_time(manifest.started_at))}</p></header>"
    )


def _tiles(facts: SessionFacts) -> str:
    """Return the main numbers as tiles."""
    rows = summary_rows(facts)
    validation = last_validation(facts.checks)
    precisions = sorted(t.rms_s2s_deg for t in facts.trials if t.rms_s2s_deg is not None)
    tiles = {
        "recorded": duration(facts.recording.duration_s),
        "trials": count(len(facts.recording.trials)),
        "missing gaze": percent(facts.recording.missing_fraction),
        "samples lost": count(facts.n_lost_samples),
        "saccades": rows["saccades"],
        "RMS-S2S": degrees(
            precisions[len(precisions) // 2] if precisions else None, 3
        ),
        "last validation": degrees(None if validation is None else validation[0]),
    }  # fmt: skip
    cells = "".join(
        f'<div class="tile"><b>{escape(text)}</b><span>{name}</span></div>'
        for name, text in tiles.items()
    )
    return f'<div class="tiles">{cells}</div>'


def _facts_list(facts: SessionFacts) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>"
        for name, text in summary_rows(facts).items()
    )
    warnings = "".join(f"<p>{escape(warning)}</p>" for warning in facts.warnings)
    return f'<dl class="facts">{rows}</dl>{warnings}'


def _notes(notes: Sequence[Note]) -> str:
    if not notes:
        return _section("Notes", "<p>None: no repeated or skipped trials, no data loss.</p>")
    items = "".join(
        "<li>"
        + ("" if note.at_s is None else f"<b>{clock_time(note.at_s)}</b> ")
        + f"{escape(note.text)}</li>"
        for note in notes
    )
    return _section("Notes", f'<ul class="notes">{items}</ul>')


def _trials(facts: SessionFacts) -> str:
    if not facts.trials:
        return ""
    to_look_at = [
        trial.outcome not in (None, "shown")
        or trial.n_lost_samples > 0
        or (trial.missing_fraction or 0) > MUCH_MISSING
        for trial in facts.trials
    ]
    explained = (
        '<p class="faint">missing: samples that arrived without gaze; lost: samples that never '
        "arrived; RMS-S2S: precision, the median over fixations of the root mean square of "
        "sample-to-sample steps. Highlighted: trials that were not shown in full, lost samples "
        f"or miss more than {percent(MUCH_MISSING, 0)} of the gaze.</p>"
    )
    return _section(
        "Quality per trial", _table(trial_columns(facts.trials), to_look_at) + explained
    )


def _calibrations(facts: SessionFacts) -> str:
    if not facts.checks:
        return _section("Calibration history", "<p>No calibration recorded.</p>")
    chart = _chart(
        draw_checks(facts.checks, _session_s(facts)),
        "Points: mean errors of validations, with a line to the maximum. Triangles: offsets of "
        "drift checks.",
        "Calibration errors over the session",
    )
    return _section("Calibration history", chart + _table(check_columns(facts.checks)))


def _identification(facts: SessionFacts) -> str:
    if facts.findings is None:
        return _section("Identification", "<p>None: the engine did not run.</p>")
    if facts.findings.course is None:
        return _section("Identification", "<p>None: no model was loaded.</p>")
    course = facts.findings.course
    given = "among the enrolled"
    if course.unknown is not None:
        given = "taking the probability of an unknown viewer into account"
    chart = _chart(
        draw_posteriors(course),
        f"Probability of each viewer, {given}. "
        "While an image is shown, the evidence is preliminary.",
        "Posterior probabilities over viewing time",
    )
    summary = facts.findings.summary
    identified = f"Verdict: {summary_rows(facts)['identified as']}."
    if summary.verdict is not None and summary.verdict.details:
        details = summary.verdict.details
        identified = f"{identified} {details[:1].upper()}{details[1:]}."
    rows = "".join(f"<li>{escape(row)}</li>" for row in crossing_rows(facts))
    return _section("Identification", f"<p>{escape(identified)}</p>{chart}<ul>{rows}</ul>")


def _main_sequence(facts: SessionFacts) -> str:
    if facts.analysis is None:
        return _section("Main sequence", f"<p>{escape(facts.why_no_events or '')}</p>")
    population = None if facts.findings is None else facts.findings.main_sequence
    chart = draw_main_sequence(facts.analysis, population)
    if chart is None:
        return _section("Main sequence", "<p>No saccades found.</p>")
    return _section(
        "Main sequence",
        _chart(
            chart,
            "Peak velocity against amplitude of all saccades in viewing intervals "
            f"({facts.analysis.method} detection).",
            "Peak velocity against amplitude",
            size="half",
        ),
    )


def _scanpaths(pictures: Sequence[ScanpathPicture]) -> str:
    if not pictures:
        return ""
    figures = "".join(
        f'<figure><img loading="lazy" src="{picture.address}" '
        f'alt="Scanpath of trial {escape(picture.trial)}">'
        f"<figcaption><b>{escape(picture.trial)}</b> {_caption(picture)}</figcaption></figure>"
        for picture in pictures
    )
    explained = "Circles: fixations (area by duration; the first is green). Line: gaze."
    if any(picture.image is not None and not picture.is_on_image for picture in pictures):
        explained += " Grey background: image file not found; give its folder with --images."
    return _section(
        "Scanpaths",
        f'<p class="faint">{explained}</p><div class="scanpaths">{figures}</div>',
    )


def _caption(picture: ScanpathPicture) -> str:
    image = "" if picture.image is None else f"{escape(file_name(picture.image))} · "
    return f"{image}{picture.n_fixations} fixations in {picture.seconds:.1f} s"


def _configuration(facts: SessionFacts) -> str:
    if not facts.manifest.config:
        return ""
    config = _without_folders(facts.manifest.config)
    text = msgspec.json.format(msgspec.json.encode(config), indent=2).decode()
    return _section(
        "Configuration",
        f"<details><summary>Configuration of this session</summary><pre>{escape(text)}</pre>"
        "</details>",
    )


def _without_folders(value: Any) -> Any:
    """Return a configuration with the last part of each full path: a report is for others too."""
    if isinstance(value, dict):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    if isinstance(value, str) and (PureWindowsPath(value).drive or value.startswith(("/", "\\"))):
        return file_name(value)
    return value


def _footer(facts: SessionFacts, made_at: str) -> str:
    detector = "" if facts.analysis is None else f" Saccades: {facts.analysis.method} detection."
    folder = escape(facts.folder.resolve().name)
    return (
        f"<footer>Created from session folder {folder} with gazelive {__version__}, "
        f"{escape(made_at)}.{detector}</footer>"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>" if body else ""


def _session_s(facts: SessionFacts) -> float:
    """Return the time from the session's first sample to its last."""
    ends_us = [block.end_us for block in facts.recording.blocks]
    return (max(ends_us) - session_start_us(facts.recording)) / 1e6 if ends_us else 0.0


def _chart(address: str | None, caption: str, alt: str, size: str = "wide") -> str:
    if address is None:
        return ""
    return (
        f'<figure class="{size}"><img src="{address}" alt="{escape(alt)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _table(columns: Sequence[Column], to_look_at: Sequence[bool] = ()) -> str:
    kinds = [' class="number"' if column.is_number else "" for column in columns]
    head = "".join(
        f"<th{kind}>{escape(column.name)}</th>" for kind, column in zip(kinds, columns, strict=True)
    )
    rows = []
    for number, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
        mark = ' class="look"' if to_look_at and to_look_at[number] else ""
        data = "".join(
            f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, cells, strict=True)
        )
        rows.append(f"<tr{mark}>{data}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
