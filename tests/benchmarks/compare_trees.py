"""Compare the speed of two checkouts on the hot paths: their own benchmarks, run in turns.

    python tests/benchmarks/compare_trees.py OLD NEW [--rounds N] [--only NAME,…] [--json OUT]

Each round runs the benchmarks of OLD and then of NEW, or the other way round, each in a process of
its own with that checkout on PYTHONPATH. Modules may have moved between the two: only the
`tests/benchmarks/bench_*.py` of a checkout know where they are, and only the keys of their JSON are
compared. A figure counts with its best round, so that other work on the machine matters less;
`spread` is the larger of the two checkouts' spreads between rounds (worst over best), to judge a
ratio by. Ratios are NEW over OLD, turned so that above 1 is always slower.

The first run in a new checkout compiles its kernels, so one round before the others does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Benchmark:
    """Short run of a checkout's benchmark, and its figures to compare."""

    options: tuple[str, ...]
    lower: str
    """Pattern of the keys of times."""
    higher: str = r"(?!)"
    """Pattern of the keys of speeds."""


BENCHMARKS = {
    "detection": Benchmark(("--seconds", "20"), r"ns_per_sample/(online|settled|engbert).*/cpu"),
    "identification": Benchmark(
        (), r"score of 26 saccades|(gazelive|fisher-markov-dynamics), (32|1000) viewers"
    ),
    "asc": Benchmark(("--megabytes", "4"), r"(?!)", r"readers/gazelive/mb_per_\w*s"),
    "engine": Benchmark(
        ("--seconds", "8", "--minutes", "2", "--hours", "0.05"),
        r"latency/\d/(\w+/p50_ms|cpu_fraction)",
        r"speed/.*",
    ),
    "scenewalk": Benchmark(("--repeats", "60"), r".*"),
    "simulation": Benchmark(("--images", "5"), r"(?!)", r"times_real_time/.*"),
}
DEFAULT = ("detection", "identification", "asc", "engine")

Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(DEFAULT), help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", type=Path, default=Path("bench-results/trees.json"))
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name in arguments.only.split(","):
        found = compare(name, (arguments.old.resolve(), arguments.new.resolve()), arguments.rounds)
        show(found)
        rows |= found
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"written to {arguments.json}")


def compare(name: str, trees: tuple[Path, Path], n_rounds: int) -> dict[str, dict[str, float]]:
    """Return a row for each figure that both checkouts have."""
    runs: tuple[list[Figures], list[Figures]] = ([], [])
    for round_ in range(-1, n_rounds):
        for which in (0, 1) if round_ % 2 else (1, 0):
            print(f"{name}, round {round_ + 1} of {n_rounds}: {trees[which]}", flush=True)
            figures = run(name, trees[which])
            if round_ >= 0:
                runs[which].append(figures)
    old, new = runs
    for key in sorted(old[0].keys() ^ new[0].keys()):
        print(f"only one checkout has {name}: {key}")
    return {
        f"{name}: {key}": row([r[key] for r in old], [r[key] for r in new], is_time(name, key))
        for key in old[0]
        if key in new[0]
    }


def row(old: list[float], new: list[float], lower_is_better: bool) -> dict[str, float]:
    best = min if lower_is_better else max
    a, b = best(old), best(new)
    spread = max(max(values) / min(values) for values in (old, new))
    return {"old": a, "new": b, "slower": b / a if lower_is_better else a / b, "spread": spread}


def is_time(name: str, key: str) -> bool:
    return re.fullmatch(BENCHMARKS[name].lower, key) is not None


def run(name: str, tree: Path) -> Figures:
    """Run a checkout's own benchmark once; return the figures that count."""
    benchmark = BENCHMARKS[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        script = tree / "tests" / "benchmarks" / f"bench_{name}.py"
        command = [sys.executable, str(script), *benchmark.options, "--json", str(out)]
        environment = os.environ | {"PYTHONPATH": str(tree)}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{script} failed:\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}")
        figures = dict(leaves(json.loads(out.read_text("utf-8"))))
    wanted = re.compile(f"{benchmark.lower}|{benchmark.higher}")
    return {key: value for key, value in figures.items() if wanted.fullmatch(key) and value > 0}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a JSON value with its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}/{key}" if path else key)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, f"{path}/{i}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def show(rows: dict[str, dict[str, float]]) -> None:
    width = max((len(name) for name in rows), default=0) + 2
    print(f"{'':{width}}{'old':>12}{'new':>12}{'slower':>9}{'spread':>9}")
    for name, figures in rows.items():
        print(
            f"{name:{width}}{figures['old']:12.4g}{figures['new']:12.4g}"
            f"{figures['slower']:9.2f}{figures['spread']:9.2f}"
        )


if __name__ == "__main__":
    main()
