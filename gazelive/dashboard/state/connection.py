"""Connection to the engine as a phase and a sentence, and the progress of a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from gazelive.wording import speed_words

SILENCE_S = 3.0
"""A run is silent after this time without documents."""

Phase = Literal["waiting", "lost", "idle", "stopped", "paused", "silent", "running"]


@dataclass(frozen=True)
class Playback:
    """Progress of a replay, as reported by the process that plays it."""

    paused: bool = False
    speed: float | None = 1.0
    """Relative to real time; None is as fast as possible."""
    position_s: float | None = None
    duration_s: float | None = None
    """In the time of the recording."""

    @classmethod
    def from_reply(cls, facts: dict[str, Any]) -> Playback:
        """Read the `playback` part of a reply."""
        speed = facts.get("speed", 1.0)
        return cls(
            bool(facts.get("paused", False)),
            None if speed is None else float(speed),
            facts.get("position_s"),
            facts.get("duration_s"),
        )

    @property
    def share(self) -> float | None:
        """Fraction played."""
        if self.position_s is None or not self.duration_s:
            return None
        return min(max(self.position_s / self.duration_s, 0.0), 1.0)


@dataclass(frozen=True)
class Connection:
    """A phase and the sentence to show."""

    phase: Phase
    text: str


def without_engine(was_there: bool, source: str) -> Connection:
    """Return the connection while no engine is connected."""
    where = f" at {source}" if source else ""
    if was_there:
        return Connection("lost", f"Engine lost. Waiting for engine{where}…")
    return Connection("waiting", f"Waiting for engine{where}…")


def with_engine(
    *,
    has_run: bool,
    catching_up: bool,
    stopped: str | None,
    playback: Playback | None,
    silent_s: float,
) -> Connection:
    """Return the connection while an engine is connected."""
    if stopped is not None:
        return Connection("stopped", f"Run ended: {stopped}")
    if catching_up or not has_run:
        waits = "The engine is catching up…" if catching_up else "Waiting for a run to start…"
        return Connection("idle", f"Connected. {waits}")
    if playback is not None and playback.paused:
        return Connection("paused", "Replay paused")
    if silent_s > SILENCE_S:
        return Connection("silent", f"No data for {silent_s:.0f} s")
    live = "Live" if playback is None else f"Replay {speed_words(playback.speed)}"
    return Connection("running", live)
