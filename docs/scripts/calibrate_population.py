"""Estimate how simulated people move their eyes and how they differ, from real recordings.

    python docs/scripts/calibrate_population.py PATH/TO/DATA

DATA has `identity/bioeye2015_RAN.npz`, and `labelled`, `asc`, `edf` for the second corpus.

Indirect inference (Gouriéroux, Monfort & Renault 1993): each trait that differs from person to
person has one statistic that can be measured on a recording (`population_statistics.py`). Real
recordings are replayed by simulated eyes, measured in the same way, and the traits are moved until
the statistics agree: first their means (Gauss-Newton on the linearised relation), then their
covariances between persons and between sessions. Recordings made elsewhere at 500 and 1000 Hz show
faster small saccades and stronger oscillations than BioEye's (`fit_corpus_shift`); the table keeps
both centres. Writes `gazelive/simulation/eye/population.json`.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from gaze_statistics import Measurements, measure
from population_statistics import (
    DIRECTIONS,
    NAMES,
    Decomposition,
    MainSequence,
    decompose,
    fit_main_sequence,
    statistics,
)
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

from gazelive.gaze.arrays import Floats
from gazelive.simulation.eye import traits as oculomotor_population
from gazelive.simulation.eye.traits import OculomotorPopulation, OculomotorTraits
from gazelive.simulation.trait_population import Correlation, PopulationTable, TraitDistribution
from gazelive.system.files import write_bytes

HALF_WIDTH_S = 0.008
TABLE = Path(oculomotor_population.__file__).with_name("population.json")
MEAN_RIDGE = 0.03
SHRINKAGE = 0.15
"""Shrinkage of the correlations of 77 persons towards 0."""


@dataclass(frozen=True)
class Matched:
    """A trait, where the search starts, and a plausible standard deviation on its scale."""

    name: str
    scale: str
    start: float
    reach: float


MATCHED = (
    Matched("vigor_right", "log", 1.0, 0.2),
    Matched("vigor_up", "log", 0.85, 0.2),
    Matched("vigor_left", "log", 1.0, 0.2),
    Matched("vigor_down", "log", 0.9, 0.2),
    Matched("vigor_slope", "linear", 0.0, 0.1),
    Matched("profile_sharpness", "log", 2.9, 0.2),
    *(Matched(f"peak_fraction_{name}", "linear", 0.39, 0.08) for name in DIRECTIONS),
    *(Matched(f"curvature_{name}", "linear", -0.02, 0.04) for name in DIRECTIONS),
    Matched("oscillation_gain_x", "log", 0.48, 0.7),
    Matched("oscillation_gain_y", "log", 0.48, 0.7),
    Matched("oscillation_frequency_hz", "log", 33.0, 0.3),
    Matched("oscillation_damping", "log", 0.37, 0.5),
    Matched("glissade_fraction", "linear", 0.0, 0.04),
    Matched("vigor_scatter", "log", 0.12, 0.4),
    Matched("curvature_scatter", "log", 0.05, 0.4),
    Matched("peak_fraction_scatter", "log", 0.04, 0.4),
    Matched("drift_speed_x_deg_s", "log", 1.5, 0.4),
    Matched("drift_speed_y_deg_s", "log", 1.5, 0.4),
    Matched("drift_persistence_s", "log", 0.007, 0.5),
    Matched("noise_x_deg", "log", 0.012, 0.6),
    Matched("noise_y_deg", "log", 0.014, 0.6),
    Matched("noise_correlation_s", "log", 0.0012, 0.3),
    Matched("microsaccade_rate_hz", "log", 1.0, 0.7),
    Matched("blink_rate_per_min", "log", 6.0, 1.0),
    Matched("blink_loss_s", "log", 0.19, 0.3),
)
"""In the order of `population_statistics.NAMES`: each trait's own statistic. Velocity, profile and
oscillation start where `fit_saccade_shape.py` ended."""

CORPUS_SHIFTS = (
    ("vigor_right", "vigor_up", "vigor_left", "vigor_down"),
    ("vigor_slope",),
    ("oscillation_gain_x", "oscillation_gain_y"),
    ("oscillation_frequency_hz",),
    ("oscillation_damping",),
)
"""Traits that differ between corpora; those of a group move together."""
CURVES = {"peak_velocity_deg_s": 0.05, "duration_s": 0.05, "rebound": 0.03, "swing_s": 0.1}
"""Measures compared between corpora over amplitude, and their tolerances."""
AMPLITUDE_BINS_DEG = (0.5, 0.8, 1.5, 2.5, 4.0, 6.0, 9.0, 13.0, 18.0, 25.0)
FINE_HALF_WIDTH_S = 0.004

LITERATURE = (
    # name, scale, between, within, where from
    ("abduction_vigor", "log", 0.02, 0.0, "Collewijn et al. 1988"),
    ("undershoot_probability", "logit", 0.5, 0.2, "assumed; mean: Becker 1989"),
    ("undershoot_fraction", "log", 0.15, 0.1, "Becker 1989"),
    ("corrective_latency_s", "log", 0.12, 0.05, "Becker 1989"),
    ("tremor_deg", "log", 0.2, 0.1, "mean: bump at 60–80 Hz in Zemblys et al.'s data"),
    ("tremor_frequency_hz", "log", 0.05, 0.02, "mean: bump at 60–80 Hz in Zemblys et al.'s data"),
    ("microsaccade_amplitude_deg", "log", 0.2, 0.08, "assumed"),
    ("left_offset_x_deg", "linear", 0.0, 0.25, "EyeLink validation errors of 0.3–0.5°"),
    ("left_offset_y_deg", "linear", 0.0, 0.3, "EyeLink validation errors of 0.3–0.5°"),
    ("right_offset_x_deg", "linear", 0.0, 0.25, "EyeLink validation errors of 0.3–0.5°"),
    ("right_offset_y_deg", "linear", 0.0, 0.3, "EyeLink validation errors of 0.3–0.5°"),
    ("dropout_rate_per_min", "log", 0.7, 0.5, "assumed"),
    ("lid_closing_s", "log", 0.12, 0.06, "EyeLink recordings around blinks"),
    ("lid_opening_s", "log", 0.12, 0.06, "EyeLink recordings around blinks"),
    ("lid_excursion_y_deg", "log", 0.2, 0.1, "EyeLink recordings around blinks"),
    ("pupil_area", "log", 0.3, 0.15, "EyeLink recordings"),
    ("pupil_fluctuation", "log", 0.2, 0.15, "assumed"),
    ("eye_vigor_ratio", "log", 0.02, 0.005, "assumed"),
    ("eye_oscillation_ratio", "log", 0.1, 0.03, "assumed"),
    ("eye_noise_ratio", "log", 0.15, 0.1, "assumed"),
)
"""Traits that BioEye does not determine; the means are the defaults of `OculomotorTraits`."""


class Calibration:
    """Real statistics, and simulated ones for any traits."""

    def __init__(self, recordings: dict[str, Floats]) -> None:
        self.measured = {
            name: measure(gaze, BIOEYE_RATE_HZ, HALF_WIDTH_S)
            for name, gaze in track(recordings.items(), "measuring real recordings")
        }
        self.curves: MainSequence = fit_main_sequence(list(self.measured.values()))
        self.persons = sorted({name.split("_")[0] for name in recordings})
        self.real = self.decompose(self.measured)
        self.target = np.nanmedian(
            [statistics(one, self.curves) for one in self.measured.values()], axis=0
        )
        self.spread = np.sqrt(np.diag(self.real.between + self.real.within + self.real.error))

    def decompose(self, measured: dict[str, Measurements]) -> Decomposition:
        """Decompose the statistics of recordings named person_session."""
        names = [[f"{person}_{session}" for session in (1, 2)] for person in self.persons]
        values = [[statistics(measured[name], self.curves) for name in pair] for pair in names]
        halves = [
            [[statistics(measured[name], self.curves, half) for half in (0, 1)] for name in pair]
            for pair in names
        ]
        return decompose(np.array(values), np.array(halves))

    def simulate(self, traits: dict[str, OculomotorTraits], seed: int) -> dict[str, Measurements]:
        """Replay each named recording with its traits, and measure it."""
        simulated = {}
        for name, own in traits.items():
            rng = np.random.default_rng([seed, int(name.split("_")[0]), int(name[-1])])
            trace = replay(self.measured[name], own, rng, 1000.0)
            simulated[name] = measure(as_bioeye(trace), BIOEYE_RATE_HZ, HALF_WIDTH_S)
        return simulated

    def mean_statistics(self, values: Floats) -> Floats:
        """Return the statistics of one and the same person on a few scanpaths."""
        traits = traits_of(values)
        simulated = self.simulate({f"{person}_1": traits for person in self.persons[::6]}, 0)
        return np.asarray(
            np.nanmean([statistics(one, self.curves) for one in simulated.values()], axis=0)
        )


SPREADS = {
    "blink_rate_per_min": (
        0.7,
        0.3,
        "means: BioEye 2015 RAN and lab recordings; spread: Bentivoglio et al. 1997, since the "
        "spread of losses in BioEye (1.5 and more) is the tracker losing eyes, not lids",
    )
}
"""Standard deviations between persons and sessions that are not BioEye's, and why."""

LAB_MEANS = {"blink_rate_per_min": math.log(10.0), "blink_loss_s": math.log(0.12)}
"""BioEye's dot keeps people from blinking, and its losses are longer than EyeLink files have."""


def traits_of(values: Floats) -> OculomotorTraits:
    """Return the default person with the matched traits set to `values` on their scales."""
    natural = {
        trait.name: math.exp(value) if trait.scale == "log" else value
        for trait, value in zip(MATCHED, values.tolist(), strict=True)
    }
    return OculomotorTraits(**natural)


def start_values() -> Floats:
    """Return where the search starts, on the traits' scales."""
    return np.array([math.log(t.start) if t.scale == "log" else t.start for t in MATCHED])


def jacobian(calibration: Calibration, values: Floats, mean: Floats) -> Floats:
    """Return d statistic / d trait, with a trait's reach and a statistic's spread as units."""
    columns = []
    for index in track(range(len(MATCHED)), "how the statistics follow the traits"):
        step = 0.4 * MATCHED[index].reach
        moved = values.copy()
        moved[index] += step
        change = (calibration.mean_statistics(moved) - mean) / calibration.spread
        columns.append(change / 0.4)
    return np.column_stack(columns)


def fit_means(calibration: Calibration, sweeps: int) -> tuple[Floats, Floats]:
    """Return the traits whose statistics are the real ones, and the Jacobian there.

    Damped Gauss-Newton; what the statistics hardly tell stays near the start.
    """
    reach = np.array([trait.reach for trait in MATCHED])
    start = start_values()

    def misfit_of(mean: Floats) -> Floats:
        return np.asarray((calibration.target - mean) / calibration.spread)

    moved = np.zeros(len(MATCHED))
    mean = calibration.mean_statistics(start)
    for _ in range(sweeps):
        slopes = jacobian(calibration, start + moved * reach, mean)
        damped = slopes.T @ slopes + MEAN_RIDGE * np.eye(len(slopes))
        for _ in range(3):
            misfit = misfit_of(mean)
            print(f"misfit of the means: {np.sqrt((misfit**2).mean()):.3f} spreads")
            step = np.linalg.solve(damped, slopes.T @ misfit - MEAN_RIDGE * moved)
            step = np.clip(step, -0.7, 0.7)
            tried = calibration.mean_statistics(start + (moved + step) * reach)
            if (misfit_of(tried) ** 2).mean() >= (misfit**2).mean():
                break
            moved, mean = moved + step, tried
    values = start + moved * reach
    misfit = misfit_of(mean)
    print(f"misfit of the means: {np.sqrt((misfit**2).mean()):.3f} spreads")
    for name, trait, off, value in zip(NAMES, MATCHED, misfit, values, strict=True):
        natural = math.exp(value) if trait.scale == "log" else value
        print(f"  {name:30s} off by {off:+.2f}   {trait.name:26s} {natural:.4g}")
    return values, jacobian(calibration, values, mean)


def fit_corpus_shift(recordings: list[RealRecording], values: Floats) -> Floats:
    """Return how the traits would have to move for the recordings of the other corpora."""
    measured = [measure(one.gaze_deg, one.rate_hz, FINE_HALF_WIDTH_S) for one in recordings]
    real = amplitude_curves(measured)
    moves = np.array(
        [[trait.name in group for trait in MATCHED] for group in CORPUS_SHIFTS], np.float64
    ) * np.array([trait.reach for trait in MATCHED])

    def misfit(amounts: Floats) -> Floats:
        traits = traits_of(values + amounts @ moves)
        simulated = []
        for index, (one, recording) in enumerate(zip(measured, recordings, strict=True)):
            own = traits if recording.filtered else unfiltered(traits)
            trace = replay(one, own, np.random.default_rng([7, index]), recording.rate_hz)
            gaze = trace.gaze_deg[:, 0]
            simulated.append(measure(gaze, recording.rate_hz, FINE_HALF_WIDTH_S))
        off = (amplitude_curves(simulated) - real).ravel()
        return np.clip(np.where(np.isfinite(off), off, 0.0), -8, 8)

    amounts = np.zeros(len(moves))
    for _ in range(4):
        off = misfit(amounts)
        print(f"misfit to the other corpora: {np.sqrt((off**2).mean()):.2f} tolerances")
        steps = 0.4 * np.eye(len(moves))
        slopes = np.column_stack([(misfit(amounts + step) - off) / 0.4 for step in steps])
        amounts = amounts - np.clip(_inverse(slopes, 1.0) @ off, -1.0, 1.0)
    print(f"misfit to the other corpora: {np.sqrt((misfit(amounts) ** 2).mean()):.2f} tolerances")
    shift = amounts @ moves
    for trait, amount in zip(MATCHED, shift, strict=True):
        if amount:
            print(f"  {trait.name:26s} {amount:+.3f} ({trait.scale})")
    return np.asarray(shift)


def amplitude_curves(measured: list[Measurements]) -> Floats:
    """Return the medians of `CURVES` per bin of amplitude, in tolerances."""
    pooled = {
        name: np.concatenate([one.saccades[name] for one in measured])
        for name in ("amplitude_deg", *CURVES)
    }
    bins = np.digitize(pooled["amplitude_deg"], AMPLITUDE_BINS_DEG)
    rows = []
    for number in range(1, len(AMPLITUDE_BINS_DEG)):
        inside = bins == number
        if inside.sum() < 8:
            rows.append([np.nan] * len(CURVES))
            continue
        medians = {name: float(np.median(pooled[name][inside])) for name in CURVES}
        rows.append(
            [
                (value if name == "rebound" else math.log(value)) / CURVES[name]
                for name, value in medians.items()
            ]
        )
    return np.array(rows)


def fit_spreads(
    calibration: Calibration, values: Floats, slopes: Floats, rounds: int
) -> PopulationTable:
    """Return the table whose simulated people vary as the real ones do."""
    reach = np.array([trait.reach for trait in MATCHED])
    inverse = _inverse(slopes, 0.1)
    real = calibration.real
    scale = calibration.spread[:, np.newaxis] * calibration.spread
    between = _covariance(inverse @ (real.between / scale) @ inverse.T)
    within = _covariance(inverse @ (real.within / scale) @ inverse.T)
    between_sd = np.minimum(np.sqrt(np.diag(between)), 1.5) * reach
    within_sd = np.minimum(np.sqrt(np.diag(within)), 1.0) * reach
    table = make_table(values, between, within, between_sd, within_sd)
    for number in range(rounds):
        simulated = simulate_people(calibration, table, seed=100 + number)
        print_comparison(real, simulated)
        between_sd *= _correction(real.between, simulated.between)
        within_sd *= _correction(real.within, simulated.within)
        between_sd = np.minimum(between_sd, 1.5 * reach)
        within_sd = np.minimum(within_sd, reach)
        table = make_table(values, between, within, between_sd, within_sd)
    return table


def simulate_people(calibration: Calibration, table: PopulationTable, seed: int) -> Decomposition:
    """Decompose as many simulated people as there are real ones, on the same scanpaths."""
    population = OculomotorPopulation(table, centre="bioeye")
    rng = np.random.default_rng(seed)
    traits = {}
    for person in calibration.persons:
        drawn = population.draw_person(rng)
        for session in (1, 2):
            traits[f"{person}_{session}"] = population.draw_session(drawn, rng)
    return calibration.decompose(calibration.simulate(traits, seed))


def print_comparison(real: Decomposition, simulated: Decomposition) -> None:
    """Print standard deviations and intraclass correlations, real and simulated."""
    print(f"{'statistic':30s} {'between':>17s} {'within':>17s} {'error':>17s} {'ICC':>11s}")
    for index, name in enumerate(NAMES):
        cells = []
        for part in ("between", "within", "error"):
            for one in (real, simulated):
                variance = getattr(one, part)[index, index]
                cells.append(f"{math.sqrt(max(variance, 0)):8.4f}")
        iccs = f"{real.icc[index]:5.2f} {simulated.icc[index]:5.2f}"
        print(f"{name:30s} {' '.join(cells)} {iccs}")
    print(f"mean ICC: real {real.icc.mean():.2f}, simulated {simulated.icc.mean():.2f}")


def make_table(
    values: Floats, between: Floats, within: Floats, between_sd: Floats, within_sd: Floats
) -> PopulationTable:
    """Return the population's table from means, covariances (for correlations) and SDs."""
    default = OculomotorTraits()
    traits = [
        TraitDistribution(
            name=trait.name,
            scale=trait.scale,  # type: ignore[arg-type]
            mean=round(float(value), 5),
            bioeye_mean=round(float(value), 5),
            between_sd=round(float(b), 5),
            within_sd=round(float(w), 5),
            source=f"BioEye 2015 RAN, by “{statistic}”",
        )
        for trait, statistic, value, b, w in zip(
            MATCHED, NAMES, values, between_sd, within_sd, strict=True
        )
    ]
    to_scale = {"log": math.log, "logit": lambda p: math.log(p / (1 - p)), "linear": float}
    for name, scale, b, w, source in LITERATURE:
        centre = round(to_scale[scale](getattr(default, name)), 5)
        traits.append(
            TraitDistribution(
                name=name,
                scale=scale,  # type: ignore[arg-type]
                mean=centre,
                bioeye_mean=centre,
                between_sd=b,
                within_sd=w,
                source=source,
            )
        )
    names = tuple(trait.name for trait in MATCHED)
    return PopulationTable(
        provenance=(
            "Made by docs/scripts/calibrate_population.py from BioEye 2015 RAN (77 persons, two "
            "sessions 30 minutes apart); what those recordings cannot tell is from the literature "
            "or assumed, as each source says. Traits that are not listed are the same for "
            "everybody (OculomotorTraits)."
        ),
        traits=tuple(traits),
        between=Correlation(names=names, matrix=_correlation(between)),
        within=Correlation(names=names, matrix=_correlation(within)),
    )


def _inverse(slopes: Floats, ridge: float) -> Floats:
    """Return the ridge inverse: a trait is moved no further than its statistic demands."""
    damped = slopes.T @ slopes + ridge * np.eye(slopes.shape[1])
    return np.asarray(np.linalg.solve(damped, slopes.T))


def _covariance(matrix: Floats) -> Floats:
    """Return the nearest matrix whose variances are not negative."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    floor = 1e-3 * values.max()
    return np.asarray((vectors * np.maximum(values, floor)) @ vectors.T)


def _correlation(covariance: Floats) -> tuple[tuple[float, ...], ...]:
    sd = np.sqrt(np.diag(covariance))
    matrix = covariance / sd[:, np.newaxis] / sd
    matrix = (1 - SHRINKAGE) * matrix + SHRINKAGE * np.eye(len(matrix))
    return tuple(tuple(round(float(value), 3) for value in row) for row in matrix)


def _correction(real: Floats, simulated: Floats) -> Floats:
    ratio = np.maximum(np.diag(real), 0) / np.maximum(np.diag(simulated), 1e-9)
    # less than the square root: both sides are estimates
    return np.asarray(np.clip(ratio**0.35, 0.6, 1.6))


def write_table(table: PopulationTable, path: Path) -> None:
    """Write the table as JSON, one trait and one row of a matrix per line."""
    traits = [
        json.dumps({field: getattr(trait, field) for field in trait.__struct_fields__})
        for trait in table.traits
    ]
    parts = [f'"provenance": {json.dumps(table.provenance)}', _json_list("traits", traits)]
    for name, correlation in (("between", table.between), ("within", table.within)):
        rows = [json.dumps(row) for row in correlation.matrix]
        inner = f'"names": {json.dumps(correlation.names)},\n' + _json_list("matrix", rows)
        parts.append(f'"{name}": {{\n{inner}\n}}')
    write_bytes(path, ("{\n" + ",\n".join(parts) + "\n}\n").encode())


def _json_list(name: str, items: list[str]) -> str:
    return f'"{name}": [\n' + ",\n".join(items) + "\n]"


def main() -> None:
    """Calibrate and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with identity, labelled, asc and edf")
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--out", type=Path, default=TABLE)
    arguments = parser.parse_args()
    data = arguments.data
    calibration = Calibration(bioeye_recordings(data / "identity" / "bioeye2015_RAN.npz"))
    values, slopes = fit_means(calibration, arguments.sweeps)
    table = fit_spreads(calibration, values, slopes, arguments.rounds)
    print("\nBioEye 2015 RAN, real beside simulated, new people:")
    print_comparison(calibration.real, simulate_people(calibration, table, seed=999))
    others = [
        *zemblys_recordings(data / "labelled"),
        *lund_recordings(data / "labelled"),
        *asc_recordings(data),
    ]
    shift = fit_corpus_shift(others, values)
    write_table(moved(table, shift), arguments.out)


def moved(table: PopulationTable, shift: Floats) -> PopulationTable:
    """Return the table with the lab centre: the matched traits moved, blinks as in labs."""
    traits = [
        msgspec.structs.replace(
            trait,
            between_sd=SPREADS[trait.name][0],
            within_sd=SPREADS[trait.name][1],
            source=SPREADS[trait.name][2],
        )
        if trait.name in SPREADS
        else trait
        for trait in table.traits
    ]
    for index, amount in enumerate(shift.tolist()):
        mean = LAB_MEANS.get(traits[index].name, traits[index].bioeye_mean + amount)
        traits[index] = msgspec.structs.replace(traits[index], mean=round(mean, 5))
    return msgspec.structs.replace(table, traits=tuple(traits))


if __name__ == "__main__":
    main()
