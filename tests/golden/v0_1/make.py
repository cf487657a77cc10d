"""Make the goldens again. Run this with the code of 0.1 only, else they hold nothing.

    PYTHONPATH=CHECKOUT_OF_0.1 python tests/golden/v0_1/make.py [--out FOLDER]

Writes inputs.zip (simulated recordings and a fixation table), models/ (one small model of every
method), outputs.zip (one JSON for each case of cases.py) and machine.json (where it was done).

Goldens made on another machine hold to a tolerance only. To compare two checkouts bit for bit on
this one, make them from the old checkout into a folder and point the test at it:

    GAZELIVE_GOLDEN=FOLDER python -m pytest tests/golden/test_v0_1.py
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from v0_1 import outputs
from v0_1.cases import SIMULATE, Case, all_cases, enrolled_cases, simulate_cases, train_cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=outputs.HERE)
    golden = parser.parse_args().out
    golden.mkdir(parents=True, exist_ok=True)
    import gazelive

    if gazelive.__version__ != "0.1.0":
        sys.exit(f"this is gazelive {gazelive.__version__} ({gazelive.__file__}), not 0.1.0")
    shutil.rmtree(golden / "models", ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        _make_inputs(Path(folder), golden)
    with tempfile.TemporaryDirectory() as folder:
        _make_outputs(Path(folder), golden)
    machine = json.dumps(outputs.machine(), indent=1) + "\n"
    for name in ("machine.json", "renewed_machine.json"):
        (golden / name).write_text(machine, "utf-8")


def _make_inputs(folder: Path, golden: Path) -> None:
    work = folder / "work"
    work.mkdir()
    outputs.prepare_folders(work)
    _run_all([*simulate_cases("")], work, folder / "simulated")
    _write_fixations(work)
    _run_all([*train_cases("models")], work, folder / "trained")
    for n, case in enumerate(enrolled_cases()):
        _run_all([case], work, folder / f"enrolled{n}")
    shutil.copytree(work / "models", golden / "models")
    names = (*SIMULATE, "fixations.csv")
    files = [path for name in names for path in outputs.files_in(work / name)]
    content = {path.relative_to(work).as_posix(): _undated(path) for path in files}
    write_zip(golden / "inputs.zip", content)


def _make_outputs(folder: Path, golden: Path) -> None:
    work, results = folder / "work", folder / "results"
    work.mkdir()
    outputs.prepare(work, golden)
    cases = all_cases()
    outputs.run(cases, work, results)
    content = {}
    for case in cases:
        value = outputs.result_of(case, work, results)
        expected = case.name.startswith(("mistake-", "enrol-", "merge-", "compare-other"))
        if value["exit_code"] and not expected:
            sys.exit(
                f"{case.name} failed:\n{(results / case.name).with_suffix('.err').read_text()}"
            )
        if not case.like:
            content[f"{case.name}.json"] = json.dumps(value, sort_keys=True).encode("utf-8")
    write_zip(golden / "outputs.zip", content)


def _undated(path: Path) -> bytes:
    """Return the content of a file, without the time at which it was made."""
    content = path.read_bytes()
    return re.sub(rb'("finished_at": )"[^"]*"', rb'\1"2020-01-01T10:00:00+00:00"', content)


def write_zip(path: Path, content: dict[str, bytes]) -> None:
    """Write the same bytes for the same content: the files have no date."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=zipfile.ZIP_LZMA)


def _run_all(cases: list[Case], work: Path, results: Path) -> None:
    outputs.run(cases, work, results)
    for case in cases:
        if (results / case.name).with_suffix(".code").read_text() != "0":
            sys.exit(
                f"{case.name} failed:\n{(results / case.name).with_suffix('.err').read_text()}"
            )


def _write_fixations(work: Path) -> None:
    """Write the fixation table of the corpus, from the fixations that `detect` finds."""
    import gazelive

    screen = gazelive.ScreenGeometry(
        width_px=1920, height_px=1080, width_mm=535, height_mm=301, eye_distance_mm=600
    )
    with (work / "fixations.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["viewer", "session", "image", "fixation", "x_deg", "y_deg", "duration_ms"])
        for path in sorted((work / "corpus").glob("*.asc")):
            viewer, session = path.stem.split("_s")
            numbers: Counter[str] = Counter()
            for row in gazelive.detect(path, screen=screen).fixations.to_pylist():
                image = row["image"]
                place = [f"{row['x_deg']:.4f}", f"{row['y_deg']:.4f}", f"{row['duration_ms']:g}"]
                writer.writerow([viewer, session, image, numbers[image], *place])
                numbers[image] += 1


if __name__ == "__main__":
    main()
