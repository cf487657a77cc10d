"""TOML: an experiment's configuration, and a lab's patterns of trial messages.

The first byte of an input chooses which.
"""

from __future__ import annotations

import warnings
from pathlib import Path

from gazelive.experiment.config.reading import examine_config
from gazelive.experiment.config.schema import tables
from gazelive.experiment.config.template import effective, key_names, template
from gazelive.recordings import CONVENTIONS, PATTERNS_NAME
from gazelive.recordings.conventions import FIELD_OF_KEY, patterns_text, read_patterns

from .target import Target

CONFIGURATION, PATTERNS = 0, 1
WRONG = ("-1", "0", "'x'", "true", "[1, 2]", "{a = 1}", "1979-05-27", "1e9")
DEPTH = 700
DEEP = "[" * DEPTH


def seeds(_folder: Path) -> list[bytes]:
    """Return the template, in parts too, and the patterns of all conventions."""
    whole = template()
    parts = [f"[{part}" for part in whole.split("\n[")[1:]]
    patterns = [patterns_text(patterns) for patterns in CONVENTIONS.values()]
    wrong = [
        f"[{table}]\n" + "".join(f"{key} = {value}\n" for key in struct.__struct_fields__)
        for table, struct in tables().items()
        for value in WRONG
    ]
    odd = 'convention = "psychopy"\ntrial_start = "T(?P<name>.*)"\n'
    return [
        *(bytes([CONFIGURATION]) + _bare(text) for text in (*parts, *wrong)),
        *(bytes([PATTERNS]) + text.encode() for text in (*patterns, odd)),
        *(bytes([kind]) + f"seed = {DEEP}".encode() for kind in (CONFIGURATION, PATTERNS)),
        bytes([PATTERNS]) + f"trial_start = '{'(' * DEPTH}'".encode(),
    ]


def _bare(text: str) -> bytes:
    """Return TOML without comments and empty lines."""
    lines = (line.partition("  #")[0] for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#")).encode()


def read(data: bytes, folder: Path) -> None:
    """Read a file; write what was read, and read the same again."""
    kind, content = data[:1], data[1:]
    path = folder / PATTERNS_NAME
    path.write_bytes(content)
    if kind == bytes([PATTERNS]):
        warnings.filterwarnings("ignore", "Possible (nested|set)", FutureWarning)  # a user's own
        patterns = read_patterns(path)
        path.write_text(patterns_text(patterns), encoding="utf-8")
        assert read_patterns(path) == patterns
        return
    examined = examine_config(path)
    assert all(problem.key and problem.reason for problem in examined.problems)
    if not examined.problems:
        path.write_text(effective(examined.config, examined.given), encoding="utf-8")
        again = examine_config(path)
        assert (again.config, again.problems) == (examined.config, ())


TARGET = Target(
    read=read,
    seeds=seeds,
    tokens=(
        *(name.rpartition(".")[2].encode() for name in key_names()),
        *(name.encode() for name in (*FIELD_OF_KEY, "convention", *CONVENTIONS)),
        *(b"[[", b"]]", b'"""', b"'''", b"0x", b"1e400", b"nan", b"inf", b"1979-05-27T07:32:00Z"),
        *(
            b"(?P<name>",
            b"{1,99999}",
            b"\\u0000",
            b"\xef\xbb\xbf",
            b"true",
            b"simulated",
            b"replay:",
        ),
    ),
    longest=1024,
)
