"""Run the cases, and read their effects into values that JSON can hold.

Everything becomes dicts, lists, numbers and text. Long texts and arrays become a digest: a SHA-256,
which holds on one machine, and sums of their numbers, which hold to a tolerance on any other.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from v0_1.cases import Case

HERE = Path(__file__).parent
IMAGES = HERE.parents[2] / "stimuli"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
N_IMAGES = 4
"""The images that `SIMULATE` shows: the first ones of the project."""
LONGEST_TEXT = 120
"""Texts of more lines are kept as a digest and their first lines."""
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w.])")
VERSION = re.compile(r"(gazelive) \d+\.\d+\.\d+[\w.+]*")


def machine() -> dict[str, str]:
    """Return what numbers may depend on, to the last bit."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    packages = ("numpy", "scipy", "scikit-learn", "numba", "llvmlite", "pyarrow", "pillow")
    return {
        "system": f"{platform.system()} {platform.machine()} {platform.libc_ver()[1]}",
        "cpu": binding.get_host_cpu_name(),
        "cpu_features": hashlib.sha256(features.encode()).hexdigest()[:16],
        "python": platform.python_version(),
    } | {name: version(name) for name in packages}


def prepare(work: Path, golden: Path) -> None:
    """Fill a working folder with the golden inputs and models."""
    with zipfile.ZipFile(golden / "inputs.zip") as archive:
        archive.extractall(work)
    shutil.copytree(golden / "models", work / "models", dirs_exist_ok=True)
    prepare_folders(work)


def prepare_folders(work: Path) -> None:
    """Add the images of the corpus, and the folders that commands write into."""
    for name in ("images", "again", "fresh", "replays", "models"):
        (work / name).mkdir(exist_ok=True)
    for path in sorted(IMAGES.glob("*.jpg"))[:N_IMAGES]:
        shutil.copy(path, work / "images")


def run(cases: list[Case], work: Path, results: Path) -> None:
    """Run the cases in one process of their own, with the gazelive that is imported here."""
    import gazelive

    plan = results.with_suffix(".json")
    plan.write_text(json.dumps([{"name": c.name, "argv": c.argv} for c in cases]), "utf-8")
    tree = str(Path(gazelive.__file__).parents[1])
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": tree, "COLUMNS": "300", "LINES": "50"}
    command = [sys.executable, str(HERE / "driver.py"), str(plan), str(results)]
    subprocess.run(command, cwd=work, env=environment, check=True)


def result_of(case: Case, work: Path, results: Path) -> dict[str, Any]:
    """Return the exit code, standard output and files of a case."""
    base = results / case.name
    value: dict[str, Any] = {"exit_code": int(base.with_suffix(".code").read_text())}
    if value["exit_code"] != 0:
        return value
    stdout = base.with_suffix(".out").read_text("utf-8")
    if case.stdout == "json":
        value["stdout"] = json.loads(stdout)
    elif case.stdout == "options":
        value["stdout"] = sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", stdout)))
    files = [path for name in case.files for path in files_in(work / name)]
    if files:
        value["files"] = {path.relative_to(work).as_posix(): read(path) for path in files}
    return value


def files_in(path: Path) -> list[Path]:
    return sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def read(path: Path) -> Any:
    """Return the content of a file."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        content, path = gzip.decompress(content), path.with_suffix("")
    return READERS.get(path.suffix, _read_text)(content)


def _read_text(content: bytes) -> Any:
    return text_of(content.decode("utf-8"))


def _read_parquet(content: bytes) -> Any:
    import pyarrow
    import pyarrow.parquet

    return pyarrow.parquet.read_table(pyarrow.BufferReader(content)).to_pydict()


def _read_journal(content: bytes) -> Any:
    return {"sha256": hashlib.sha256(content).hexdigest(), "n_bytes": len(content)}


def _read_page(content: bytes) -> Any:
    """Return the cells of a report's tables that are numbers."""
    cells = re.findall(r"<td[^>]*>(.*?)</td>", content.decode("utf-8"), re.DOTALL)
    return {"cells": [cell for cell in cells if re.fullmatch(r"[-−\d.]+\W*\w?", cell)]}


def text_of(text: str) -> Any:
    """Return the lines of a text, or a digest of many; line ends count."""
    text = VERSION.sub(r"\1 VERSION", text)
    lines = text.split("\n")
    if len(lines) <= LONGEST_TEXT:
        return lines
    numbers = np.array([float(number) for number in NUMBER.findall(text)])
    return {
        "n_lines": len(lines),
        "sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "first": lines[: LONGEST_TEXT // 2],
        "numbers": sums_of(numbers),
    }


def sums_of(numbers: np.ndarray) -> dict[str, Any]:
    """Return sums that tell apart other values, signs and orders; all parts are positive."""
    flat = np.asarray(numbers, float).ravel()
    finite = np.where(np.isfinite(flat), flat, 0.0)
    weights = 1 + np.modf(np.arange(len(flat)) * 0.6180339887498949)[0]
    return {
        "n": len(flat),
        "n_not_finite": int(len(flat) - np.isfinite(flat).sum()),
        "above_0": math.fsum(weights * np.maximum(finite, 0)),
        "below_0": math.fsum(weights * np.maximum(-finite, 0)),
    }


def read_model(content: bytes) -> dict[str, Any]:
    """Return a model's manifest, and a digest of each of its arrays.

    Written after the format's description, not with gazelive's reader: the format stays.
    """
    magic, rest = content.split(b"\n", 1)
    assert magic == b"gazelive model 1"
    assert hashlib.blake2b(content[:-32], digest_size=32).digest() == content[-32:]
    n_head = int.from_bytes(rest[:8], "little")
    head = json.loads(rest[8 : 8 + n_head])
    start = -(-(len(magic) + 1 + 8 + n_head) // 64) * 64
    arrays = {}
    for place in head["arrays"]:
        dtype = np.dtype(place["dtype"])
        n = int(np.prod(place["shape"], dtype=np.int64))
        array = np.frombuffer(content, dtype, n, start + place["offset"])
        arrays[place["name"]] = {
            "dtype": place["dtype"],
            "shape": place["shape"],
            "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
            "numbers": sums_of(array),
        }
    return {"manifest": head["manifest"], "arrays": arrays}


READERS: dict[str, Callable[[bytes], Any]] = {
    ".html": _read_page,
    ".journal": _read_journal,
    ".json": json.loads,
    ".jsonl": lambda content: [json.loads(line) for line in content.splitlines()],
    ".model": read_model,
    ".parquet": _read_parquet,
    ".toml": lambda content: tomllib.loads(content.decode("utf-8")),
}
"""Readers by suffix; other files are text."""
