"""Hold simulated gaze against real gaze: one figure and the numbers, both in `docs/`.

    python docs/scripts/compare_simulation.py PATH/TO/DATA

Every real recording is replayed by simulated people (same saccade targets, same times) and
measured in the same way; the numbers go between the markers in `docs/simulation.md`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from calibrate_population import Calibration, simulate_people
from comparison_figure import draw_figure
from gaze_statistics import Measurements, measure
from population_statistics import NAMES, Decomposition
from real_recordings import (
    BIOEYE_RATE_HZ,
    RealRecording,
    asc_recordings,
    bioeye_recordings,
    lund_recordings,
    zemblys_recordings,
)
from replayed_gaze import as_bioeye, replay, unfiltered
from rich.progress import track
from scipy.stats import ks_2samp

from gazelive.gaze.arrays import Floats
from gazelive.simulation.eye.traits import OculomotorPopulation, oculomotor_table
from gazelive.system.files import replacing, write_bytes

DOCS = Path(__file__).parent.parent
MARKERS = ("<!-- comparison begins -->", "<!-- comparison ends -->")
LAB_HALF_WIDTH_S = 0.004
BIOEYE_HALF_WIDTH_S = 0.008
PEOPLE_PER_RECORDING = 8
SMALLEST_DEG = 1.0


@dataclass(frozen=True)
class Side:
    """Measured recordings of one corpus, real or simulated."""

    measured: list[Measurements]
    gaze_deg: list[Floats]
    rates_hz: list[float]

    def pooled(self, field: str) -> Floats:
        """Return a field of all saccades above the smallest amplitude."""
        parts = [
            one.saccades[field][one.saccades["amplitude_deg"] > SMALLEST_DEG]
            for one in self.measured
        ]
        return np.concatenate(parts)


@dataclass(frozen=True)
class Corpus:
    """A corpus beside its simulated counterpart."""

    name: str
    real: Side
    simulated: Side


def lab_corpus(name: str, recordings: list[RealRecording], seed: int) -> Corpus:
    """Measure recordings at their own rate, and their replays by people of the lab centre."""
    population = OculomotorPopulation()
    rng = np.random.default_rng(seed)
    real = [measure(one.gaze_deg, one.rate_hz, LAB_HALF_WIDTH_S) for one in recordings]
    gaze, rates, simulated = [], [], []
    for recording, measured in track(list(zip(recordings, real, strict=True)), f"replaying {name}"):
        for _ in range(PEOPLE_PER_RECORDING):
            traits = population.draw_session(population.draw_person(rng), rng)
            own = traits if recording.filtered else unfiltered(traits)
            trace = replay(measured, own, rng, recording.rate_hz)
            gaze.append(trace.gaze_deg[:, 0])
            rates.append(recording.rate_hz)
            simulated.append(measure(gaze[-1], recording.rate_hz, LAB_HALF_WIDTH_S))
    own_gaze = [one.gaze_deg for one in recordings]
    return Corpus(
        name,
        Side(real, own_gaze, [one.rate_hz for one in recordings]),
        Side(simulated, gaze, rates),
    )


def bioeye_corpus(name: str, recordings: dict[str, Floats], seed: int) -> Corpus:
    """Measure BioEye's recordings, and their replays by people of BioEye's centre."""
    population = OculomotorPopulation(centre="bioeye")
    rng = np.random.default_rng(seed)
    real = [measure(gaze, BIOEYE_RATE_HZ, BIOEYE_HALF_WIDTH_S) for gaze in recordings.values()]
    gaze = []
    for measured in track(real, f"replaying {name}"):
        traits = population.draw_session(population.draw_person(rng), rng)
        gaze.append(as_bioeye(replay(measured, traits, rng, 1000.0)))
    simulated = [measure(one, BIOEYE_RATE_HZ, BIOEYE_HALF_WIDTH_S) for one in gaze]
    rates = [BIOEYE_RATE_HZ] * len(gaze)
    return Corpus(name, Side(real, list(recordings.values()), rates), Side(simulated, gaze, rates))


Quantity = tuple[str, Callable[[Side], Floats]]

SACCADE_QUANTITIES: tuple[Quantity, ...] = (
    ("peak velocity, °/s", lambda side: side.pooled("peak_velocity_deg_s")),
    ("duration, ms", lambda side: 1000 * side.pooled("duration_s")),
    ("centroid of the profile", lambda side: side.pooled("centroid")),
    ("curvature, % of amplitude", lambda side: 100 * side.pooled("curvature")),
    ("rebound, % of peak velocity", lambda side: 100 * side.pooled("rebound")),
    ("glissade, % of amplitude", lambda side: 100 * side.pooled("glissade")),
)
FIXATION_QUANTITIES: tuple[Quantity, ...] = (
    ("RMS-S2S, °", lambda side: _finite([one.step_rms_deg for one in side.measured])),
    (
        "velocity noise σ, °/s",
        lambda side: _finite([float(one.velocity_sd_deg_s.mean()) for one in side.measured]),
    ),
    (
        "drift speed, °/s",
        lambda side: np.concatenate([one.drift_speeds_deg_s for one in side.measured]),
    ),
)
RATE_QUANTITIES: tuple[Quantity, ...] = (
    (
        "microsaccades (0.2–0.7°) per s",
        lambda side: _finite([_microsaccade_rate(one) for one in side.measured]),
    ),
    ("blinks per min", lambda side: _finite([_blink_rate(one) for one in side.measured])),
    (
        "loss in a blink, ms",
        lambda side: 1000 * np.concatenate([_blink_losses(one) for one in side.measured]),
    ),
)


def _finite(values: list[float]) -> Floats:
    array = np.array(values, np.float64)
    return np.asarray(array[np.isfinite(array)])


def _microsaccade_rate(one: Measurements) -> float:
    amplitude = one.saccades["amplitude_deg"]
    return float(((amplitude > 0.2) & (amplitude < 0.7)).sum()) / max(one.fixation_s, 1e-9)


def _blink_losses(one: Measurements) -> Floats:
    return one.losses_s[(one.losses_s > 0.03) & (one.losses_s < 1.0)]


def _blink_rate(one: Measurements) -> float:
    return len(_blink_losses(one)) / one.duration_s * 60


def table(corpora: list[tuple[Corpus, tuple[Quantity, ...]]]) -> str:
    """Return the medians and Kolmogorov-Smirnov distances as a Markdown table."""
    lines = [
        "| recordings | quantity | real, median | simulated, median | KS distance |",
        "|---|---|---|---|---|",
    ]
    for corpus, quantities in corpora:
        for name, values in quantities:
            real, simulated = values(corpus.real), values(corpus.simulated)
            distance = ks_2samp(real, simulated).statistic
            lines.append(
                f"| {corpus.name} | {name} | {np.median(real):.3g} | {np.median(simulated):.3g} "
                f"| {distance:.2f} |"
            )
    return "\n".join(lines)


def icc_table(real: Decomposition, simulated: Decomposition) -> str:
    """Return the standard deviations and intraclass correlations as a Markdown table."""
    lines = [
        "| statistic | between persons, real / simulated | between sessions | error | ICC |",
        "|---|---|---|---|---|",
    ]

    def pair(part: str, index: int) -> str:
        variances = [getattr(one, part)[index, index] for one in (real, simulated)]
        return " / ".join(f"{np.sqrt(max(variance, 0)):.3g}" for variance in variances)

    for index, name in enumerate(NAMES):
        cells = " | ".join(pair(part, index) for part in ("between", "within", "error"))
        lines.append(f"| {name} | {cells} | {real.icc[index]:.2f} / {simulated.icc[index]:.2f} |")
    difference = np.abs(real.icc - simulated.icc).mean()
    lines.append("")
    lines.append(
        f"Mean ICC {real.icc.mean():.2f} real, {simulated.icc.mean():.2f} simulated; "
        f"mean absolute difference {difference:.2f}."
    )
    return "\n".join(lines)


def main() -> None:
    """Measure, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with identity, labelled, asc and edf")
    data = parser.parse_args().data
    mpl.use("Agg")
    ran = bioeye_recordings(data / "identity" / "bioeye2015_RAN.npz")
    tex = bioeye_recordings(data / "identity" / "bioeye2015_TEX.npz")
    zemblys = lab_corpus("Zemblys, EyeLink 1000 Hz", zemblys_recordings(data / "labelled"), 1)
    lund = lab_corpus("Lund 2013, SMI 500 Hz", lund_recordings(data / "labelled"), 2)
    asc = lab_corpus("ASC files, EyeLink 500–1000 Hz", asc_recordings(data), 3)
    dots = bioeye_corpus("BioEye dots, 250 Hz", ran, 4)
    text = bioeye_corpus("BioEye text, 250 Hz", tex, 5)
    calibration = Calibration(ran)
    people = simulate_people(calibration, oculomotor_table(), seed=2024)
    comparison = table(
        [
            (zemblys, SACCADE_QUANTITIES + FIXATION_QUANTITIES),
            (lund, SACCADE_QUANTITIES),
            (asc, SACCADE_QUANTITIES + FIXATION_QUANTITIES),
            (dots, SACCADE_QUANTITIES + FIXATION_QUANTITIES + RATE_QUANTITIES),
            (text, SACCADE_QUANTITIES + FIXATION_QUANTITIES + RATE_QUANTITIES),
        ]
    )
    iccs = icc_table(calibration.real, people)
    print(comparison, iccs, sep="\n\n")
    page = DOCS / "simulation.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(MARKERS[0])
    _, _, after = rest.partition(MARKERS[1])
    content = f"{before}{MARKERS[0]}\n\n{comparison}\n\n{iccs}\n\n{MARKERS[1]}{after}"
    write_bytes(page, content.encode())
    figure = draw_figure(zemblys, lund, asc, dots, calibration.real, people)
    with replacing(DOCS / "figures" / "simulation-vs-real.png") as aside:
        figure.savefig(aside, dpi=160)


if __name__ == "__main__":
    main()
