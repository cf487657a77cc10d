"""`detect` on gaze with pursuit, a tracker flip, an overshoot and noise."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gazelive.cli.app import app

RATE_HZ = 500


def step(n: int, at_s: float, length_s: float, size_deg: float) -> np.ndarray:
    s = np.clip((np.arange(n) / RATE_HZ - at_s) / length_s, 0, 1)
    return size_deg * (10 * s**3 - 15 * s**4 + 6 * s**5)


def table(path: Path, noise_deg: float = 0.01) -> Path:
    """Write 8 s: saccades at 0.5 and 1.5 s, pursuit from 2.5 to 4 s, a flip at 5 s."""
    random = np.random.default_rng(4)
    n = 8 * RATE_HZ
    x, y = random.normal(0, noise_deg, (2, n))
    x += step(n, 0.5, 0.04, 6) + step(n, 1.5, 0.036, -4)
    x += 7 * np.clip(np.arange(n) / RATE_HZ - 2.5, 0, 1.5)
    x += step(n, 5.0, 0.01, 9) + step(n, 5.05, 0.01, -9)
    x += step(n, 6.5, 0.04, 8) + step(n, 6.538, 0.016, -3)
    rows = zip(np.arange(n) * 1000 / RATE_HZ, x.round(5), y.round(5), strict=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("t_ms", "x_deg", "y_deg"))
        writer.writerows(rows)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(*arguments: object) -> str:
    """Run a command; return what it said beside its output."""
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stderr


def test_kinds_are_columns_of_the_tables(tmp_path):
    saccades, fixations = tmp_path / "saccades.csv", tmp_path / "fixations.csv"
    said = run("detect", table(tmp_path / "gaze.csv"), "-o", saccades, "--fixations", fixations)
    assert "2 artefacts and 1 pursuit" in said
    rows = rows_of(saccades)
    assert [row["kind"] for row in rows] == ["saccade"] * 2 + ["tracker_jump"] * 2 + ["saccade"]
    assert [float(row["onset_ms"]) for row in rows] == sorted(float(r["onset_ms"]) for r in rows)
    assert rows[2]["mean_velocity_deg_s"] == "", "artefacts have no features"
    assert float(rows[-1]["overshoot_deg"]) == pytest.approx(2.9, abs=0.2)
    pursuit = [row for row in rows_of(fixations) if row["kind"] == "pursuit"]
    assert len(pursuit) == 1
    assert float(pursuit[0]["drift_speed_deg_s"]) == pytest.approx(7, abs=0.5)


def test_overshoots_can_be_kept(tmp_path):
    gaze = table(tmp_path / "gaze.csv", noise_deg=0.002)
    counts = []
    for options in ((), ("--keep-overshoots",)):
        run("detect", gaze, "-q", "-o", tmp_path / "out.csv", *options)
        counts.append(sum(row["kind"] == "saccade" for row in rows_of(tmp_path / "out.csv")))
    assert counts[1] == counts[0] + 1


@pytest.mark.parametrize(("noise_deg", "warns"), [(0.01, False), (0.3, True)])
def test_noise_is_reported_with_its_figure(tmp_path, noise_deg, warns):
    said = run("detect", table(tmp_path / "gaze.csv", noise_deg), "-o", tmp_path / "out.csv")
    assert ("are likely missed" in said) is warns
    assert ("--preset noisy" in said) is warns
