"""The figure of `gazelive detect --plot`: traces, velocity, events, main sequence.

As wide as a page of a journal (183 mm), so that its letters are as large as they are meant to be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gazelive.analysis import AnalysedInterval, Analysis
from gazelive.features import AnalysedGaze, Kinematics, short_filter
from gazelive.gaze import Flags, Floats
from gazelive.system import replacing

X_COLOUR, Y_COLOUR, THRESHOLD_COLOUR = "#0b5fa5", "#c1531b", "#a3123a"
SACCADE_COLOUR, LOSS_COLOUR = "#f2c14e", "#b9bec4"
ARTEFACT_COLOUR, PURSUIT_COLOUR = "#d98fb0", "#a8d5ba"
INK, GRID = "#20262c", "#e3e6e9"
SIZE_INCHES = (7.2, 4.9)
DOTS_PER_INCH = 300
LONGEST_S = 10.0
"""Longest excerpt that is legible in one panel."""
LONGEST_NAME = 30
ALIKE = 1.15
"""Thresholds of both axes that differ by less are drawn as one line."""


def draw_detection(analysis: Analysis, path: Path, trial: str | None = None) -> None:
    """Write the figure of one interval (the first with most saccades) and all main sequences.

    Of a long interval the 10 s with most saccades are drawn.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    shown = _interval_to_show(analysis, trial)
    with plt.rc_context(_STYLE):
        figure = plt.figure(figsize=SIZE_INCHES, layout="constrained")
        halves: Any = figure.subfigures(1, 2, width_ratios=[2.5, 1])
        left, right = halves
        traces = left.subplots(2, 1, sharex=True, height_ratios=[1.3, 1])
        _draw_traces(traces, shown.gaze)
        others = right.subplots(2, 1)
        _draw_main_sequence(others[0], analysis)
        _draw_amplitudes(others[1], analysis)
        figure.suptitle(_title(analysis, shown), x=0.01, ha="left", fontsize=8)
        left.align_ylabels(traces)
        right.align_ylabels(others)
        for letter, axis in zip("ABCD", (*traces, *others), strict=True):
            _letter(axis, letter)
        with replacing(path) as aside:
            figure.savefig(aside, dpi=DOTS_PER_INCH)
        plt.close(figure)


_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # letters stay letters, which journals ask for
    "svg.fonttype": "none",
}


def _letter(axis: Any, letter: str) -> None:
    """Put a panel's letter above the left end of its axis labels."""
    axis.annotate(
        letter,
        (0, 1),
        xycoords="axes fraction",
        xytext=(-26, 4),
        textcoords="offset points",
        fontsize=9,
        fontweight="bold",
    )


def _interval_to_show(analysis: Analysis, trial: str | None) -> AnalysedInterval:
    from gazelive.errors import RecordingError

    chosen = [i for i in analysis.intervals if trial is None or i.interval.trial == trial]
    if not chosen:
        names = ", ".join(sorted({i.interval.trial or "(none)" for i in analysis.intervals}))
        raise RecordingError(f"has no trial {trial!r} to plot; there are {names}")
    return max(chosen, key=lambda i: len(i.gaze.detection.saccades))


def _title(analysis: Analysis, shown: AnalysedInterval) -> str:
    detection = shown.gaze.detection
    parts = [_shortened(analysis.recording.path.name)]
    if shown.interval.trial is not None:
        parts.append(f"trial {_shortened(shown.interval.trial)}")
    if shown.interval.image is not None:
        parts.append(_shortened(Path(shown.interval.image).name))
    eye = "both eyes" if detection.eye == "both" else f"eye {detection.eye}"
    parts += [eye, f"{detection.sampling_rate_hz:g} Hz", analysis.method]
    return " · ".join(parts)


def _shortened(name: str) -> str:
    """Return a name that leaves room for the others in one line."""
    return name if len(name) <= LONGEST_NAME else f"{name[:18]}…{name[19 - LONGEST_NAME :]}"


def _stretch_to_show(gaze: AnalysedGaze) -> tuple[Floats, Flags]:
    """Return times from the start in s, and which of them are drawn."""
    times_s = (gaze.times_us - gaze.times_us[0]) / 1e6
    if times_s[-1] <= LONGEST_S:
        return times_s, np.ones(len(times_s), bool)
    onsets_s = np.array([s.onset_us - gaze.times_us[0] for s in gaze.detection.saccades]) / 1e6
    starts_s = np.append(0.0, np.floor(onsets_s))
    n_inside = [np.sum((onsets_s >= start) & (onsets_s < start + LONGEST_S)) for start in starts_s]
    start_s = min(starts_s[int(np.argmax(n_inside))], times_s[-1] - LONGEST_S)
    return times_s, (times_s >= start_s) & (times_s <= start_s + LONGEST_S)


def _draw_traces(axes: Any, gaze: AnalysedGaze) -> None:
    times_s, visible = _stretch_to_show(gaze)
    t, x, y = times_s[visible], gaze.x_deg[visible], gaze.y_deg[visible]
    position, velocity = axes
    for axis in axes:
        _shade_events(axis, gaze, t[0], t[-1])
        axis.grid(color=GRID, linewidth=0.5)
        axis.set_axisbelow(True)
    position.plot(t, x, color=X_COLOUR, linewidth=0.7, label="horizontal")
    position.plot(t, y, color=Y_COLOUR, linewidth=0.7, label="vertical (+ down)")
    position.set_ylabel("position (°)")
    speed = _speed(gaze.x_deg, gaze.y_deg, gaze.detection.sampling_rate_hz)[visible]
    velocity.plot(t, speed, color=INK, linewidth=0.6)
    if gaze.detection.thresholds_deg_s is not None:
        _draw_thresholds(velocity, gaze.detection.thresholds_deg_s)
    ticks = [0, 20, 50, 100, 200, 500, 1000, 2000]
    velocity.set_yscale("symlog", linthresh=20, linscale=0.6)
    velocity.set_yticks(ticks, map(str, ticks))
    velocity.minorticks_off()
    velocity.set_ylim(0, max(100, float(np.nanmax(speed, initial=0)) * 1.3))
    velocity.set_ylabel("speed (°/s)")
    velocity.set_xlabel("time in the interval (s)")
    if len(t) > 1:
        velocity.set_xlim(t[0], t[-1])
    _put_legend(position, "left")


def _put_legend(axis: Any, side: str, handles: list[Any] | None = None) -> None:
    """Put a legend above the panel, so that it hides nothing."""
    handles = axis.get_legend_handles_labels()[0] if handles is None else handles
    axis.legend(
        handles=handles,
        loc=f"lower {side}",
        bbox_to_anchor=(0 if side == "left" else 1, 1.0),
        ncols=4 if len(handles) <= 4 else 3,  # more in one line are wider than the panel
        borderaxespad=0.2,
        handlelength=1.5,
        columnspacing=1.2,
    )


def _draw_thresholds(axis: Any, thresholds_deg_s: tuple[float, float]) -> None:
    low, high = sorted(thresholds_deg_s)
    if high <= ALIKE * low:
        lines = [("threshold", (low + high) / 2, THRESHOLD_COLOUR)]
    else:
        names = ("threshold, horizontal", "threshold, vertical")
        lines = list(zip(names, thresholds_deg_s, (X_COLOUR, Y_COLOUR), strict=True))
    handles = [
        axis.axhline(
            value,
            color=colour,
            linewidth=0.9,
            linestyle=(0, (4, 2)),
            label=f"{name} {value:.0f} °/s",
        )
        for name, value, colour in lines
    ]
    _put_legend(axis, "right", handles)


def _shade_events(axis: Any, gaze: AnalysedGaze, first_s: float, last_s: float) -> None:
    kinds = (
        (gaze.detection.saccades, SACCADE_COLOUR, 0.75, "saccade"),
        (gaze.detection.pursuits, PURSUIT_COLOUR, 0.5, "pursuit"),
        (gaze.detection.artefacts, ARTEFACT_COLOUR, 0.75, "artefact"),
        (gaze.detection.blinks, LOSS_COLOUR, 0.5, "blink or loss"),
    )
    for events, colour, alpha, label in kinds:
        entry: str | None = label
        for event in events:
            start_s = (event.onset_us - gaze.times_us[0]) / 1e6
            end_s = (event.offset_us - gaze.times_us[0]) / 1e6
            if end_s >= first_s and start_s < last_s:
                axis.axvspan(
                    start_s, end_s, color=colour, alpha=alpha, linewidth=0, label=entry, zorder=0
                )
                entry = None  # one entry in the legend is enough


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
    from matplotlib.ticker import LogLocator, NullFormatter

    rows = _all_kinematics(analysis)
    amplitude = rows[:, Kinematics.AMPLITUDE_DEG]
    velocity = rows[:, Kinematics.PEAK_VELOCITY_DEG_S]
    known = np.isfinite(amplitude) & np.isfinite(velocity)
    axis.loglog(
        amplitude[known],
        velocity[known],
        "o",
        markersize=2.4,
        markeredgewidth=0,
        alpha=0.55,
        color=X_COLOUR,
    )
    axis.set_title(f"main sequence (n = {int(known.sum())})", fontsize=7.5, loc="left")
    axis.set_xlabel("amplitude (°)")
    axis.set_ylabel("peak velocity (°/s)")
    axis.grid(color=GRID, linewidth=0.5)
    axis.set_axisbelow(True)
    for one_axis in (axis.xaxis, axis.yaxis):
        one_axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        one_axis.set_major_formatter(lambda value, _position: f"{value:g}")
        one_axis.set_minor_formatter(NullFormatter())


def _draw_amplitudes(axis: Any, analysis: Analysis) -> None:
    from matplotlib.ticker import MaxNLocator

    amplitude = _all_kinematics(analysis)[:, Kinematics.AMPLITUDE_DEG]
    amplitude = amplitude[np.isfinite(amplitude)]
    if len(amplitude):
        n_bins = int(np.clip(np.sqrt(len(amplitude)) * 1.5, 6, 30))
        top = max(1.0, float(amplitude.max()))
        axis.hist(
            amplitude,
            bins=n_bins,
            range=(0, top),
            color=X_COLOUR,
            alpha=0.8,
            edgecolor="white",
            linewidth=0.4,
        )
    axis.set_title("amplitudes", fontsize=7.5, loc="left")
    axis.set_xlabel("amplitude (°)")
    axis.set_ylabel("saccades")
    axis.grid(color=GRID, linewidth=0.5, axis="y")
    axis.set_axisbelow(True)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlim(left=0)
