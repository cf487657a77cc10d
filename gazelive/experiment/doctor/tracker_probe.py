"""Probe: is `pylink` the EyeLink's own, and does a tracker answer? (`… RESULT [ADDRESS]`)."""

from __future__ import annotations

import importlib.metadata
import sys

import msgspec

from gazelive.errors import DeviceUnavailableError


class TrackerSeen(msgspec.Struct):
    """What came of an import, and of a connection if one was asked for."""

    version: str = ""
    """Of the vendor's package."""
    import_error: str = ""
    tracker: str = ""
    """What the tracker says it is."""
    connection_error: str = ""


def look(address: str | None) -> TrackerSeen:
    """Import pylink and connect to `address`; the connection is closed again."""
    from gazelive.devices.eyelink import load_pylink

    try:
        pylink = load_pylink()
    except DeviceUnavailableError as error:
        return TrackerSeen(import_error=str(error))
    seen = TrackerSeen(version=importlib.metadata.version("sr-research-pylink"))
    if address is None:
        return seen
    try:
        tracker = pylink.EyeLink(address)
    except RuntimeError as error:
        seen.connection_error = str(error)
        return seen
    if not tracker.isConnected() > 0:  # dummy mode is no tracker
        seen.connection_error = "there is no connection"
        return seen
    seen.tracker = str(tracker.getTrackerVersionString() or "EyeLink").strip()
    tracker.close()
    return seen


if __name__ == "__main__":
    from gazelive.experiment.doctor.children import tell

    tell(look(sys.argv[2] if len(sys.argv) > 2 else None))
