"""Lifecycle of a device: its states, and errors for calls in the wrong state."""

from __future__ import annotations

from gazelive.errors import DeviceError


class Lifecycle:
    """New, then alternately recording and stopped, finally closed."""

    def __init__(self, name: str) -> None:
        """Take the device's `name` for use in a sentence, such as "the replay of a.asc"."""
        self._name = name
        self._started = False
        self.recording = False
        self.closed = False

    def start(self) -> None:
        """Start a block."""
        self.require_open()
        if self.recording:
            raise DeviceError(f"{self._name} is recording already: stop it before starting again")
        self._started = self.recording = True

    def stop(self) -> bool:
        """End the block; return whether there was one."""
        was_recording, self.recording = self.recording, False
        return was_recording

    def close(self) -> bool:
        """Close; return whether the device was open."""
        was_open, self.closed = not self.closed, True
        self.recording = False
        return was_open

    def require_open(self) -> None:
        """Raise if the device was closed."""
        if self.closed:
            raise DeviceError(f"{self._name} was closed: create a new one")

    def require_started(self) -> None:
        """Raise if the device was never started, or closed."""
        self.require_open()
        if not self._started:
            raise DeviceError(f"{self._name} was never started: start it before reading")

    def require_between_blocks(self, what: str, error: type[DeviceError] = DeviceError) -> None:
        """Raise if a block is being recorded: `what` is possible only between blocks."""
        self.require_open()
        if self.recording:
            raise error(f"{self._name} is recording: stop it before {what}")
