"""Estimate how simulated people move their eyes and how they differ, from BioEye 2015 RAN.

    python docs/figures/calibrate_population.py PATH/TO/identity [--sweeps N]

Indirect inference (Gouriéroux, Monfort & Renault 1993): each trait that differs from person to
person has one statistic that can be measured on a recording (`population_statistics.py`). Real
recordings are replayed by simulated eyes, measured in the same way, and the traits are moved until
the statistics agree: first their means (Gauss-Newton on the linearised relation), then their
covariances between persons and between sessions. Writes `oculomotor_population.json`.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
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
from replayed_gaze import BIOEYE_RATE_HZ, as_bioeye, bioeye_recordings, replay
from rich.progress import track

from gazelive.atomic import write_bytes
from gazelive.simulation import oculomotor_population
from gazelive.simulation.oculomotor import OculomotorTraits
from gazelive.simulation.oculomotor_population import (
    Correlation,
    OculomotorPopulation,
    PopulationTable,
    TraitDistribution,
)

Floats = npt.NDArray[np.float64]

HALF_WIDTH_S = 0.008
TABLE = Path(oculomotor_population.__file__).with_suffix(".json")
SHRINKAGE = 0.15
"""How far the correlations, of 77 persons, are drawn to none."""


@dataclass(frozen=True)
class Matched:
    """A trait and how far it may be moved: `reach` is a plausible standard deviation."""

    name: str
    scale: str
    reach: float


MATCHED = (
    *(Matched(f"vigor_{name}", "log", 0.2) for name in DIRECTIONS),
    Matched("vigor_slope", "linear", 0.1),
    Matched("profile_sharpness", "log", 0.2),
    *(Matched(f"peak_fraction_{name}", "linear", 0.08) for name in DIRECTIONS),
    *(Matched(f"curvature_{name}", "linear", 0.04) for name in DIRECTIONS),
    Matched("oscillation_gain_x", "log", 0.7),
    Matched("oscillation_gain_y", "log", 0.7),
    Matched("oscillation_frequency_hz", "log", 0.3),
    Matched("oscillation_damping", "log", 0.5),
    Matched("glissade_fraction", "linear", 0.04),
    Matched("vigor_scatter", "log", 0.4),
    Matched("curvature_scatter", "log", 0.4),
    Matched("peak_fraction_scatter", "log", 0.4),
    Matched("drift_speed_x_deg_s", "log", 0.4),
    Matched("drift_speed_y_deg_s", "log", 0.4),
    Matched("drift_persistence_s", "log", 0.5),
    Matched("noise_x_deg", "log", 0.6),
    Matched("noise_y_deg", "log", 0.6),
    Matched("noise_correlation_s", "log", 0.3),
    Matched("microsaccade_rate_hz", "log", 0.7),
    Matched("blink_rate_per_min", "log", 1.0),
    Matched("blink_loss_s", "log", 0.3),
)
"""In the order of `population_statistics.NAMES`: each trait's own statistic."""

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
"""What BioEye cannot tell; the means are the defaults of `OculomotorTraits`."""


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


def traits_of(values: Floats) -> OculomotorTraits:
    """Return the default person with the matched traits set to `values` on their scales."""
    natural = {
        trait.name: math.exp(value) if trait.scale == "log" else value
        for trait, value in zip(MATCHED, values.tolist(), strict=True)
    }
    return OculomotorTraits(**natural)


def default_values() -> Floats:
    """Return the matched traits of the default person, on their scales."""
    default = OculomotorTraits()
    values = [getattr(default, trait.name) for trait in MATCHED]
    return np.array(
        [math.log(v) if t.scale == "log" else v for v, t in zip(values, MATCHED, strict=True)]
    )


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
    """Return the traits whose statistics are the real ones, and the Jacobian there."""
    reach = np.array([trait.reach for trait in MATCHED])
    values = default_values()
    mean = calibration.mean_statistics(values)
    slopes = jacobian(calibration, values, mean)
    for _ in range(sweeps):
        misfit = (calibration.target - mean) / calibration.spread
        print(f"misfit of the means: {np.sqrt((misfit**2).mean()):.3f} spreads")
        values = values + np.clip(_inverse(slopes, 0.03) @ misfit, -1.5, 1.5) * reach
        mean = calibration.mean_statistics(values)
    slopes = jacobian(calibration, values, mean)
    misfit = (calibration.target - mean) / calibration.spread
    print(f"misfit of the means: {np.sqrt((misfit**2).mean()):.3f} spreads")
    for name, trait, off, value in zip(NAMES, MATCHED, misfit, values, strict=True):
        natural = math.exp(value) if trait.scale == "log" else value
        print(f"  {name:30s} off by {off:+.2f}   {trait.name:26s} {natural:.4g}")
    return values, slopes


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
    population = OculomotorPopulation(table)
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
            between_sd=round(float(b), 5),
            within_sd=round(float(w), 5),
            source=f"BioEye 2015 RAN, by “{statistic}”",
        )
        for trait, statistic, value, b, w in zip(
            MATCHED, NAMES, values, between_sd, within_sd, strict=True
        )
    ]
    for name, trait_scale, b, w, source in LITERATURE:
        value = getattr(default, name)
        centre = {"log": math.log, "logit": lambda p: math.log(p / (1 - p)), "linear": float}
        traits.append(
            TraitDistribution(
                name=name,
                scale=trait_scale,  # type: ignore[arg-type]
                mean=round(
                    centre[trait_scale](value) if value or trait_scale != "linear" else 0.0, 5
                ),
                between_sd=b,
                within_sd=w,
                source=source,
            )
        )
    names = tuple(trait.name for trait in MATCHED)
    return PopulationTable(
        provenance=(
            "Made by docs/figures/calibrate_population.py from BioEye 2015 RAN (77 persons, two "
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
    return np.asarray(np.linalg.solve(slopes.T @ slopes + ridge * np.eye(len(slopes)), slopes.T))


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
    return np.clip(np.sqrt(ratio), 0.6, 1.6)


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
    parser.add_argument("identity", type=Path, help="folder with bioeye2015_RAN.npz")
    parser.add_argument("--sweeps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=TABLE)
    arguments = parser.parse_args()
    recordings = bioeye_recordings(arguments.identity / "bioeye2015_RAN.npz")
    calibration = Calibration(recordings)
    values, slopes = fit_means(calibration, arguments.sweeps)
    table = fit_spreads(calibration, values, slopes, arguments.rounds)
    write_table(table, arguments.out)
    print_comparison(calibration.real, simulate_people(calibration, table, seed=999))


if __name__ == "__main__":
    main()
