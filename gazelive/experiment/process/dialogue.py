"""Participant dialog: a small window before the experiment's window opens.

The window is a process of its own, so that no Qt stays beside the frames of the experiment.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import msgspec

from gazelive.errors import ConfigError, RecordingError
from gazelive.experiment.display.display import Participant
from gazelive.recordings import is_session_folder, read_manifest
from gazelive.system import has_screen, name_problem, python_module

VIEWER_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
LONGEST_VIEWER = 40
WINDOW_MODULE = "gazelive.experiment.process.dialogue_window"


class ExistingSessions(msgspec.Struct, frozen=True):
    """Sessions that exist already."""

    numbers: dict[str, list[int]] = {}
    """Session numbers by viewer; identification sessions have the empty name."""

    @classmethod
    def in_folder(cls, folder: Path) -> ExistingSessions:
        """Return those in the folder that sessions go to; what cannot be read counts for none."""
        numbers: dict[str, list[int]] = {}
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not is_session_folder(path):
                continue
            try:
                manifest = read_manifest(path)
            except RecordingError:
                continue
            if manifest.session.isdecimal():
                numbers.setdefault(manifest.viewer or "", []).append(int(manifest.session))
        return cls({viewer: sorted(set(taken)) for viewer, taken in numbers.items()})

    def of(self, viewer: str | None) -> list[int]:
        """Return the numbers of a viewer's sessions."""
        return self.numbers.get(viewer or "", [])

    def next_free(self, viewer: str | None) -> int:
        """Return the number after the viewer's last session."""
        return max(self.of(viewer), default=0) + 1


class DialogInput(msgspec.Struct, frozen=True):
    """Input of the dialog's window."""

    defaults: Participant
    taken: ExistingSessions


def ask_participant(defaults: Participant, *, folder: Path) -> Participant | None:
    """Ask who takes part; None where the dialogue was cancelled.

    `folder` is where sessions go: the next free number of the viewer is proposed.
    """
    if not has_screen():
        raise ConfigError("no screen for the dialog: give the participant with --viewer")
    asking = DialogInput(defaults, ExistingSessions.in_folder(folder))
    answered = subprocess.run(
        python_module(WINDOW_MODULE),
        input=msgspec.json.encode(asking),
        capture_output=True,
        check=False,
    )
    if answered.returncode != 0:
        raise ConfigError(
            f"the dialog cannot be opened ({_reason(answered.stderr)}): "
            "give the participant with --viewer"
        )
    return msgspec.json.decode(answered.stdout, type=Participant | None)


def _reason(stderr: bytes) -> str:
    """Return the line with the reason: Python's last, Qt's first."""
    lines = stderr.decode(errors="replace").strip().splitlines() or ["it ended"]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def viewer_problem(viewer: str, mode: str) -> str | None:
    """Return the problem of a viewer's name; None if it can be used."""
    if not viewer:
        return "Enter the viewer's id." if mode == "enrol" else None
    if VIEWER_PATTERN.fullmatch(viewer) is None:
        return "Use letters (a-z), digits, - and _ only, and begin with a letter or digit."
    problem = name_problem(viewer)
    if problem is not None:
        return f"Use another id than {viewer}: {problem}."
    if len(viewer) > LONGEST_VIEWER:
        return f"Use at most {LONGEST_VIEWER} characters."
    return None


def session_problem(viewer: str, session: int, taken: ExistingSessions) -> str | None:
    """Return the problem of a session's number; None if it can be used."""
    if session in taken.of(viewer):
        whose = f" of {viewer}" if viewer else ""
        return f"Session {session}{whose} is there already; {taken.next_free(viewer)} is free."
    return None
