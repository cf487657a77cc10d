"""Estimate how people differ in where they look and how long; write the simulator's table.

    python docs/scripts/estimate_scanpaths.py DATA/identity [--reuse]

DATA/identity holds `osie_fixations.csv.gz` and `bioeye2015_{RAN,TEX}.npz`. Takes some 20 minutes on
one core, most of it for the maximum-likelihood fits on OSIE; they are kept in `bench-results/`,
from where `--reuse` takes them. `docs/simulation-scanpaths.md` explains the method.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import bioeye_scanpaths
import msgspec
import numpy as np
import numpy.typing as npt
import osie
import preference_kernels as kernels
from scipy import linalg, optimize, special

from gazelive.gaze.arrays import Floats
from gazelive.models.gamma import fit_gamma
from gazelive.models.scenewalk.equations import SceneWalkParameters
from gazelive.simulation.scanpath import traits as scanpath_population
from gazelive.simulation.scanpath.traits import (
    DURATION_NAMES,
    PREFERENCE_NAMES,
    TURNS,
    ScanpathTable,
)
from gazelive.simulation.trait_population import Correlation, PopulationTable, TraitDistribution

FIT_SHAPE = (64, 64)
"""Grid for SceneWalk's parameters; the preferences are fitted on the full one."""
FULL_SHAPE = (128, 128)
FREE = np.array([i for i in range(kernels.N_STATISTICS) if i not in (0, kernels.DIRECTION_0)])
"""The weights of `maintain` and of `right` are 0."""
NAME_ORDER = np.array([3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 13, 14, 15])
"""Statistics in the order of `PREFERENCE_NAMES`."""
KEPT = Path(__file__).parents[2] / "bench-results" / "scanpath_estimates.npz"
TABLE = Path(scanpath_population.__file__).with_name("population.json")
START_LOGS = np.log([40.0, 0.5, 8.0, 5.0, 0.3, 0.05])


@dataclass(frozen=True)
class Estimates:
    """Maximum-likelihood fits on OSIE."""

    scenewalk: Floats
    preferences: Floats
    """(2 halves of the images, viewers, 16)"""
    information: Floats
    """(2, viewers, 16, 16)"""


class Paths:
    """Scanpaths with the maps of where the others looked."""

    def __init__(
        self, fixations: osie.Fixations, keep: npt.NDArray[np.bool_], shape: tuple[int, int]
    ) -> None:
        self.events = np.column_stack([fixations.x_deg, fixations.y_deg, fixations.duration_s])
        self.grid = osie.grid(shape)
        self.rows, self.columns = self.grid.cells(fixations.x_deg, fixations.y_deg)
        self.slices = [path for path in fixations.scanpaths if keep[path.start]]
        self.maps = [
            osie.density_without(
                fixations,
                int(fixations.image[path.start]),
                int(fixations.viewer[path.start]),
                shape,
            )
            for path in self.slices
        ]

    def evaluate(
        self, scenewalk: Floats, preferences: Floats, *, derivatives: bool
    ) -> tuple[float, Floats, Floats]:
        """Return mean log likelihood per saccade, gradient and information of their sum."""
        gradient = np.zeros(kernels.N_STATISTICS)
        information = np.zeros((kernels.N_STATISTICS, kernels.N_STATISTICS))
        log_likelihood, n_saccades = 0.0, 0
        for path, saliency in zip(self.slices, self.maps, strict=True):
            added, n = kernels.scanpath_log_likelihood(
                saliency,
                self.grid.x_deg,
                self.grid.y_deg,
                self.events[path],
                self.rows[path],
                self.columns[path],
                scenewalk,
                preferences,
                gradient,
                information,
                derivatives,
            )
            log_likelihood += added
            n_saccades += n
        return log_likelihood / n_saccades, gradient, information

    def fit_preferences(
        self, scenewalk: Floats, start: Floats, n_steps: int
    ) -> tuple[Floats, Floats]:
        """Return the maximum-likelihood preferences by Newton's method, and the information."""
        preferences = start.copy()
        information = np.zeros((kernels.N_STATISTICS, kernels.N_STATISTICS))
        for _ in range(n_steps):
            _, gradient, information = self.evaluate(scenewalk, preferences, derivatives=True)
            step = np.linalg.solve(information[np.ix_(FREE, FREE)], gradient[FREE])
            # a far start overshoots: the likelihood is concave, not quadratic
            preferences[FREE] += step * min(1.0, 1.0 / np.abs(step).max())
        return preferences, information


def scenewalk_vector(logs: Floats) -> Floats:
    """Return SceneWalk's parameters; both exponents are 1, as in the public reference model."""
    omega_a, omega_f, sigma_a, sigma_f, c_f, zeta = np.exp(logs)
    return np.array([omega_a, omega_f, sigma_a, sigma_f, 1.0, 1.0, c_f, min(zeta, 1.0)])


def fit_scenewalk(fixations: osie.Fixations) -> tuple[Floats, Floats]:
    """Return SceneWalk's parameters and everybody's preferences on a twelfth of the images."""
    paths = Paths(fixations, fixations.image % 12 == 5, FIT_SHAPE)
    logs = START_LOGS
    preferences = np.zeros(kernels.N_STATISTICS)
    for round_ in range(2):
        preferences, _ = paths.fit_preferences(scenewalk_vector(logs), preferences, 7 - 3 * round_)
        simplex = np.vstack([logs, logs + 0.3 * np.eye(len(logs))])
        found = optimize.minimize(
            lambda z, fixed: -paths.evaluate(scenewalk_vector(z), fixed, derivatives=False)[0],
            logs,
            args=(preferences,),
            method="Nelder-Mead",
            options={"maxfev": 120, "initial_simplex": simplex, "fatol": 1e-5, "xatol": 0.02},
        )
        logs = found.x
        print(f"SceneWalk {round_}: {found.fun:.4f}", scenewalk_vector(logs).round(3), flush=True)
    return scenewalk_vector(logs), preferences


def fit_viewers(fixations: osie.Fixations) -> Estimates:
    """Fit everything on OSIE."""
    scenewalk, pooled = fit_scenewalk(fixations)
    shape = (2, fixations.n_viewers, kernels.N_STATISTICS)
    preferences, information = np.zeros(shape), np.zeros((*shape, kernels.N_STATISTICS))
    for viewer in range(fixations.n_viewers):
        for half in range(2):
            keep = (fixations.viewer == viewer) & (fixations.image % 2 == half)
            paths = Paths(fixations, keep, FULL_SHAPE)
            preferences[half, viewer], information[half, viewer] = paths.fit_preferences(
                scenewalk, pooled, 3
            )
        print(f"viewer {viewer + 1}", preferences[:, viewer].mean(axis=0).round(2), flush=True)
    return Estimates(scenewalk, preferences, information)


def duration_traits(fixations: osie.Fixations) -> tuple[Floats, Floats, float]:
    """Return log mean and log shape per viewer (viewers, 8), their error variances, and the
    standard deviation over images of a viewer's mean log duration.
    """
    _, turn = fixations.saccades
    use = (turn >= 0) & ~fixations.is_last
    log_duration = np.log(fixations.duration_s)
    trial_variance = variance_over_trials(fixations, log_duration, use)
    traits = np.zeros((fixations.n_viewers, 2, len(TURNS)))
    errors = np.zeros_like(traits)
    for viewer in range(fixations.n_viewers):
        for kind in TURNS:
            rows = use & (turn == kind) & (fixations.viewer == viewer)
            mean = fixations.duration_s[rows].mean()
            shape, _ = fit_gamma(mean, log_duration[rows].mean())
            # the images' own variance is drawn on top of the gamma's
            shape = 1 / (1 / shape - trial_variance)
            traits[viewer, :, kind] = np.log(mean), np.log(shape)
            n = rows.sum()
            curvature = shape**2 * (special.polygamma(1, shape) - 1 / shape)
            errors[viewer, :, kind] = 1 / (n * shape), 1 / (n * curvature)
    n_viewers = fixations.n_viewers
    return (
        traits.reshape(n_viewers, -1),
        errors.reshape(n_viewers, -1).mean(axis=0),
        float(np.sqrt(trial_variance)),
    )


def variance_over_trials(
    fixations: osie.Fixations, values: Floats, use: npt.NDArray[np.bool_]
) -> float:
    """Return the variance component of a viewer's images, by one-way analysis of variance."""
    viewer, started = fixations.viewer[use], np.cumsum(fixations.is_first)[use]
    values = values[use]
    values = values - (np.bincount(viewer, values) / np.bincount(viewer))[viewer]
    _, trial, counts = np.unique(started, return_inverse=True, return_counts=True)
    means = np.bincount(trial, values) / counts
    n, n_trials = len(values), len(counts)
    within = ((values - means[trial]) ** 2).sum() / (n - n_trials)
    between = (counts * means**2).sum() / (n_trials - 1)
    per_trial = (n - (counts**2).sum() / n) / (n_trials - 1)
    return float((between - within) / per_trial)


def preference_traits(estimates: Estimates) -> tuple[Floats, Floats]:
    """Return the preferences per viewer in the order of `PREFERENCE_NAMES`, and the error
    covariance of those estimates.
    """
    relative = np.eye(kernels.N_STATISTICS)
    relative[[3, 6, 9], 0] -= 1
    traits = estimates.preferences.mean(axis=0)
    errors = np.zeros((kernels.N_STATISTICS, kernels.N_STATISTICS))
    n_viewers = len(traits)
    for information in estimates.information.sum(axis=0):
        errors[np.ix_(FREE, FREE)] += np.linalg.inv(information[np.ix_(FREE, FREE)]) / n_viewers
    errors = relative @ errors @ relative.T
    apart = estimates.preferences[0] - estimates.preferences[1]
    split_sd = np.sqrt((apart**2).mean(axis=0) / 4)[NAME_ORDER]
    told_sd = np.sqrt(np.diag(errors))[NAME_ORDER]
    print("error by halves / by information:", np.round(split_sd / told_sd, 2))
    return (traits @ relative.T)[:, NAME_ORDER], errors[np.ix_(NAME_ORDER, NAME_ORDER)]


def contrasts(names: tuple[str, ...]) -> Floats:
    """Return an orthonormal basis: per kind of trait the mean over turns, and what differs.

    People whose fixations are long after one turn have long ones after the others, too. In this
    basis such traits are one large variance and some small ones, and next to uncorrelated, so
    that shrinking correlations does not make four independent traits of one.
    """
    basis = np.eye(len(names))
    for prefix in ("level", "tail", "duration_mean_s", "duration_shape"):
        rows = [i for i, name in enumerate(names) if name.startswith(prefix)]
        basis[np.ix_(rows, rows)] = linalg.helmert(len(rows), full=True)
    sideways = [names.index("turn_right"), names.index("turn_left")]
    basis[np.ix_(sideways, sideways)] = linalg.helmert(2, full=True)
    return basis


def true_covariance(traits: Floats, errors: Floats, basis: Floats) -> tuple[Floats, Floats, float]:
    """Return standard deviations and correlations between viewers without estimation error.

    Correlations among 15 viewers are shrunk towards 0 in the given basis, by the share that is
    expected to be chance (J. Schäfer, K. Strimmer, "A shrinkage approach to large-scale
    covariance matrix estimation", 2005); the share is returned too.
    """
    covariance = basis @ (np.cov(traits.T) - errors) @ basis.T
    observed = np.diag(basis @ np.cov(traits.T) @ basis.T)
    variance = np.maximum(np.diag(covariance), 0.05 * observed)
    correlation = np.clip(covariance / np.sqrt(np.outer(variance, variance)), -1, 1)
    apart = ~np.eye(len(variance), dtype=bool)
    chance = ((1 - correlation[apart] ** 2) ** 2).sum() / (len(traits) - 1)
    shrinkage = min(1.0, chance / (correlation[apart] ** 2).sum())
    correlation = np.where(apart, (1 - shrinkage) * correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    correlation = (vectors * np.maximum(values, 0.01)) @ vectors.T
    scale = np.sqrt(variance / np.diag(correlation))
    covariance = basis.T @ (correlation * np.outer(scale, scale)) @ basis
    sd = np.sqrt(np.diag(covariance))
    return sd, covariance / np.outer(sd, sd), shrinkage


def main() -> None:
    """Estimate and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--reuse", action="store_true")
    arguments = parser.parse_args()
    fixations = osie.read_osie(arguments.data / "osie_fixations.csv.gz")
    if not arguments.reuse:
        fitted = fit_viewers(fixations)
        KEPT.parent.mkdir(exist_ok=True)
        np.savez(KEPT, **{name: getattr(fitted, name) for name in fitted.__dataclass_fields__})
    estimates = Estimates(**np.load(KEPT))
    preferences, preference_errors = preference_traits(estimates)
    durations, duration_errors, trial_sd = duration_traits(fixations)
    traits = np.hstack([preferences, durations])
    errors = np.zeros((traits.shape[1],) * 2)
    errors[: len(preference_errors), : len(preference_errors)] = preference_errors
    errors[len(preference_errors) :, len(preference_errors) :] = np.diag(duration_errors)
    names = (*PREFERENCE_NAMES, *DURATION_NAMES)
    sd, correlation, shrinkage = true_covariance(traits, errors, contrasts(names))
    across = bioeye_scanpaths.across_sessions(arguments.data)
    reaction = bioeye_scanpaths.reactions(arguments.data / "bioeye2015_RAN.npz")
    print(f"shrinkage of correlations {shrinkage:.2f}", across, reaction, sep="\n")
    persistence = [across[name.split("_")[0]] for name in names]
    distributions = [
        TraitDistribution(
            name=name,
            scale="log" if name in DURATION_NAMES else "linear",
            mean=round(float(mean), 4),
            between_sd=round(float(spread * np.sqrt(share)), 4),
            within_sd=round(float(spread * np.sqrt(1 - share)), 4),
            source=f"OSIE, 15 viewers; {share:.2f} of the variance is the person's (BioEye)",
        )
        for name, mean, spread, share in zip(
            names, traits.mean(axis=0), sd, persistence, strict=True
        )
    ]
    distributions.append(
        TraitDistribution(
            name="reaction_s",
            scale="log",
            mean=round(reaction.log_mean, 4),
            between_sd=round(reaction.between_sd, 4),
            within_sd=round(reaction.within_sd, 4),
            source="BioEye RAN, 77 persons × 2 sessions, jumps of the dot",
        )
    )
    together = Correlation(
        names=names, matrix=tuple(tuple(row) for row in correlation.round(6).tolist())
    )
    table = ScanpathTable(
        scenewalk=SceneWalkParameters(
            **dict(
                zip(
                    SceneWalkParameters.__struct_fields__,
                    estimates.scenewalk.round(4).tolist(),
                    strict=True,
                )
            ),
        ),
        trial_duration_sd=round(trial_sd, 4),
        reaction_sd=round(reaction.trial_sd, 4),
        population=PopulationTable(
            provenance=(
                "Estimated by docs/scripts/estimate_scanpaths.py from the OSIE fixations (15 "
                "viewers, 500 images of 3 s) and BioEye 2015 (77 persons, 2 sessions 30 minutes "
                f"apart). Correlations shrunk by {shrinkage:.2f}."
            ),
            traits=tuple(distributions),
            between=together,
            within=together,
        ),
    )
    TABLE.write_bytes(msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n")
    print("wrote", TABLE)


if __name__ == "__main__":
    main()
