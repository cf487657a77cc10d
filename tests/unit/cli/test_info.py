"""`gazelive info` as a user runs it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.recordings.corpus import CorpusEntry, write_corpus_csv

Run = Callable[..., Any]

TABLE = """t_ms,x_px,y_px,trial,image,mood
1000,1,2,a,beach.jpg,x
1002,,,a,beach.jpg,x
1004,5,6,b,lake.jpg,x
1006,7,8,,,x
"""
SIDECAR = """{"px_per_deg": [30.5, 31.0], "screen_px": [800, 600], "viewer": "anna",
"messages": [[999, "!CAL VALIDATION HV9 R RIGHT GOOD ERROR 0.25 avg. 0.50 max  OFFSET 0.2 deg."],
             [1003.5, "hello"]]}"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "gaze.csv"
    path.write_text(TABLE)
    (tmp_path / "gaze.csv.meta.json").write_text(SIDECAR)
    return path


def test_json_has_every_key(gazelive: Run, table: Path) -> None:
    exit_code, out, err = gazelive("info", table, "--json")
    assert exit_code == 0
    assert err == ""
    assert json.loads(out) == {
        "format": "table",
        "blocks": [
            {
                "eyes": "R",
                "sampling_rate_hz": 500.0,
                "n_samples": 4,
                "start_ms": 1000,
                "end_ms": 1006,
            }
        ],
        "n_samples": 4,
        "n_messages": 2,
        "events": {"saccades": 0, "fixations": 0, "blinks": 0},
        "trials": 2,
        "missing_fraction": 0.25,
        "missing_fraction_of": {"R": 0.25},
        "duration_s": 0.008,
        "screen_px": [800, 600],
        "px_per_deg": [30.5, 31.0],
        "calibration": [
            {
                "time_ms": 999,
                "kind": "validation",
                "eye": "R",
                "model": "HV9",
                "result": "GOOD",
                "mean_error_deg": 0.25,
                "max_error_deg": 0.5,
            }
        ],
        "problems": [{"line": None, "text": "columns ignored: mood"}],
    }


def test_half_milliseconds_are_kept(gazelive: Run, tmp_path: Path) -> None:
    path = tmp_path / "fast.csv"
    path.write_text("t_ms,x_px,y_px\n0.5,1,1\n1,1,1\n1.5,1,1\n")
    (block,) = json.loads(gazelive("info", path, "--json")[1])["blocks"]
    assert (block["start_ms"], block["end_ms"], block["sampling_rate_hz"]) == (0.5, 1.5, 2000)


def test_the_summary_is_readable_text(gazelive: Run, table: Path) -> None:
    exit_code, out, err = gazelive("info", table)
    assert exit_code == 0
    assert err == ""
    assert "\x1b" not in out
    for words in (
        "gaze.csv  sample table",
        "right    500 Hz",
        "30.5 × 31.0",
        "viewer          anna",
        "4 in 0.0 s, 25.0% without gaze",
        "2, 2 with image onset, 2 images",
        "800 × 600 px",
        "right HV9 validation GOOD, mean error 0.25°, largest 0.50°",
        "1 problem\n  columns ignored: mood",
        f"gazelive detect {table}",
    ):
        assert words in out


def test_a_fixation_table(gazelive: Run, tmp_path: Path) -> None:
    path = tmp_path / "fixations.csv"
    path.write_text(
        "viewer,image,fixation,x_px,y_px,duration_ms\na,i.jpg,0,1,2,200\nb,i.jpg,0,1,2,200\n"
    )
    facts = json.loads(gazelive("info", path, "--json")[1])
    assert (facts["format"], facts["n_fixations"]) == ("fixation table", 2)
    assert facts["viewers"] == ["a", "b"]
    exit_code, out, _ = gazelive("info", path)
    assert exit_code == 0
    assert "2 (a, b)" in out


def test_a_corpus(gazelive: Run, table: Path) -> None:
    write_corpus_csv([CorpusEntry(table, "anna", "1")], table.parent)
    facts = json.loads(gazelive("info", table.parent, "--json")[1])
    assert (facts["format"], facts["n_recordings"], facts["viewers"]) == ("corpus", 1, ["anna"])
    exit_code, out, _ = gazelive("info", table.parent)
    assert exit_code == 0
    assert f"gazelive info {table}" in out


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("missing.asc", None, "no such file or folder"),
        ("missing", None, "no such file or folder"),
        ("empty.asc", b"", "empty"),
        ("garbage.asc", b"\x00\xff\x13" * 5000, "not an ASC file"),
        ("garbage.edf", b"\x00\xff\x13" * 5000, "not an EyeLink EDF file"),
        ("garbage.csv", b"\x00\xff\x13" * 5000, "not UTF-8"),
        ("garbage.csv.gz", gzip.compress(TABLE.encode(), mtime=0)[:40], "not a table"),
        ("garbage.parquet", b"PAR1" + bytes(100), "damaged"),
        ("picture.png", b"\x89PNG\r\n\x1a\n", "unknown file format"),
        ("other.csv", b"a,b\n1,2\n", "a sample table needs t_ms"),
    ],
)
def test_bad_input_is_one_sentence(
    gazelive: Run, tmp_path: Path, name: str, content: bytes | None, says: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    exit_code, out, err = gazelive("info", path)
    assert exit_code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert str(path) in err
    assert says in err


def test_a_folder_of_something_else_is_one_sentence(gazelive: Run, tmp_path: Path) -> None:
    exit_code, out, err = gazelive("info", tmp_path)
    assert (exit_code, out) == (2, "")
    assert "neither a session" in err


def test_the_real_command(table: Path) -> None:
    command = [sys.executable, "-m", "gazelive", "info", str(table), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["n_samples"] == 4
    ended = subprocess.run([*command[:-2], "none.asc"], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "error: none.asc: no such file or folder\n"


def counts_of_lines(path: Path) -> dict[str, Any]:
    """Count in an ASC file what `info` counts, in the plainest way."""
    with gzip.open(path, "rt", encoding="latin-1") as file:
        lines = file.read().splitlines()
    words = [line.split() for line in lines if line]

    def starting(word: str) -> int:
        return sum(line.startswith(word) for line in lines)

    recording = False
    n_samples = []
    n_missing = 0
    for line in lines:
        if line.startswith("START"):
            recording = True
            n_samples.append(0)
        elif line.startswith("END"):
            recording = False
        elif recording and line[:1].isdigit():
            n_samples[-1] += 1
            cells = line.split("\t")[1:]
            is_gaze = [cell.strip() != "." for cell in cells]
            n_eyes = 2 if "BINO" in path.name.upper() else 1
            n_missing += not any(is_gaze[3 * eye] for eye in range(n_eyes))
    rates = [
        float(row[row.index("RATE") + 1]) for row in words if row[0] == "SAMPLES" and "RATE" in row
    ]
    resolutions = [row[row.index("RES") + 1 :] for row in words if row[0] == "END" and "RES" in row]
    return {
        "events": {
            "saccades": starting("ESACC"),
            "fixations": starting("EFIX"),
            "blinks": starting("EBLINK"),
        },
        "n_messages": starting("MSG"),
        "n_samples": n_samples,
        "n_missing": n_missing,
        "starts": [int(row[1]) for row in words if row[0] == "START"],
        "rates": rates,
        "px_per_deg": [[float(value) for value in pair] for pair in resolutions],
    }


ASC_FILES = [
    "asc/bino1000",
    "asc/bino250",
    "asc/bino500",
    "asc/bino500_unclosed",
    "asc/binoRemote250",
    "asc/binoRemote500",
    "asc/mono1000",
    "asc/mono1000_trials",
    "asc/mono2000",
    "asc/mono250",
    "asc/mono500",
    "asc/monoRemote250",
    "asc/monoRemote500",
    "edf/pair_left500",
]


@pytest.mark.parametrize("name", ASC_FILES)
def test_counts_are_those_of_the_lines(gazelive: Run, shared_data: Path, name: str) -> None:
    path = shared_data / f"{name}.asc.gz"
    exit_code, out, _ = gazelive("info", path, "--json")
    assert exit_code == 0
    facts, expected = json.loads(out), counts_of_lines(path)
    assert facts["format"] == "asc"
    assert facts["events"] == expected["events"]
    assert facts["n_messages"] == expected["n_messages"]
    assert [block["n_samples"] for block in facts["blocks"]] == expected["n_samples"]
    assert facts["n_samples"] == sum(expected["n_samples"])
    assert [block["start_ms"] for block in facts["blocks"]] == expected["starts"]
    assert [block["sampling_rate_hz"] for block in facts["blocks"]] == expected["rates"]
    assert facts["missing_fraction"] == pytest.approx(expected["n_missing"] / facts["n_samples"])
    if len(expected["px_per_deg"]) == len(expected["n_samples"]):
        of_samples = np.repeat(expected["px_per_deg"], expected["n_samples"], axis=0)
        median = np.sort(of_samples, axis=0)[(len(of_samples) - 1) // 2]
        assert facts["px_per_deg"] == median.tolist()
    n_expected_trials = {"asc/mono1000_trials": 20, "edf/pair_left500": 4}
    assert facts["trials"] == n_expected_trials.get(name, facts["trials"])


def test_edf_and_asc_agree(gazelive: Run, shared_data: Path) -> None:
    asc, edf = (
        json.loads(gazelive("info", shared_data / "edf" / f"pair_left500{suffix}", "--json")[1])
        for suffix in (".asc.gz", ".edf")
    )
    assert (asc.pop("format"), edf.pop("format")) == ("asc", "edf")
    assert edf.pop("px_per_deg") == pytest.approx(asc.pop("px_per_deg"), abs=0.005)
    assert edf == asc


def test_loss_of_each_eye(gazelive: Run, tmp_path: Path) -> None:
    path = tmp_path / "eyes.csv"
    path.write_text(
        "t_ms,left_x_px,left_y_px,right_x_px,right_y_px\n"
        "1000,1,2,3,4\n1002,,,3,4\n1004,,,3,4\n1006,,,,\n"
    )
    facts = json.loads(gazelive("info", path, "--json").out)
    assert facts["missing_fraction"] == 0.25
    assert facts["missing_fraction_of"] == {"L": 0.75, "R": 0.25}
    assert "25.0% (left 75.0%, right 25.0%) without gaze" in gazelive("info", path).out


class TestMessages:
    @pytest.fixture
    def lab(self, tmp_path: Path) -> Path:
        """Five trials of a lab with messages of its own."""
        lines = []
        for k in range(5):
            t = 1000 + 2000 * k
            lines += [f"MSG\t{t} BEGIN {k + 1}\n", f"MSG\t{t + 308} 8 SHOW a_{k + 1}.jpg\n"]
            lines += [f"{t + i}\t  500.0\t  400.0\t 1000.0\t...\n" for i in range(0, 1800, 100)]
            lines.append(f"MSG\t{t + 1800} FINISH\n")
        path = tmp_path / "lab.asc"
        path.write_text(
            "MSG\t999 RECCFG CR 1000 2 1 L\nSTART\t1000 \tLEFT\tSAMPLES\tEVENTS\n"
            "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
            + "".join(lines)
            + "END\t11000 \tSAMPLES\tEVENTS\tRES\t  35.19\t  35.15\n"
        )
        return path

    def test_patterns_and_proposal(self, gazelive: Run, lab: Path) -> None:
        out = gazelive("info", lab, "--messages").out
        assert "BEGIN <n>" in out
        assert "SHOW <file>" in out
        assert "the tracker's own, not listed" in out
        assert "Proposal: 5 trials of 1.8 s (1.8 to 1.8 s), all with an image onset" in out
        assert "--trial-start 'BEGIN (?P<name>\\d+)' --trial-stop FINISH" in out
        assert r"image_onset = 'SHOW \S+'" in out

    def test_json(self, gazelive: Run, lab: Path) -> None:
        facts = json.loads(gazelive("info", lab, "--messages", "--json").out)
        assert facts["patterns"][0] == {
            "pattern": "BEGIN <n>",
            "n": 5,
            "role": "experiment",
            "example": "BEGIN 1",
        }
        assert facts["proposal"]["options"] == {
            "--trial-start": r"BEGIN (?P<name>\d+)",
            "--trial-stop": "FINISH",
            "--image-onset": r"SHOW \S+",
        }
        assert facts["proposal"]["n_image_onsets"] == 5

    def test_the_proposed_options_and_file_find_the_trials(self, gazelive: Run, lab: Path) -> None:
        proposal = json.loads(gazelive("info", lab, "--messages", "--json").out)["proposal"]
        options = [word for option in proposal["options"].items() for word in option]
        assert json.loads(gazelive("info", lab, "--json", *options).out)["trials"] == 5
        assert json.loads(gazelive("info", lab, "--json").out)["trials"] == 0
        (lab.parent / "gazelive-trials.toml").write_text(proposal["toml"])
        assert json.loads(gazelive("info", lab, "--json").out)["trials"] == 5

    def test_nothing_regular(self, gazelive: Run, table: Path) -> None:
        out = gazelive("info", table, "--messages").out
        assert "No messages make regular intervals" in out

    def test_a_recording_is_needed(self, gazelive: Run, tmp_path: Path) -> None:
        (tmp_path / "f.csv").write_text(
            "viewer,image,fixation,x_deg,y_deg,duration_ms\nv,i,0,1,1,9\n"
        )
        ended = gazelive("info", tmp_path / "f.csv", "--messages")
        assert ended.exit_code == 2
        assert "--messages: needs a recording" in ended.err

    def test_info_says_where_trials_and_onsets_are_missing(self, gazelive: Run, lab: Path) -> None:
        hint = f"gazelive info {lab} --messages"
        ended = gazelive("info", lab)
        assert "none marked" in ended.out
        assert hint in ended.out
        ended = gazelive("info", lab, "--trial-start", "BEGIN")
        assert "5, 0 with image onset" in ended.out
        assert hint in ended.out
        ended = gazelive("info", lab, "--trial-start", "BEGIN", "--image-onset", "SHOW")
        assert "5, 5 with image onset" in ended.out
        assert hint not in ended.out
