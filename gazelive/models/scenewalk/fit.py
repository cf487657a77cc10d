"""Regularised maximum likelihood for SceneWalk, with analytic gradients.

The log likelihood plus a Gaussian prior in θ (`scenewalk_box`) is climbed by L-BFGS-B. It is only
piecewise smooth and has several hills: attention that jumps at once over a wide window fits some
data, attention that creeps under a narrow one others; inhibition may be wide with a large exponent
or narrow with a small one. So a pooled fit begins at several places, on some of the viewings and
on coarse cells, and only the best goes on with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import optimize

from gazelive.errors import ModelError
from gazelive.gaze import Floats
from gazelive.models.scenewalk.box import (
    CENTRE,
    HIGHEST,
    LOWEST,
    from_coordinates,
    slopes,
    to_coordinates,
)
from gazelive.models.scenewalk.equations import SceneWalkParameters
from gazelive.models.scenewalk.score import scanpath_score
from gazelive.models.scenewalk.value_kernels import N_PARAMETERS
from gazelive.models.scenewalk.viewing import Viewing

PRIOR_SD = (2.0, 2.0, 1.0, 1.0, 1.5, 1.0, 2.0, 2.0)
"""Standard deviations of θ in a pooled fit: a factor of 7 for the rates, of 3 for the widths."""
VIEWER_SD = 0.3
"""Standard deviation of a viewer's θ around the pooled one."""
SCREENING_CELLS = 32
"""Rows or columns above which the cells of the first, coarse fits are made wider."""
RELATIVE_GAIN = 1e-6
"""A climb ends when a step gains less than this part of the log likelihood, some 0.01 a viewer."""
_DRAWN_SD = 0.7
_STARTS: tuple[dict[str, float], ...] = (
    {},
    {"attention_rate_hz": 150.0, "attention_sigma_deg": 10.0, "inhibition_rate_hz": 0.1},
    {"attention_sigma_deg": 0.7, "attention_exponent": 0.2, "uniform_share": 0.3},
    {"inhibition_sigma_deg": 12.0, "inhibition_exponent": 12.0, "inhibition_rate_hz": 0.1},
)


@dataclass(frozen=True, eq=False)
class Prior:
    """A Gaussian over θ."""

    mean: Floats = field(default_factory=lambda: to_coordinates(CENTRE))
    sd: Floats = field(default_factory=lambda: np.array(PRIOR_SD))

    def log_density(self, theta: Floats) -> tuple[float, Floats]:
        """Return ln of the density up to a constant, and its gradient."""
        z = (theta - self.mean) / self.sd
        return -0.5 * float(z @ z), -z / self.sd


@dataclass(frozen=True)
class Fit:
    """Result of a fit."""

    parameters: SceneWalkParameters
    log_likelihood: float
    """Natural-log likelihood of the viewings that were used."""
    n_viewings: int
    n_fixations: int
    """Number of fixations with a likelihood."""
    n_evaluations: int


def fit_pooled(
    viewings: Sequence[Viewing],
    *,
    prior: Prior | None = None,
    n_starts: int = 6,
    n_screening: int = 150,
    max_viewings: int = 600,
    n_threads: int = 1,
    seed: int = 0,
) -> Fit:
    """Fit one set of parameters to many viewings.

    Starts: `_STARTS`, then draws. `n_screening` viewings choose among them on cells that are as
    coarse as `SCREENING_CELLS` allows; of more than `max_viewings` a random part is used (600
    viewings of 25 fixations have 14,400, enough for eight parameters). What is drawn depends on
    `seed` alone, the result not on `n_threads`.
    """
    usable = _usable(viewings)
    prior = prior or Prior()
    rng = np.random.default_rng(seed)
    chosen = [usable[i] for i in sorted(rng.permutation(len(usable))[:max_viewings].tolist())]
    few = [chosen[i] for i in sorted(rng.permutation(len(chosen))[:n_screening].tolist())]
    coarse = [viewing.coarsened(_screening_factor(viewing)) for viewing in few]
    drawn = prior.mean + _DRAWN_SD * rng.normal(size=(n_starts, N_PARAMETERS))
    starts = [_start(changes) for changes in _STARTS][:n_starts]
    starts += list(drawn[len(starts) :])
    with _summed(n_threads) as log_likelihood:
        tries = [_climb(log_likelihood, coarse, start, prior, 60) for start in starts]
        best = min(tries, key=lambda result: float(result.fun))
        end = _climb(log_likelihood, chosen, best.x, prior, 100)
    n_evaluations = int(end.nfev) + sum(int(result.nfev) for result in tries)
    return _fit_of(end, chosen, prior, n_evaluations)


def fit_around(
    viewings: Sequence[Viewing],
    parameters: SceneWalkParameters,
    *,
    sd: npt.ArrayLike = VIEWER_SD,
    max_iterations: int = 30,
    n_threads: int = 1,
) -> Fit:
    """Fit one viewer: begin at the pooled parameters and stay within about `sd` of them in θ."""
    usable = _usable(viewings)
    theta = to_coordinates(parameters)
    width = np.broadcast_to(np.asarray(sd, np.float64), theta.shape)
    if not (width > 0).all():
        raise ModelError("a viewer's parameters need a spread above 0 around the pooled ones")
    prior = Prior(theta, width)
    with _summed(n_threads) as log_likelihood:
        end = _climb(log_likelihood, usable, theta, prior, max_iterations)
    return _fit_of(end, usable, prior, int(end.nfev))


class _SummedLikelihood:
    """Σ over viewings of ln p and of its gradient by θ, in the threads of `pool`."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def __call__(self, viewings: Sequence[Viewing], theta: Floats) -> tuple[float, Floats]:
        parameters = from_coordinates(theta)

        def score(viewing: Viewing) -> tuple[float, Floats]:
            return scanpath_score(parameters, viewing)

        scores = map(score, viewings) if self._pool is None else self._pool.map(score, viewings)
        total, gradient = 0.0, np.zeros(N_PARAMETERS)
        for value, by_parameter in scores:  # in the order of the viewings, whoever was first
            total += value
            gradient += by_parameter
        return total, gradient * slopes(parameters)


@contextmanager
def _summed(n_threads: int) -> Iterator[_SummedLikelihood]:
    if n_threads < 1:
        raise ModelError(f"a fit needs a thread at least, not {n_threads}")
    if n_threads == 1:
        yield _SummedLikelihood(None)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield _SummedLikelihood(pool)


def _climb(
    log_likelihood: _SummedLikelihood,
    viewings: Sequence[Viewing],
    start: Floats,
    prior: Prior,
    max_iterations: int,
) -> optimize.OptimizeResult:
    lowest, highest = to_coordinates(LOWEST), to_coordinates(HIGHEST)

    def loss(theta: Floats) -> tuple[float, Floats]:
        value, gradient = log_likelihood(viewings, theta)
        prior_value, prior_gradient = prior.log_density(theta)
        return -(value + prior_value), -(gradient + prior_gradient)

    return optimize.minimize(
        loss,
        np.clip(start, lowest, highest),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(lowest, highest, strict=True)),
        options={"maxiter": max_iterations, "ftol": RELATIVE_GAIN},
    )


def _fit_of(
    end: optimize.OptimizeResult, viewings: Sequence[Viewing], prior: Prior, n_evaluations: int
) -> Fit:
    theta = np.asarray(end.x, np.float64)
    return Fit(
        parameters=from_coordinates(theta),
        log_likelihood=-float(end.fun) - prior.log_density(theta)[0],
        n_viewings=len(viewings),
        n_fixations=sum(viewing.n_scored for viewing in viewings),
        n_evaluations=n_evaluations,
    )


def _usable(viewings: Sequence[Viewing]) -> list[Viewing]:
    usable = [viewing for viewing in viewings if viewing.n_scored]
    if not usable:
        raise ModelError("no viewing has two fixations: SceneWalk has nothing to fit")
    return usable


def _start(changes: dict[str, float]) -> Floats:
    values = dict(zip(CENTRE.__struct_fields__, CENTRE.to_array().tolist(), strict=True))
    return to_coordinates(SceneWalkParameters(**(values | changes)))


def _screening_factor(viewing: Viewing) -> int:
    """Return the largest power of two that leaves `SCREENING_CELLS` and divides the grid."""
    factor = 1
    while all(
        n % (2 * factor) == 0 and n // (2 * factor) >= SCREENING_CELLS for n in viewing.grid.shape
    ):
        factor *= 2
    return factor
