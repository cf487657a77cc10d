"""The figure of `gazelive detect --plot`: traces, velocity, events, main sequence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.atomic import written_aside
from gazelive.features.derivatives import short_filter
from gazelive.features.kinematics_kernels import Kinematics
from gazelive.offline.analysis import AnalysedInterval, Analysis

Floats = npt.NDArray[np.float64]

X_COLOUR, Y_COLOUR = "#0b5fa5", "#c1531b"
SACCADE_COLOUR, LOSS_COLOUR = "#f2c14e", "#b9bec4"
INK, GRID = "#20262c", "#e3e6e9"
LONGEST_S = 10.0
"""What one panel can show legibly."""


def draw_detection(analysis: Analysis, path: Path, trial: str | None = None) -> None:
    """Write the figure of one interval (the first with most saccades) and all main sequences."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = _interval_to_show(analysis, trial)
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=(11, 7.2), layout="constrained")
        halves: Any = figure.subfigures(1, 2, width_ratios=[2.6, 1])
        left, right = halves
        traces = left.subplots(2, 1, sharex=True, height_ratios=[1.3, 1])
        _draw_traces(traces, shown)
        others = right.subplots(2, 1)
        _draw_main_sequence(others[0], analysis)
        _draw_amplitudes(others[1], analysis)
        left.suptitle(_title(analysis, shown), x=0.07, ha="left", fontsize=10, fontweight="bold")
        with written_aside(path) as aside:
            figure.savefig(aside, dpi=150)
        plt.close(figure)


_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


def _interval_to_show(analysis: Analysis, trial: str | None) -> AnalysedInterval:
    from gazelive.errors import RecordingError

    chosen = [i for i in analysis.intervals if trial is None or i.interval.trial == trial]
    if not chosen:
        names = ", ".join(sorted({i.interval.trial or "(none)" for i in analysis.intervals}))
        raise RecordingError(f"has no trial {trial!r} to plot; there are {names}")
    return max(chosen, key=lambda i: len(i.gaze.detection.saccades))


def _title(analysis: Analysis, shown: AnalysedInterval) -> str:
    parts = [analysis.recording.path.name]
    if shown.interval.trial is not None:
        parts.append(f"trial {shown.interval.trial}")
    if shown.interval.image is not None:
        parts.append(Path(shown.interval.image).name)
    parts.append(analysis.method)
    return " · ".join(parts)


def _draw_traces(axes: Any, shown: AnalysedInterval) -> None:
    gaze = shown.gaze
    times_s = (gaze.times_us - gaze.times_us[0]) / 1e6
    visible = times_s <= LONGEST_S
    t, x, y = times_s[visible], gaze.x_deg[visible], gaze.y_deg[visible]
    position, velocity = axes
    for axis in axes:
        _shade_events(axis, shown, t[-1])
        axis.grid(color=GRID, linewidth=0.6)
        axis.set_axisbelow(True)
    position.plot(t, x, color=X_COLOUR, linewidth=0.9, label="horizontal")
    position.plot(t, y, color=Y_COLOUR, linewidth=0.9, label="vertical (down is positive)")
    position.set_ylabel("position (°)")
    position.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, fontsize=8, borderaxespad=0.2
    )
    speed = _speed(gaze.x_deg, gaze.y_deg, gaze.detection.sampling_rate_hz)[visible]
    velocity.plot(t, speed, color=INK, linewidth=0.8)
    if gaze.detection.thresholds_deg_s is not None:
        threshold = float(np.mean(gaze.detection.thresholds_deg_s))
        velocity.axhline(threshold, color="#a3123a", linewidth=1, linestyle=(0, (4, 2)))
        velocity.annotate(
            f"threshold {threshold:.0f} °/s",
            (1, threshold),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=8,
            color="#a3123a",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
        )
    velocity.set_yscale("symlog", linthresh=20, linscale=0.6)
    velocity.set_yticks(
        [0, 20, 50, 100, 200, 500, 1000], ["0", "20", "50", "100", "200", "500", ""]
    )
    velocity.set_ylim(0, max(100, float(np.nanmax(speed, initial=0)) * 1.3))
    velocity.set_ylabel("speed (°/s)")
    velocity.set_xlabel("time in the interval (s)")
    velocity.set_xlim(0, t[-1])


def _shade_events(axis: Any, shown: AnalysedInterval, last_s: float) -> None:
    gaze = shown.gaze
    kinds = (
        (gaze.detection.saccades, SACCADE_COLOUR, 0.75, "saccade"),
        (gaze.detection.blinks, LOSS_COLOUR, 0.5, "blink or loss"),
    )
    for events, colour, alpha, label in kinds:
        for event in events:
            start_s = (event.onset_us - gaze.times_us[0]) / 1e6
            end_s = (event.offset_us - gaze.times_us[0]) / 1e6
            if start_s < last_s:
                # one entry in the legend is enough
                entry = label if event is events[0] else None
                axis.axvspan(
                    start_s, end_s, color=colour, alpha=alpha, linewidth=0, label=entry, zorder=0
                )


def _speed(x_deg: Floats, y_deg: Floats, sampling_rate_hz: float) -> Floats:
    weights = short_filter(sampling_rate_hz).velocity_weights
    if len(x_deg) < len(weights):
        return np.full(len(x_deg), np.nan)
    vx, vy = (np.correlate(values, weights, mode="same") for values in (x_deg, y_deg))
    speed: Floats = np.hypot(vx, vy)
    half = len(weights) // 2
    speed[:half] = speed[len(speed) - half :] = np.nan
    return speed


def _all_kinematics(analysis: Analysis) -> Floats:
    return np.concatenate([i.gaze.features.kinematics for i in analysis.intervals])


def _draw_main_sequence(axis: Any, analysis: Analysis) -> None:
    from matplotlib.ticker import LogLocator

    rows = _all_kinematics(analysis)
    amplitude = rows[:, Kinematics.AMPLITUDE_DEG]
    velocity = rows[:, Kinematics.PEAK_VELOCITY_DEG_S]
    known = np.isfinite(amplitude) & np.isfinite(velocity)
    axis.loglog(
        amplitude[known],
        velocity[known],
        "o",
        markersize=3.5,
        markeredgewidth=0,
        alpha=0.55,
        color=X_COLOUR,
    )
    axis.set_title(f"Main sequence (n = {int(known.sum())})", fontsize=9, loc="left")
    axis.set_xlabel("amplitude (°)")
    axis.set_ylabel("peak velocity (°/s)")
    axis.grid(color=GRID, linewidth=0.6, which="both")
    axis.set_axisbelow(True)
    for one_axis in (axis.xaxis, axis.yaxis):
        one_axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        one_axis.set_major_formatter(lambda value, _position: f"{value:g}")
        one_axis.set_minor_formatter(lambda _value, _position: "")


def _draw_amplitudes(axis: Any, analysis: Analysis) -> None:
    from matplotlib.ticker import MaxNLocator

    amplitude = _all_kinematics(analysis)[:, Kinematics.AMPLITUDE_DEG]
    amplitude = amplitude[np.isfinite(amplitude)]
    if len(amplitude):
        top = max(1.0, float(np.quantile(amplitude, 0.99)))
        n_bins = int(np.clip(np.sqrt(len(amplitude)) * 1.5, 6, 30))
        axis.hist(
            np.clip(amplitude, 0, top), bins=n_bins, range=(0, top), color=X_COLOUR, alpha=0.8
        )
    axis.set_title("Saccade amplitudes", fontsize=9, loc="left")
    axis.set_xlabel("amplitude (°)")
    axis.set_ylabel("saccades")
    axis.grid(color=GRID, linewidth=0.6, axis="y")
    axis.set_axisbelow(True)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlim(left=0)
