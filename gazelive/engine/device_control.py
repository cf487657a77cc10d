"""What the owner of a device answers to: pause, resume, speed, mark, stop and status."""

from __future__ import annotations

from typing import Any

import msgspec

from gazelive.devices.protocol import ControlsPlayback, GazeDevice, SendsMessages
from gazelive.engine.control import ControlServer, Request
from gazelive.engine.keys import Context
from gazelive.errors import ConfigError, DeviceError, GazeliveError


def mark_message(text: str) -> str:
    """Return the message of a mark: whatever was typed, it never acts as one of the protocol's."""
    return f"MARK {' '.join(text.split())}".rstrip()


class DeviceControl:
    """Answers requests in the thread that owns the device, whenever it finds the time."""

    def __init__(self, context: Context, address: str, device: GazeDevice) -> None:
        self._device = device
        self._server = ControlServer(context, address)
        self.is_stopped = False
        """True once somebody asked for the end."""

    def serve(self) -> None:
        """Answer what has been asked; never waits."""
        while (request := self._server.receive()) is not None:
            try:
                self._do(request)
                self._server.answer(request, **self.facts())
            except GazeliveError as error:
                self._server.refuse(request, str(error))

    def facts(self) -> dict[str, Any]:
        """Return how the device stands."""
        device = self._device
        playback = None
        if isinstance(device, ControlsPlayback):
            playback = msgspec.to_builtins(device.playback())
        return {"device": device.describe().device, "playback": playback}

    def close(self) -> None:
        """Answer no more."""
        self._server.close()

    def _do(self, request: Request) -> None:
        match request.command:
            case "status":
                pass
            case "stop":
                self.is_stopped = True
            case "mark":
                if not isinstance(self._device, SendsMessages):
                    raise DeviceError("this device takes no messages")
                self._device.send_message(mark_message(str(request.arguments.get("text", ""))))
            case "pause" | "resume" | "speed":
                if not isinstance(self._device, ControlsPlayback):
                    raise DeviceError("a tracker that looks at somebody cannot be paused")
                self._play(self._device, request)
            case command:
                raise ConfigError(f"unknown request {command!r}")

    def _play(self, device: ControlsPlayback, request: Request) -> None:
        if request.command == "pause":
            device.pause()
        elif request.command == "resume":
            device.resume()
        else:
            speed = request.arguments.get("speed")
            if speed is not None and not isinstance(speed, (int, float)):
                raise ConfigError(f"must be a number or nothing, not {speed!r}", key="speed")
            device.set_speed(None if speed is None else float(speed))
