"""The panels of `simulation-vs-real.png`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from gaze_statistics import Measurements, is_seen, runs
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from population_statistics import Decomposition

from gazelive.gaze.arrays import Floats
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorPopulation

if TYPE_CHECKING:
    from compare_simulation import Corpus, Side


REAL, SIMULATED = "#1d3557", "#e07a1f"
AMPLITUDE_EDGES_DEG = np.array([0.5, 0.8, 1.2, 1.8, 2.7, 4.0, 6.0, 9.0, 13.0, 19.0, 27.0])


def draw_figure(
    zemblys: Corpus,
    lund: Corpus,
    asc: Corpus,
    dots: Corpus,
    real: Decomposition,
    people: Decomposition,
) -> Figure:
    """Draw all panels; real is dark blue, simulated orange."""
    style: dict[Any, Any] = {
        "font.size": 8,
        "axes.titlesize": 9,
        "axes.spines.top": False,
        "legend.fontsize": 7,
    }
    with plt.rc_context({**style, "axes.spines.right": False, "legend.frameon": False}):
        figure, axes = plt.subplots(3, 4, figsize=(13.5, 9.2), layout="constrained")
        labs = [zemblys, lund, asc]
        _over_amplitude(axes[0, 0], labs, "peak_velocity_deg_s", 1.0, "peak velocity (°/s)")
        axes[0, 0].set_yscale("log")
        _over_amplitude(axes[0, 1], labs, "duration_s", 1000.0, "duration (ms)")
        axes[0, 1].set_ylim(0, 90)
        _profiles(axes[0, 2], [zemblys])
        _example(axes[0, 3], zemblys)
        _over_amplitude(axes[1, 0], labs, "rebound", 100.0, "rebound (% of peak velocity)")
        axes[1, 0].set_ylim(0, 80)
        _cumulative(axes[1, 1], labs, "centroid", "centroid of the velocity profile")
        _spectra(axes[1, 2], [zemblys, asc, dots])
        _by_recording(axes[1, 3], dots, lambda one: one.step_rms_deg, "RMS-S2S of a recording (°)")
        _windows(axes[2, 0], [zemblys, dots])
        _blinks(axes[2, 1], asc)
        _over_amplitude(axes[2, 2], [dots], "peak_velocity_deg_s", 1.0, "peak velocity (°/s)")
        axes[2, 2].set_yscale("log")
        axes[2, 2].set_title("Main sequence, BioEye dots (250 Hz)")
        _iccs(axes[2, 3], real, people)
        axes[0, 0].set_title("Main sequence, labs (500–1000 Hz)")
        axes[0, 1].set_title("Duration, labs")
        axes[1, 0].set_title("Oscillation after the saccade, labs")
        axes[1, 1].set_title("Asymmetry of the profile, labs")
        axes[1, 3].set_title("Noise, BioEye dots")
        for letter, panel in zip("abcdefghijkl", axes.flat, strict=True):
            panel.set_title(letter, loc="left", fontweight="bold")
    return figure


def _pooled(sides: list[Side], field: str) -> Floats:
    return np.concatenate([one.saccades[field] for side in sides for one in side.measured])


def _over_amplitude(axes: Axes, corpora: list[Corpus], field: str, unit: float, label: str) -> None:
    """Medians and quartiles per bin of amplitude."""
    sides = (
        ([corpus.real for corpus in corpora], REAL, "real", -0.02),
        ([corpus.simulated for corpus in corpora], SIMULATED, "simulated", 0.02),
    )
    for group, colour, name, nudge in sides:
        amplitude, values = _pooled(group, "amplitude_deg"), unit * _pooled(group, field)
        if colour == REAL:
            some = slice(None, None, max(1, len(values) // 3000))
            axes.plot(amplitude[some], values[some], ".", ms=1.2, color=colour, alpha=0.15)
        rows = []
        for low, high in pairwise(AMPLITUDE_EDGES_DEG):
            inside = values[(amplitude >= low) & (amplitude < high)]
            if len(inside) >= 5:
                centre = np.sqrt(low * high) * np.exp(nudge)
                rows.append([centre, *np.percentile(inside, [25, 50, 75])])
        centres, lower, middle, upper = np.array(rows).T
        axes.errorbar(
            centres,
            middle,
            yerr=[middle - lower, upper - middle],
            fmt="o-",
            ms=3,
            lw=1,
            elinewidth=0.8,
            color=colour,
            label=name,
        )
    axes.set_xscale("log")
    axes.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
    axes.minorticks_off()
    axes.set_xlabel("amplitude (°)")
    axes.set_ylabel(label)
    axes.legend()


def _profiles(axes: Axes, corpora: list[Corpus]) -> None:
    """Mean velocity along the saccade, aligned to its onset, for two ranges of amplitude."""
    for (low, high), dashes in (((1.0, 2.5), "--"), ((4.0, 7.0), "-"), ((12.0, 18.0), ":")):
        for colour, name in ((REAL, "real"), (SIMULATED, "simulated")):
            parts = []
            for corpus in corpora:
                side = corpus.real if colour == REAL else corpus.simulated
                parts += _aligned(side, low, high)
            axes.plot(
                np.arange(-20, 101),
                np.mean(parts, axis=0),
                dashes,
                color=colour,
                lw=1.3,
                label=f"{name}, {low:g}–{high:g}°",
            )
    axes.axhline(0, color="0.8", lw=0.6, zorder=0)
    axes.set_xlabel("time from onset (ms)")
    axes.set_ylabel("velocity along the saccade (°/s)")
    axes.set_title("Mean velocity profile, Zemblys")
    axes.legend()


def _aligned(side: Side, low: float, high: float) -> list[Floats]:
    parts = []
    for measured, gaze, rate_hz in zip(side.measured, side.gaze_deg, side.rates_hz, strict=True):
        saccades = measured.saccades
        use = (saccades["amplitude_deg"] > low) & (saccades["amplitude_deg"] < high)
        chosen = zip(saccades["onset_s"][use], saccades["direction_rad"][use], strict=True)
        for onset_s, direction in chosen:
            first = round(onset_s * rate_hz)
            part = gaze[first - 22 : first + 103]
            if len(part) < 125 or not np.isfinite(part).all():
                continue
            along = part @ np.array([np.cos(direction), -np.sin(direction)])
            parts.append((along[4:] - along[:-4]) * rate_hz / 4)
    return parts


def _example(axes: Axes, corpus: Corpus) -> None:
    """Two seconds of a real recording and of one of its replays."""
    window = slice(40_300, 42_300)
    # of the first recording's replays, one without a blink in this window
    replay = next(
        gaze[window] for gaze in corpus.simulated.gaze_deg if np.isfinite(gaze[window]).all()
    )
    for row, (part, colour, name) in enumerate(
        ((corpus.real.gaze_deg[0][window], REAL, "real"), (replay, SIMULATED, "simulated"))
    ):
        for axis, (alpha, letter) in enumerate(((1.0, "x"), (0.5, "y"))):
            shifted = part[:, axis] - np.nanmedian(part[:, axis]) - 26 * row
            axes.plot(np.arange(2000), shifted, color=colour, alpha=alpha, lw=0.8)
            axes.text(2020, shifted[-1], letter, color=colour, alpha=alpha, va="center")
        axes.text(0, 13.5 - 26 * row, name, color=colour)
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("gaze (°)")
    axes.set_title("Two seconds, same scanpath")


def _cumulative(axes: Axes, corpora: list[Corpus], field: str, label: str) -> None:
    sides = (
        ([corpus.real for corpus in corpora], REAL, "real"),
        ([corpus.simulated for corpus in corpora], SIMULATED, "simulated"),
    )
    for group, colour, name in sides:
        values = _pooled(group, field)[_pooled(group, "amplitude_deg") > 1]
        _ecdf(axes, values, colour, name)
    axes.set_xlabel(label)
    axes.set_ylabel("cumulative fraction")
    axes.set_xlim(0.3, 0.7)
    axes.legend()


def _ecdf(axes: Axes, values: Floats, colour: str, name: str, dashes: str = "-") -> None:
    axes.plot(
        np.sort(values), np.linspace(0, 1, len(values)), dashes, color=colour, lw=1.4, label=name
    )


def _spectra(axes: Axes, corpora: list[Corpus]) -> None:
    """Power spectra of windows of fixation, median over windows."""
    for corpus, dashes in zip(corpora, ("-", "--", ":"), strict=True):
        for side, colour in ((corpus.real, REAL), (corpus.simulated, SIMULATED)):
            rate_hz = max(side.rates_hz)
            chosen = [
                one
                for one, rate in zip(side.measured, side.rates_hz, strict=True)
                if rate == rate_hz and len(one.spectra)
            ]
            power = np.median([np.median(one.spectra, axis=0).mean(axis=0) for one in chosen], 0)
            axes.loglog(
                chosen[0].frequencies_hz[1:],
                power[1:] / np.log(2),
                dashes,
                color=colour,
                lw=1.2,
                label=corpus.name.split(",")[0] if colour == REAL else None,
            )
    axes.set_xlabel("frequency (Hz)")
    axes.set_ylabel("power (deg²/Hz)")
    axes.set_title("Fixation: drift, tremor, noise")
    axes.legend()


def _by_recording(
    axes: Axes, corpus: Corpus, value: Callable[[Measurements], float], label: str
) -> None:
    for side, colour, name in (
        (corpus.real, REAL, "real"),
        (corpus.simulated, SIMULATED, "simulated"),
    ):
        values = np.array([value(one) for one in side.measured])
        _ecdf(axes, values[np.isfinite(values)], colour, name)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("cumulative fraction")
    axes.legend()


def _windows(axes: Axes, corpora: list[Corpus]) -> None:
    for corpus, dashes in zip(corpora, ("-", ":"), strict=True):
        for side, colour, name in (
            (corpus.real, REAL, "real"),
            (corpus.simulated, SIMULATED, "simulated"),
        ):
            values = np.concatenate([one.drift_speeds_deg_s for one in side.measured])
            short = corpus.name.split(",")[0]
            _ecdf(axes, values, colour, f"{name}, {short}", dashes)
    axes.set_xlim(0, 5)
    axes.set_xlabel("drift speed, smoothed over 50 ms (°/s)")
    axes.set_ylabel("cumulative fraction")
    axes.set_title("Drift")
    axes.legend()


def _blinks(axes: Axes, asc: Corpus) -> None:
    """Vertical gaze around losses of 30–300 ms: real ASC file and simulated people."""
    rate_hz = 500.0
    for gaze, rate in zip(asc.real.gaze_deg[:1], asc.real.rates_hz[:1], strict=True):
        if rate == rate_hz:
            _around_losses(axes, gaze, REAL, "real")
    population, rng = OculomotorPopulation(), np.random.default_rng(8)
    for number in range(3):
        traits = population.draw_session(population.draw_person(rng), rng)
        eye = Oculomotor(traits, sampling_rate_hz=rate_hz, eyes="L", rng=rng, x_deg=0, y_deg=0)
        eye.fixate(round(40 * rate_hz))
        gaze = eye.take().gaze_deg[:, 0]
        _around_losses(axes, gaze, SIMULATED, "simulated" if number == 0 else None)
    axes.set_xlabel("time from the loss / to its end (ms)")
    axes.set_ylabel("vertical gaze, down (°)")
    axes.set_title("Lid before and after a loss")
    axes.axvline(0, color="0.8", lw=0.6)
    axes.legend()


def _around_losses(axes: Axes, gaze: Floats, colour: str, name: str | None) -> None:
    """Overlay what precedes each loss (left of 0) and what follows it (right of 0)."""
    reach = 60
    label = name
    for start, stop in runs(~is_seen(gaze)):
        if not 15 <= stop - start <= 150 or start < reach or stop + reach > len(gaze):
            continue
        before, after = gaze[start - reach : start, 1], gaze[stop : stop + reach, 1]
        time_ms = 2.0 * np.arange(reach)
        axes.plot(
            time_ms - 2 * reach, before - before[0], color=colour, lw=0.6, alpha=0.6, label=label
        )
        axes.plot(time_ms, after - after[-1], color=colour, lw=0.6, alpha=0.6)
        label = None


def _iccs(axes: Axes, real: Decomposition, people: Decomposition) -> None:
    axes.plot([0, 1], [0, 1], color="0.8", lw=0.8)
    axes.plot(real.icc, people.icc, "o", ms=4, color=REAL, mfc=SIMULATED, mew=0.6)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xlabel("ICC, 77 real persons × 2 sessions")
    axes.set_ylabel("ICC, 77 simulated persons")
    axes.set_title("Persons apart: ICC of 31 statistics")
