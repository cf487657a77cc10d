"""Our ASC reader against MNE and pymovements, on mutants of an ASC file that they read.

A peer that reads a mutant without an error should find what we find: our samples are theirs, in
the same order, except for those on lines that we report as damaged, and so are events; we lack none
of their messages. Known differences: blanks in messages (compared as single ones), lines that go on
with a message (only its first line is compared), and what `unlike` lists.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.errors import RecordingError
from gazelive.gaze import EYE_FIELDS, Eyes
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.asc.writer import write_asc
from gazelive.recordings.recording import Recording

from ..unit.recordings.test_asc_peers import (
    make_recording,
    read_with_mne,
    read_with_pymovements,
)

KINDS = ("fixation", "saccade", "blink")
NUMBER = re.compile(r"\s*-?[0-9.]")
START = b"\nSTART\t1000000 "
Lines = list[str]
Change = Callable[[random.Random, Lines, int], None]
VALUES = ("   .", "0.0", "-12.5", "99999.9", "x", "", "1e3", "12", "7 8")


def _drop(_chance: random.Random, lines: Lines, at: int) -> None:
    del lines[at]


def _repeat(_chance: random.Random, lines: Lines, at: int) -> None:
    lines.insert(at, lines[at])


def _swap(_chance: random.Random, lines: Lines, at: int) -> None:
    lines[at - 1 : at + 1] = reversed(lines[at - 1 : at + 1])


def _change(chance: random.Random, lines: Lines, at: int) -> None:
    _on_a_word(chance, lines, at, lambda _word: [chance.choice(VALUES)])


def _change_digit(chance: random.Random, lines: Lines, at: int) -> None:
    places = [k for k, letter in enumerate(lines[at]) if letter.isdigit()]
    if places:
        k = chance.choice(places)
        lines[at] = lines[at][:k] + str(chance.randrange(10)) + lines[at][k + 1 :]


def _remove_word(chance: random.Random, lines: Lines, at: int) -> None:
    _on_a_word(chance, lines, at, lambda _word: [])


def _repeat_word(chance: random.Random, lines: Lines, at: int) -> None:
    _on_a_word(chance, lines, at, lambda word: [word, word])


def _other_blanks(chance: random.Random, lines: Lines, at: int) -> None:
    lines[at] = lines[at].replace("\t", chance.choice((" ", "  ", "\t\t", " \t")))


def _trailing_blank(chance: random.Random, lines: Lines, at: int) -> None:
    lines[at] += chance.choice((" ", "\t", "\r"))


def _cut(chance: random.Random, lines: Lines, at: int) -> None:
    lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]


def _on_a_word(
    chance: random.Random, lines: Lines, at: int, new: Callable[[str], Sequence[str]]
) -> None:
    words = lines[at].split("\t")
    k = chance.randrange(len(words))
    lines[at] = "\t".join([*words[:k], *new(words[k]), *words[k + 1 :]])


CHANGES: tuple[Change, ...] = (
    _drop,
    _repeat,
    _swap,
    _change,
    _change_digit,
    _remove_word,
    _repeat_word,
    _other_blanks,
    _trailing_blank,
    _cut,
)


def mutant(folder: Path, number: int) -> tuple[Path, str]:
    """Write mutant `number`; return its path and what was changed."""
    chance = random.Random(number)
    eyes: Eyes = chance.choice(("L", "R", "LR"))
    path = folder / "mutant.asc"
    write_asc(make_recording(eyes, 1000), path)
    lines = path.read_text(encoding="utf-8").splitlines()
    done = []
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.randrange(1, len(lines))
        if chance.random() < 0.5:  # most lines are samples
            at = chance.choice([k for k, line in enumerate(lines) if k and not line[:1].isdigit()])
        change = chance.choice(CHANGES)
        before = lines[at]
        change(chance, lines, at)
        done.append(f"{change.__name__} line {at + 1} {before!r}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, "; ".join(done)


@dataclass(frozen=True)
class Found:
    """What a reader found."""

    rows: list[bytes]
    """The numbers of each sample."""
    messages: Counter[str]
    events: Counter[str]
    """Number of events of each kind."""


def of_ours(recording: Recording, *, timed: bool) -> Found:
    """Return what we found; with `timed` rows begin with the time, and have no pupil."""
    rows = []
    for block in recording.blocks:
        fields = [f for eye in block.stream.eyes for f in EYE_FIELDS[eye][: 2 if timed else 3]]
        columns = [block.samples[field] for field in fields]
        if timed:
            columns.insert(0, block.samples["tracker_time_us"] / 1000)
        rows += rows_of(columns)
    texts = counted(message.text for message in recording.messages)
    return Found(rows, texts, Counter(event.kind for event in recording.tracker_events))


def of_mne(raw: Any) -> Found:
    """Return what MNE found."""
    texts = [str(text).removeprefix("BAD_") for text in raw.annotations.description]
    messages = (text for text in texts if text not in KINDS)
    rows = rows_of(list(raw.get_data()))
    return Found(rows, counted(messages), Counter(text for text in texts if text in KINDS))


def of_pymovements(gaze: Any) -> Found:
    """Return what pymovements found."""
    pixels = np.array(gaze.samples["pixel"].to_list(), np.float64).T
    names = [str(name).removesuffix("_eyelink") for name in gaze.events.frame["name"]]
    rows = rows_of([gaze.samples["time"].to_numpy(), *pixels])
    return Found(rows, counted(gaze.messages["content"]), Counter(names))


def rows_of(columns: Sequence[Any]) -> list[bytes]:
    """Return rows that can be compared: single precision, 0 for missing values."""
    table = np.stack([np.nan_to_num(np.asarray(column, np.float64)) for column in columns], axis=1)
    return [row.tobytes() for row in np.float32(table)]


def counted(texts: Iterable[str]) -> Counter[str]:
    """Return the messages, of each its first line with single blanks."""
    return Counter(" ".join(text.partition("\n")[0].split()) for text in texts)


def differences(
    ours: Found, theirs: Found, reported: Counter[str], known: frozenset[str]
) -> Iterator[str]:
    """Yield in what two readers differ, beyond the lines that we `reported`, counted by kinds."""
    rest = iter(theirs.rows)
    n_more = len(theirs.rows) - len(ours.rows)
    if "samples" not in known:
        if not all(row in rest for row in ours.rows):
            yield "they lack samples"
        elif n_more > reported["sample"]:
            yield f"we lack {n_more} samples"
    if more := theirs.messages - ours.messages:
        yield f"we lack messages: {sorted(more)}"
    for kind in KINDS if "events" not in known else ():
        n_more = theirs.events[kind] - ours.events[kind]
        if n_more > reported["event"] or (n_more < 0 and "events we have" not in known):
            yield f"{ours.events[kind]} and {theirs.events[kind]} events of kind {kind}"


def disagreements(path: Path) -> tuple[int, list[str]]:
    """Return how many peers read a file, and in what they differ from us without a reason."""
    try:
        recording = read_asc(path)
    except RecordingError:
        return 0, []
    reported = kinds_of_lines(path, recording)
    n_read, found = 0, []
    for peer, read in (("MNE", _with_mne), ("pymovements", _with_pymovements)):
        try:
            theirs = read(path)
        except Exception:  # whatever a peer raises: it does not read this mutant
            continue
        n_read += 1
        ours = of_ours(recording, timed=peer == "pymovements")
        known = unlike(peer, path)
        found += [f"{peer}: {text}" for text in differences(ours, theirs, reported, known)]
    return n_read, found


def unlike(peer: str, path: Path) -> frozenset[str]:
    """Return what a peer does not read as we do in a file, for a known reason."""
    text = path.read_bytes()
    found = set()
    if b"\nPRESCALER\t1\n" not in text:
        found.add("samples")  # we divide positions by it, as EyeLink's manual says; peers do not
    if peer == "MNE" and START not in text:
        found.add("events")  # it leaves out events before the time in START, which was changed
    if peer == "pymovements":
        found.add("events we have")  # it takes none with a missing number
        if b"\nSTART\t" not in text or b"\nSAMPLES\t" not in text:
            found.add("samples")  # it reads samples outside blocks, and needs the line SAMPLES
    return frozenset(found)


def kinds_of_lines(path: Path, recording: Recording) -> Counter[str]:
    """Return how many lines of each kind are reported as damaged.

    Peers take any line that begins with a number for a sample.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    reported = [lines[p.line - 1] for p in recording.problems if p.line is not None]
    return Counter("sample" if NUMBER.match(line) else "event" for line in reported)


def _with_mne(path: Path) -> Found:
    return of_mne(read_with_mne(path))


def _with_pymovements(path: Path) -> Found:
    return of_pymovements(read_with_pymovements(path))


def main(folder: Path, runs: int) -> int:
    """Compare `runs` mutants in all, going on where it stopped; return 1 if readers differ."""
    findings = folder / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    kept = folder / "counts.json"
    counts = json.loads(kept.read_bytes()) if kept.exists() else {"executions": 0, "comparisons": 0}
    with tempfile.TemporaryDirectory(prefix="gazelive-fuzz-") as scratch:
        found_before = [int(path.name) for path in findings.iterdir()]
        for number in (*found_before, *range(counts["executions"], runs)):
            path, changes = mutant(Path(scratch), number)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the peers' own
                n_read, found = disagreements(path)
            (findings / str(number)).unlink(missing_ok=True)
            if found:
                text = "\n".join([changes, *found])
                (findings / str(number)).write_text(text, encoding="utf-8")
            if number >= counts["executions"]:
                n_compared = counts["comparisons"] + n_read
                counts = {"executions": number + 1, "comparisons": n_compared}
                kept.write_text(json.dumps(counts))
    return int(any(findings.iterdir()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
