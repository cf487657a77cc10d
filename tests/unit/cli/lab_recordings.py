"""ASC files as a lab with messages of its own has them: `PIC 3` … `DONE`, all in one block."""

from __future__ import annotations

import re
from pathlib import Path

from gazelive.recordings.asc.writer import write_asc
from gazelive.recordings.open import read_recording

from ...support.people import small_corpus

N_TRIALS = 6
OWN_TRIALS = ("--trial-start", r"PIC (?P<name>\d+)", "--trial-stop", "DONE")
SCREEN = ("--screen", "1920x1080", "--size-mm", "535x301", "--distance-mm", "600")
_BLOCK_HEAD = re.compile(r"^(START|PRESCALER|VPRESCALER|PUPIL|EVENTS|SAMPLES)\s")


def lab_recording(path: Path, viewer: str, session: str) -> Path:
    """Write a recording of the small corpus to `path` in a lab's own words."""
    write_asc(read_recording(small_corpus() / f"{viewer}_s{session}"), path)
    lines = path.read_text(encoding="utf-8").splitlines()
    ends = [n for n, line in enumerate(lines) if line.startswith("END")]
    firsts: set[str] = set()
    kept = []
    for n, line in enumerate(lines):
        head = _BLOCK_HEAD.match(line)
        if (head and head[1] in firsts) or (line.startswith("END") and n != ends[-1]):
            continue
        firsts.update([head[1]] if head else [])
        if not re.search(r"!V|cross|image_o|RECCFG|ELCLCFG|GAZE_COORDS", line):
            kept.append(line.replace("TRIALID", "PIC").replace("TRIAL_RESULT 0", "DONE"))
    path.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return path


def lab_corpus(folder: Path, sessions: tuple[str, ...] = ("1",)) -> Path:
    """Write a corpus of two people in a lab's own words."""
    rows = ["recording,viewer,session"]
    for viewer in ("v001", "v002"):
        for session in sessions:
            path = lab_recording(folder / f"{viewer}_s{session}.asc", viewer, session)
            rows.append(f"{path.name},{viewer},{session}")
    (folder / "corpus.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def damage(path: Path) -> Path:
    """Make two lines of a recording unreadable, and return its path."""
    lines = path.read_text(encoding="utf-8").splitlines()
    samples = [n for n, line in enumerate(lines) if line[:1].isdigit()]
    for n in samples[50:52]:
        lines[n] = "torn"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
