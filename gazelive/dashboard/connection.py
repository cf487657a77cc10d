"""How it stands with the engine, in a word and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gazelive.dashboard.wording import speed_words

SILENCE_S = 3.0
"""A run that says nothing for so long is said to be silent."""

Phase = Literal["nobody", "lost", "idle", "stopped", "paused", "silent", "running"]


@dataclass(frozen=True)
class Playback:
    """How a replay stands, as far as its owner told."""

    paused: bool = False
    speed: float | None = 1.0
    """Times real time; None is as fast as possible."""
    position_s: float | None = None
    duration_s: float | None = None
    """In the time of the recording."""

    @classmethod
    def told(cls, facts: dict[str, Any]) -> Playback:
        """Return what an answer of the device's owner says."""
        speed = facts.get("speed", 1.0)
        return cls(
            bool(facts.get("paused", False)),
            None if speed is None else float(speed),
            facts.get("position_s"),
            facts.get("duration_s"),
        )

    @property
    def share(self) -> float | None:
        """How much of it has been played."""
        if self.position_s is None or not self.duration_s:
            return None
        return min(max(self.position_s / self.duration_s, 0.0), 1.0)


@dataclass(frozen=True)
class Connection:
    """A phase, and a sentence about it."""

    phase: Phase
    text: str


def without_engine(was_there: bool, source: str) -> Connection:
    """Return what is said while nobody is connected."""
    where = f" at {source}" if source else ""
    if was_there:
        return Connection("lost", f"Engine lost. Waiting for engine{where}…")
    return Connection("nobody", f"Waiting for engine{where}…")


def with_engine(
    *,
    has_run: bool,
    catching_up: bool,
    stopped: str | None,
    playback: Playback | None,
    silent_s: float,
) -> Connection:
    """Return what is said while the engine is there."""
    if stopped is not None:
        return Connection("stopped", f"The run has ended: {stopped}")
    if catching_up or not has_run:
        waits = "The engine is catching up…" if catching_up else "Waiting for a run to begin…"
        return Connection("idle", f"Connected. {waits}")
    if playback is not None and playback.paused:
        return Connection("paused", "Paused")
    if silent_s > SILENCE_S:
        return Connection("silent", f"Nothing has come for {silent_s:.0f} s")
    speed = 1.0 if playback is None else playback.speed
    return Connection("running", "Live" if speed == 1 else f"Live, {speed_words(speed)}")
