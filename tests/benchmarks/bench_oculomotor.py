"""Speed of the simulated eye relative to real time, and its compile time.

    python tests/benchmarks/bench_oculomotor.py [--seconds N] [--json OUT]

Times are of the processor, so that what else the machine does matters less.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gazelive.gaze.samples import Eyes
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorTraits

CASES: tuple[tuple[float, Eyes], ...] = (
    (250.0, "L"),
    (500.0, "L"),
    (1000.0, "L"),
    (1000.0, "LR"),
    (2000.0, "LR"),
)
TARGET_TIMES_REAL = 100.0
COMPILE = """
import time, numpy as np
from gazelive.simulation.eye.eye import Oculomotor, OculomotorTraits
eye = Oculomotor(OculomotorTraits(), sampling_rate_hz=1000.0, eyes="LR",
                 rng=np.random.default_rng(0), x_deg=0.0, y_deg=0.0)
start = time.process_time()
eye.fixate(20_000); eye.saccade_to(5.0, 1.0); eye.fixate(100); eye.take()
print(time.process_time() - start)
"""


def times_real(rate_hz: float, eyes: Eyes, seconds: float) -> float:
    """Return simulated seconds per second of the processor: scene viewing, taken once a second."""
    rng = np.random.default_rng(1)
    eye = Oculomotor(
        OculomotorTraits(),
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        rng=np.random.default_rng(2),
        x_deg=0.0,
        y_deg=0.0,
    )
    start = time.process_time()
    while eye.now_us < seconds * 1e6:
        eye.fixate(round(rng.gamma(5.0, 0.05) * rate_hz))
        eye.saccade_to(*rng.normal(0.0, 6.0, 2).tolist())
        if eye.n_pending > rate_hz:
            eye.take()
    return eye.now_us / 1e6 / (time.process_time() - start)


def compile_seconds() -> float:
    """Return what a machine without compiled kernels spends on the first samples."""
    with tempfile.TemporaryDirectory() as cache:
        result = subprocess.run(
            [sys.executable, "-c", COMPILE],
            env={"XDG_CACHE_HOME": cache, "LOCALAPPDATA": cache, "HOME": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(result.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--json", type=Path, default=Path("bench-results/oculomotor.json"))
    arguments = parser.parse_args()
    times_real(1000.0, "LR", 20.0)  # compile
    results: dict[str, float] = {}
    print(f"{'rate and eyes':>16s} {'× real time':>12s}")
    for rate_hz, eyes in CASES:
        ratio = max(times_real(rate_hz, eyes, arguments.seconds) for _ in range(3))
        results[f"{rate_hz:.0f} Hz {eyes}"] = ratio
        verdict = "" if ratio >= TARGET_TIMES_REAL else "  below the target"
        print(f"{rate_hz:9.0f} Hz {eyes:>3s} {ratio:12.0f}{verdict}")
    results["compile_s"] = compile_seconds()
    print(f"compiling the kernels: {results['compile_s']:.1f} s, once per machine")
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
