"""The sockets of the process that owns the device, secured with the keys of its run."""

from __future__ import annotations

import zmq

from gazelive.devices import GazeDevice
from gazelive.live.wire.control import Answer, request
from gazelive.live.wire.device_control import DeviceControl
from gazelive.live.wire.keys import Context, Doorkeeper
from gazelive.live.wire.runs import Run
from gazelive.live.wire.transport import ChunkSender, Posteriors


class OwnerLines:
    """Chunks to the engine, requests to the device, and settled posteriors back.

    `session` is the id of the session that is recorded (`SessionManifest.id`).
    """

    def __init__(self, run: Run, device: GazeDevice, session: str) -> None:
        self._context: Context = zmq.Context()
        self._run = run
        addresses, keys = run.addresses, run.recording
        self._doorkeeper = Doorkeeper(self._context, run.binding)
        try:
            self.control = DeviceControl(
                self._context, addresses.device, device, prepare=run.binding.secure
            )
        except BaseException:
            self._doorkeeper.close()
            self._context.term()
            raise
        self.sender = ChunkSender(self._context, addresses.chunks, session, prepare=keys.secure)
        self.posteriors = Posteriors(
            self._context, addresses.documents, prepare=run.watching.secure
        )

    @property
    def is_stopped(self) -> bool:
        """True after a request to end the session."""
        return self.control.is_stopped

    def serve(self) -> None:
        """Answer the requests that have come, and keep the posteriors up to date; never wait."""
        self.control.serve()
        self.posteriors.catch_up()

    def take_calibration_request(self) -> bool:
        """Return, once and in any thread, whether a calibration was requested."""
        return self.control.take_calibration_request()

    def ask_engine(self, command: str, *, timeout_s: float) -> Answer:
        """Send a request to the engine and return the answer."""
        prepare = self._run.watching.secure
        address = self._run.addresses.control
        return request(self._context, address, command, prepare=prepare, timeout_s=timeout_s)

    def close(self) -> None:
        """Close the sockets; the last messages have a moment to leave."""
        for part in (self.sender, self.control, self.posteriors, self._doorkeeper):
            part.close()
        self._context.term()
