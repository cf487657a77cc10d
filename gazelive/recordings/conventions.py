"""Trial patterns by name, from a lab's file, or from options: which of them apply to a recording.

The order is: options, then the named convention or file, then `gazelive-trials.toml` beside the
recording, then the model's patterns, then the defaults.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gazelive.errors import ConfigError
from gazelive.recordings.trials import (
    DEFAULT_PATTERNS,
    NOT_A_PATTERN,
    TrialPatterns,
    own_patterns,
)
from gazelive.system import NOT_TOML, reading_error

PATTERNS_NAME = "gazelive-trials.toml"
N_FOLDERS = 4
"""The file is looked for in the recording's folder and in so many folders less one above it."""

CONVENTIONS: dict[str, TrialPatterns] = {
    # Defaults of its PyGaze plugins and of eyelinkparser: start_trial, start_phase NAME
    "opensesame": TrialPatterns(
        start=r"(?i:start_trial)\b:?\s*(?P<name>.*)",
        stop=r"(?i:stop_trial|end_trial)\b:?\s*(?P<result>.*)",
        image_onset=r"(?i:(?:start_)?phase\s+(?:target|stimulus|image|picture|scene|display|movie)"
        r"|(?:image|stimulus|target|display)[ _]?on(?:set)?)\b",
        image_offset=r"(?i:(?:end|stop)_phase\s+(?:target|stimulus|image|picture|scene|display|"
        r"movie)|(?:image|stimulus|target|display)[ _]?off(?:set)?)\b",
    ),
    # SR Research's examples and Builder plugin: TRIALID, COMPONENT_ONSET, TRIAL_RESULT
    "psychopy": TrialPatterns(
        start=r"TRIALID\b:?\s*(?P<name>.*)",
        stop=r"TRIAL_RESULT\b:?\s*(?P<result>.*)",
        image_onset=r"(?i:(?!\S*(?:fix|cross|text|instr))\S+_onset|synctime)\b",
        image_offset=r"(?i:(?!\S*(?:fix|cross|text|instr))\S+_offset)\b",
    ),
    # Messages of its display nodes, with the draw list of each screen
    "experiment-builder": TrialPatterns(
        start=r"TRIALID\b:?\s*(?P<name>.*)",
        stop=r"TRIAL_RESULT\b:?\s*(?P<result>.*)",
        image_onset=r"(?i:synctime|(?:display|show)_(?!coords|blank|off)\w+|!V\s+DRAW_LIST)\b",
        image_offset=r"(?i:(?:display_)?blank|display_off)",
    ),
}

FIELD_OF_KEY = {
    "trial_start": "start",
    "trial_stop": "stop",
    "image": "image",
    "image_onset": "image_onset",
    "image_offset": "image_offset",
    "variable": "variable",
}
"""Keys of the file; `convention` names the patterns that it changes."""


@dataclass(frozen=True)
class PatternOptions:
    """What the user gave on the command line."""

    trials: str | None = None
    """Name of a convention, or path of a file of patterns."""
    trial_start: str | None = None
    trial_stop: str | None = None
    image_onset: str | None = None


@dataclass(frozen=True)
class FoundPatterns:
    """Patterns, and the file that was found beside the recording, if it was used."""

    patterns: TrialPatterns
    file: Path | None = None


def find_patterns(
    options: PatternOptions, source: Path, usual: TrialPatterns = DEFAULT_PATTERNS
) -> FoundPatterns:
    """Return the patterns for the recording or corpus `source`; `usual` ones are a model's."""
    file = None
    if options.trials is not None:
        base = _named(options.trials)
    elif (file := patterns_file(source)) is not None:
        base = read_patterns(file)
    else:
        base = usual
    given = {
        FIELD_OF_KEY[key]: _checked(pattern, f"--{key.replace('_', '-')}")
        for key in ("trial_start", "trial_stop", "image_onset")
        if (pattern := getattr(options, key)) is not None
    }
    return FoundPatterns(msgspec.structs.replace(base, **given), file)


def patterns_file(source: Path) -> Path | None:
    """Return the file of patterns nearest to a recording, in its folder or in one above."""
    source = source.absolute()
    folders = [source, *source.parents] if source.is_dir() else list(source.parents)
    files = (folder / PATTERNS_NAME for folder in folders[:N_FOLDERS])
    return next((file for file in files if file.is_file()), None)


def read_patterns(path: Path) -> TrialPatterns:
    """Return the patterns of a file."""
    try:
        content = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise reading_error(error, path) from error
    except NOT_TOML as error:
        raise ConfigError(
            f"is not TOML ({error}); put patterns between single quotes", path=path
        ) from error
    base = DEFAULT_PATTERNS
    given = {}
    for key, value in content.items():
        if not isinstance(value, str):
            raise ConfigError(f"must be a text in quotes, not {value!r}", path=path, key=key)
        if key == "convention":
            base = _convention(value, path)
        elif key in FIELD_OF_KEY:
            given[FIELD_OF_KEY[key]] = _checked(value, key, path)
        else:
            known = ", ".join(("convention", *FIELD_OF_KEY))
            raise ConfigError(f"unknown key; there are {known}", path=path, key=key)
    return msgspec.structs.replace(base, **given)


def patterns_text(patterns: TrialPatterns) -> str:
    """Return the content of a file with these patterns, as far as they are not the defaults."""
    own = own_patterns(patterns)
    fields = FIELD_OF_KEY.items()
    return "".join(f"{key} = {_toml_text(own[field])}\n" for key, field in fields if field in own)


def _toml_text(text: str) -> str:
    """Return a literal string of TOML, in which a backslash is one; else a basic string."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    return msgspec.json.encode(text).decode()


def _named(name: str) -> TrialPatterns:
    path = Path(name)
    if name.lower() not in CONVENTIONS and path.is_file():
        return read_patterns(path)
    return _convention(name)


def _convention(name: str, path: Path | None = None) -> TrialPatterns:
    """Return a convention; `path` is the file that names it."""
    if name.lower() not in CONVENTIONS:
        names = ", ".join(CONVENTIONS)
        either = f"{names}, or the path of a file of patterns" if path is None else names
        key = "--trials" if path is None else "convention"
        raise ConfigError(f"must be {either}, not {name!r}", path=path, key=key)
    return CONVENTIONS[name.lower()]


def _checked(pattern: str, key: str, path: Path | None = None) -> str:
    """Return a pattern; raise if it is malformed."""
    try:
        re.compile(pattern)
    except NOT_A_PATTERN as error:
        raise ConfigError(
            f"{pattern!r} is not a regular expression ({error}); put \\ before a literal ( or "
            "another special character",
            path=path,
            key=key,
        ) from error
    return pattern
