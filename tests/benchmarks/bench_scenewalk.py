"""Time of SceneWalk's likelihood and gradient on one thread.

    python tests/benchmarks/bench_scenewalk.py [--repeats N] [--fit] [--json OUT]

A scanpath of 25 fixations on 128 × 128 cells, exponents that are not 1. Times are of the
processor, so that what else the machine does matters less (it still shares caches and, on virtual
machines, cores: the best tenth is printed beside the median). Peer: the same equations in numpy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from gazelive.models.scenewalk.box import from_coordinates
from gazelive.models.scenewalk.equations import ImageGrid, SceneWalkParameters
from gazelive.models.scenewalk.model import SceneWalkModel
from gazelive.models.scenewalk.score import SceneWalkState
from gazelive.models.scenewalk.viewing import Viewing
from gazelive.stimuli.saliency import generated_saliency

TARGETS_MS = {
    "value, 25 fixations, 128 × 128": 1.0,
    "value + 8 gradients, 25 fixations, 128 × 128": 5.0,
    "live: advance + score, 128 × 128": 0.5,
}
N_FIXATIONS = 25
MODEL = SceneWalkModel(
    SceneWalkParameters(
        attention_rate_hz=9.0,
        inhibition_rate_hz=0.8,
        attention_sigma_deg=5.0,
        inhibition_sigma_deg=4.0,
        inhibition_exponent=1.3,
        attention_exponent=0.73,
        inhibition_strength=0.3,
        uniform_share=0.02,
    )
)


def a_viewing(cells: int) -> Viewing:
    """Return fixations all over the paper's image of 38.4° × 26.2°."""
    rng = np.random.default_rng(0)
    grid = ImageGrid(np.linspace(-19.2, 19.2, cells + 1), np.linspace(-13.1, 13.1, cells + 1))
    saliency = generated_saliency("bench", 0, grid.shape).density
    durations_s = rng.gamma(4, 0.06, N_FIXATIONS)
    return MODEL.sample(saliency, grid, durations_s, rng)


def with_numpy(viewing: Viewing) -> float:
    """Return the log likelihood as one would write it down."""
    p, grid = MODEL.natural, viewing.grid
    a = f = np.full(grid.shape, np.finfo(float).eps)
    rows, columns = viewing.cells
    total = 0.0
    for t in range(viewing.n_scored):
        r2 = (grid.x_deg - viewing.x_deg[t]) ** 2 + (grid.y_deg[:, None] - viewing.y_deg[t]) ** 2
        g_a = np.exp(-r2 / (2 * p.attention_sigma_deg**2)) * viewing.saliency
        g_f = np.exp(-r2 / (2 * p.inhibition_sigma_deg**2))
        g_a, g_f = g_a / g_a.sum(), g_f / g_f.sum()
        a = g_a + np.exp(-p.attention_rate_hz * viewing.duration_s[t]) * (a - g_a)
        f = g_f + np.exp(-p.inhibition_rate_hz * viewing.duration_s[t]) * (f - g_f)
        a_power, f_power = a**p.attention_exponent, f**p.inhibition_exponent
        u = a_power / a_power.sum() - p.inhibition_strength * f_power / f_power.sum()
        u = np.maximum(u, 0)
        cell = u[rows[t + 1], columns[t + 1]] / u.sum()
        total += np.log((1 - p.uniform_share) * cell + p.uniform_share / u.size)
    return float(total)


def live_steps(viewing: Viewing) -> Callable[[], None]:
    """Return what takes one fixation of the viewing after another, again and again."""
    state = SceneWalkState(MODEL.natural, viewing.saliency, viewing.grid)
    fixations = list(
        zip(
            viewing.x_deg.tolist(),
            viewing.y_deg.tolist(),
            viewing.duration_s.tolist(),
            strict=True,
        )
    )
    at = 0

    def take_one() -> None:
        nonlocal at
        state.advance(*fixations[at])
        at = (at + 1) % len(fixations)
        state.score_next(*fixations[at][:2])

    return take_one


def milliseconds(call: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the median and the best tenth of the time that a call takes."""
    call()
    times = []
    for _ in range(repeats):
        begun = time.thread_time()
        call()
        times.append(time.thread_time() - begun)
    return float(np.median(times)) * 1e3, float(np.quantile(times, 0.1)) * 1e3


def fit_seconds(cells: int, n_threads: int) -> dict[str, float]:
    """Return what it takes to fit 32 simulated viewers of 53 images and 25 fixations each."""
    rng = np.random.default_rng(1)
    grid = a_viewing(cells).grid
    maps = [generated_saliency(f"{k}", 0, grid.shape).density for k in range(100)]
    by_viewer = []
    for _ in range(32):
        viewer = SceneWalkModel(from_coordinates(MODEL.parameters() + rng.normal(0, 0.2, 8)))
        chosen = rng.choice(len(maps), 53, replace=False)
        durations_s = rng.gamma(4, 0.06, (53, N_FIXATIONS))
        by_viewer.append(
            [
                viewer.sample(maps[k], grid, duration_s, rng)
                for k, duration_s in zip(chosen, durations_s, strict=True)
            ]
        )
    everything = [viewing for own in by_viewer for viewing in own]
    wall, processor = time.perf_counter(), time.process_time()
    pooled = SceneWalkModel.fit(everything, n_threads=n_threads)
    pooled_s, pooled_cpu_s = time.perf_counter() - wall, time.process_time() - processor
    wall, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(pooled.fit_viewer, by_viewer))
    return {
        "pooled_s": pooled_s,
        "pooled_processor_s": pooled_cpu_s,
        "viewers_s": time.perf_counter() - wall,
        "viewers_processor_s": time.process_time() - processor,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--fit", action="store_true", help="fit 32 viewers on 64 × 64 cells too")
    parser.add_argument("--json", type=Path, default=Path("bench-results/scenewalk.json"))
    arguments = parser.parse_args()
    results: dict[str, dict[str, float]] = {}
    print(f"{'':>46s} {'median':>8s} {'best 10 %':>10s} {'target':>7s}  ms")
    for cells in (128, 64):
        viewing = a_viewing(cells)
        size = f"{N_FIXATIONS} fixations, {cells} × {cells}"
        cases: dict[str, Callable[[], object]] = {
            f"value, {size}": lambda v=viewing: MODEL.log_likelihood(v),
            f"value + 8 gradients, {size}": lambda v=viewing: MODEL.fisher_score(v),
            f"live: advance + score, {cells} × {cells}": live_steps(viewing),
            f"numpy value, {size}": lambda v=viewing: with_numpy(v),
        }
        for name, call in cases.items():
            repeats = arguments.repeats // 10 if name.startswith("numpy") else arguments.repeats
            median, best = milliseconds(call, repeats)
            target = TARGETS_MS.get(name)
            results[name] = {"median_ms": median, "best_ms": best}
            shown = "" if target is None else f"{target:7.1f}"
            verdict = "  above the target" if target is not None and median > target else ""
            print(f"{name:>46s} {median:8.3f} {best:10.3f} {shown}{verdict}")
        peer = results[f"numpy value, {size}"]["median_ms"]
        print(f"{'numpy / value':>46s} {peer / results[f'value, {size}']['median_ms']:8.1f}")
    if arguments.fit:
        results["fit, 64 × 64, 2 threads"] = fit_seconds(64, 2)
        for name, seconds in results["fit, 64 × 64, 2 threads"].items():
            print(f"{name:>46s} {seconds:8.1f} s")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
