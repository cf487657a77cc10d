"""The states that every device goes through, and what it says to a call at the wrong moment."""

from __future__ import annotations

from gazelive.errors import DeviceError


class Lifecycle:
    """New, then recording and stopped in turn, in the end closed."""

    def __init__(self, name: str) -> None:
        """Take the device's `name` as a sentence would have it, such as "the replay of a.asc"."""
        self._name = name
        self._started = False
        self.recording = False
        self.closed = False

    def start(self) -> None:
        """Begin a block."""
        self.require_open()
        if self.recording:
            raise DeviceError(f"{self._name} is recording already: stop it before starting again")
        self._started = self.recording = True

    def stop(self) -> bool:
        """End the block; say whether there was one."""
        was_recording, self.recording = self.recording, False
        return was_recording

    def close(self) -> bool:
        """End for good; say whether that is new."""
        was_open, self.closed = not self.closed, True
        self.recording = False
        return was_open

    def require_open(self) -> None:
        """Raise if the device was closed."""
        if self.closed:
            raise DeviceError(f"{self._name} was closed: make a new one")

    def require_started(self) -> None:
        """Raise if nothing can be read yet, or any more."""
        self.require_open()
        if not self._started:
            raise DeviceError(f"{self._name} was never started: start it before reading")

    def require_between_blocks(self, what: str, error: type[DeviceError] = DeviceError) -> None:
        """Raise if a block is being recorded, for `what` is done only between blocks."""
        self.require_open()
        if self.recording:
            raise error(f"{self._name} is recording: stop it before {what}")
