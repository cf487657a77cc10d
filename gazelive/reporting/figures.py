"""Figures of a report: main sequence, posteriors, data loss, calibration errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gazelive.analysis import Analysis
from gazelive.gaze import Floats, MainSequence, missing_mask
from gazelive.recordings import Recording
from gazelive.reporting.calibration_history import Check
from gazelive.reporting.engine_findings import PosteriorCourse
from gazelive.reporting.figure_style import (
    COLOURS,
    FAINT,
    GAP,
    INK,
    LINES,
    LOSS,
    UNKNOWN,
    as_svg,
    drawing,
)
from gazelive.reporting.trial_facts import TrialFacts, session_start_us
from gazelive.wording import EYE_NAMES, counted, shortened

MOST_BINS = 400
"""Most bars of a chart over time."""
BINS_S = (0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
AMPLITUDE_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
VELOCITY_TICKS = (5, 10, 20, 50, 100, 200, 500, 1000)


def draw_main_sequence(analysis: Analysis, population: MainSequence | None) -> str | None:
    """Draw peak velocity against amplitude; None without saccades."""
    saccades = [s for i in analysis.intervals for s in i.gaze.detection.saccades]
    if not saccades:
        return None
    amplitude_deg = np.array(
        [np.hypot(s.end_x_deg - s.start_x_deg, s.end_y_deg - s.start_y_deg) for s in saccades]
    )
    peak_deg_s = np.array([s.peak_velocity_deg_s for s in saccades])
    with drawing(4.6, 3.6) as figure:
        axis = figure.subplots()
        if population is not None:
            known = population.amplitude_deg, population.low_deg_s, population.high_deg_s
            axis.fill_between(*known, color="#9cc3de", alpha=0.45, linewidth=0)
            axis.plot(
                population.amplitude_deg,
                population.median_deg_s,
                color="#5b93b8",
                linewidth=1.2,
                label="enrolled viewers: median, 5–95 %",
            )
        axis.scatter(
            amplitude_deg,
            peak_deg_s,
            s=14,
            color=COLOURS[1],
            alpha=0.6,
            linewidths=0,
            rasterized=len(saccades) > 1000,
            label=f"this session: {counted(len(saccades), 'saccade')}",
        )
        _log_axis(axis.xaxis, axis.set_xlim, amplitude_deg, AMPLITUDE_TICKS)
        _log_axis(axis.yaxis, axis.set_ylim, peak_deg_s, VELOCITY_TICKS)
        axis.set_xlabel("amplitude (°)")
        axis.set_ylabel("peak velocity (°/s)")
        axis.legend(loc="lower right", fontsize=8)
        return as_svg(figure)


def draw_posteriors(course: PosteriorCourse) -> str:
    """Draw the probability of each viewer and of the unknown viewer over viewing time."""
    with drawing(9.2, 3.4) as figure:
        axis = figure.subplots()
        for at_s in np.unique(course.seconds[course.settled]):
            axis.axvline(at_s, color="#b9c0ca", linewidth=0.9, zorder=1)
        curves = [*zip(course.viewers, course.p, COLOURS, LINES, strict=False)]
        for rank, (name, p, colour, line) in enumerate(curves):
            axis.plot(
                course.seconds,
                p,
                color=colour,
                linestyle=line,
                linewidth=2.2 if rank == 0 else 1.3,
                drawstyle="steps-post",
                label=shortened(name),
                zorder=4 if rank == 0 else 3,
            )
        if course.unknown is not None:
            axis.plot(
                course.seconds,
                course.unknown,
                color=UNKNOWN,
                linewidth=1.6,
                drawstyle="steps-post",
                label="unknown viewer",
                zorder=2,
            )
        axis.set_ylim(-0.02, 1.02)
        axis.set_xlim(0, max(1.0, float(course.seconds.max())))
        axis.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axis.set_xlabel("viewing time (s); vertical lines: end of an image")
        axis.set_ylabel("probability")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
        return as_svg(figure)


def draw_data_loss(recording: Recording, trials: Sequence[TrialFacts]) -> str | None:
    """Draw the percentage of samples without gaze over the session; grey was not recorded."""
    if not recording.n_samples:
        return None
    edges_s, missing, expected = _losses(recording)
    end_s = float(edges_s[-1])
    per_cent = 100 * missing / np.maximum(expected, 1)
    unit_s, unit = _unit(end_s)
    with drawing(9.2, 2.5) as figure:
        axis = figure.subplots()
        at, width = edges_s[:-1] / unit_s, np.diff(edges_s) / unit_s
        for chosen, height, colour in (
            (expected == 0, np.full(len(at), 100.0), GAP),
            (expected > 0, per_cent, LOSS),
        ):
            axis.bar(
                at[chosen],
                height[chosen],
                width[chosen],
                align="edge",
                color=colour,
                linewidth=0,
                zorder=3 if colour == LOSS else 1,
            )
        axis.set_ylim(0, min(100, max(20, 1.15 * float(per_cent.max()))))
        axis.set_xlim(0, end_s / unit_s)
        axis.yaxis.set_major_formatter("{x:g} %")
        axis.yaxis.set_major_locator(_few_ticks())
        axis.set_ylabel("missing gaze")
        axis.set_xlabel(f"time since the first sample ({unit})")
        _name_trials(axis, trials, unit_s)
        return as_svg(figure)


def draw_checks(checks: Sequence[Check], session_s: float) -> str | None:
    """Draw the errors of validations and drift checks over the session; None without any."""
    shown = [check for check in checks if check.mean_error_deg is not None]
    if not shown:
        return None
    first_s = min(0.0, *(check.at_s for check in shown))
    last_s = max(session_s, *(check.at_s for check in shown))
    margin_s = 0.02 * max(last_s - first_s, 1.0)
    unit_s, unit = _unit(last_s)
    with drawing(9.2, 2.6) as figure:
        axis = figure.subplots()
        # results of two eyes have the same time: drawn side by side, neither hides the other
        beside_s = 0.15 * margin_s if len({check.eye for check in shown}) > 1 else 0.0
        for eye, colour, shift_s in (("L", COLOURS[0], -beside_s), ("R", COLOURS[1], beside_s)):
            of_eye = [check for check in shown if check.eye == eye]
            _draw_eye(axis, of_eye, colour, EYE_NAMES[eye], shift_s, unit_s)
        axis.set_xlim((first_s - margin_s) / unit_s, (last_s + margin_s) / unit_s)
        axis.axhline(0.5, color=FAINT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        highest = max(max(c.mean_error_deg or 0.0, c.max_error_deg or 0.0) for c in shown)
        axis.set_ylim(0, 1.15 * max(highest, 0.6))
        axis.set_ylabel("error (°)")
        axis.set_xlabel(f"time since the first sample ({unit}); dashed: 0.5°")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
        return as_svg(figure)


def _draw_eye(
    axis: Any, checks: Sequence[Check], colour: str, eye: str, shift_s: float, unit_s: float
) -> None:
    """Draw validations as points with a line to the maximum error, drift checks as triangles."""
    validations = [check for check in checks if check.kind != "drift check"]
    drifts = [check for check in checks if check.kind == "drift check"]
    if validations:
        at = np.array([(check.at_s + shift_s) / unit_s for check in validations])
        mean = np.array([check.mean_error_deg for check in validations], np.float64)
        largest = np.array(
            [np.nan if c.max_error_deg is None else c.max_error_deg for c in validations]
        )
        axis.vlines(at, mean, largest, color=colour, linewidth=1.3)
        axis.scatter(at, largest, marker="_", s=50, color=colour)
        axis.scatter(
            at, mean, s=34, color=colour, label=f"validation, {eye}: mean to max", zorder=3
        )
    if drifts:
        axis.plot(
            [(check.at_s + shift_s) / unit_s for check in drifts],
            [check.mean_error_deg for check in drifts],
            marker="^",
            markersize=5,
            linewidth=0.8,
            color=colour,
            alpha=0.75,
            label=f"drift check, {eye}",
        )


def _losses(recording: Recording) -> tuple[Floats, Floats, Floats]:
    """Return bin edges (s), samples without gaze or lost, and expected samples, per bin."""
    first_us = session_start_us(recording)
    blocks = [block for block in recording.blocks if len(block.samples)]
    last_us = max(int(block.samples["tracker_time_us"][-1]) for block in blocks)
    seconds = max((last_us - first_us) / 1e6, 0.001)
    bin_s = next((b for b in BINS_S if seconds / b <= MOST_BINS), seconds / MOST_BINS)
    n_bins = max(1, int(np.ceil(seconds / bin_s)))
    edges_s = np.append(np.arange(n_bins) * bin_s, max(seconds, (n_bins - 1) * bin_s + 0.001))
    missing, expected = np.zeros(n_bins), np.zeros(n_bins)
    for block in blocks:
        times_us = block.samples["tracker_time_us"]
        at_s = (times_us - first_us) / 1e6
        interval_s = block.stream.sample_interval_us / 1e6
        there = at_s[~missing_mask(block.samples, block.stream.eyes)]
        seen = np.histogram(there, edges_s)[0]
        start_s, end_s = float(at_s[0]), float(at_s[-1]) + interval_s
        overlap_s = np.minimum(edges_s[1:], end_s) - np.maximum(edges_s[:-1], start_s)
        should_be = np.histogram(at_s, edges_s)[0].astype(np.float64)
        if interval_s:
            should_be = np.clip(overlap_s, 0, None) / interval_s
        expected += should_be
        missing += np.clip(should_be - seen, 0, None)
    expected[expected < 1] = 0  # a block's end that only touches the bin
    return edges_s, np.minimum(missing, expected), expected


def _name_trials(axis: Any, trials: Sequence[TrialFacts], unit_s: float) -> None:
    """Mark trials above the chart, with as many names as fit."""
    every = max(1, round(len(trials) / 30))
    above = axis.get_xaxis_transform()
    for number, trial in enumerate(trials):
        start, end = trial.start_s / unit_s, (trial.start_s + trial.viewing_s) / unit_s
        axis.plot(
            [start, end],
            [1.05, 1.05],
            color=INK,
            linewidth=3,
            solid_capstyle="butt",
            transform=above,
            clip_on=False,
        )
        if number % every == 0:
            axis.text(
                (start + end) / 2,
                1.09,
                shortened(trial.name),
                transform=above,
                ha="center",
                va="bottom",
                fontsize=7,
                color=FAINT,
            )


def _unit(seconds: float) -> tuple[float, str]:
    """Return the unit of a time axis: its length in seconds and its name."""
    return (1.0, "s") if seconds < 120 else (60.0, "min")


def _few_ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=4, integer=True)


def _log_axis(axis: Any, set_limits: Any, values: Floats, ticks: Sequence[float]) -> None:
    """Make an axis logarithmic, with round ticks."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    low, high = float(values.min()) / 1.4, float(values.max()) * 1.4
    set_limits(low, high)
    shown = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(shown, [f"{tick:g}" for tick in shown])
    axis.set_ticks([], minor=True)
