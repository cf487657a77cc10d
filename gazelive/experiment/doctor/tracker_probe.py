"""Tracker probe: imports `pylink` and connects to a tracker (`… RESULT [ADDRESS]`)."""

from __future__ import annotations

import importlib.metadata
import sys

import msgspec

from gazelive.errors import DeviceUnavailableError


class TrackerSeen(msgspec.Struct):
    """Result of the import, and of the connection if one was requested."""

    version: str = ""
    """Version of the vendor's package."""
    import_error: str = ""
    tracker: str = ""
    """Name and version reported by the tracker."""
    connection_error: str = ""


def look(address: str | None) -> TrackerSeen:
    """Import pylink, connect to `address` and close the connection."""
    from gazelive.devices import load_pylink

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
    if not tracker.isConnected() > 0:  # dummy mode
        seen.connection_error = "no connection"
        return seen
    seen.tracker = str(tracker.getTrackerVersionString() or "EyeLink").strip()
    tracker.close()
    return seen


if __name__ == "__main__":
    from gazelive.experiment.doctor.probe_process import write_result

    write_result(look(sys.argv[2] if len(sys.argv) > 2 else None))
