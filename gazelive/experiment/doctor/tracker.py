"""The EyeLink: its software, and whether it answers."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from gazelive.config.plausibility import HOST
from gazelive.experiment.doctor.children import ProbeFailedError, probe
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.doctor.tracker_probe import TrackerSeen

PROBE = "gazelive.experiment.doctor.tracker_probe"
IMPORT_S = 60.0
CONNECT_S = 20.0
"""pylink itself gives up after some 3 s."""


def pylink(_situation: Situation) -> Iterator[Finding]:
    """Look whether `pylink` is the EyeLink's own, and loads; of a missing one `packages` tells."""
    if importlib.util.find_spec("pylink") is None:
        return
    try:
        seen = probe(PROBE, expect=TrackerSeen, timeout_s=IMPORT_S)
    except ProbeFailedError as error:
        yield Finding(
            "pylink",
            "fail",
            f"its import {error}",
            "pip install --force-reinstall sr-research-pylink",
        )
        return
    if seen.import_error:
        what, _, remedy = seen.import_error.partition(": ")
        yield Finding("pylink", "fail", what, remedy)
    else:
        yield Finding("pylink", "ok", f"the EyeLink's own, {seen.version}")


def answers(situation: Situation) -> Iterator[Finding]:
    """Connect to the tracker if its address was given."""
    address = situation.tracker
    if address is None:
        if situation.examined and situation.config.tracker.device == "eyelink":
            yield Finding(
                "tracker",
                "warn",
                "was not tried",
                f"switch it on and add --tracker {situation.config.tracker.address}",
            )
        return
    if HOST.fullmatch(address) is None:  # pylink would take an empty one for its dummy mode
        yield Finding(
            "tracker",
            "fail",
            f'"{address}" is no address',
            "add that of the EyeLink's Host PC, usually --tracker 100.1.1.1",
        )
        return
    try:
        seen = probe(PROBE, address, expect=TrackerSeen, timeout_s=CONNECT_S)
    except ProbeFailedError as error:
        yield Finding("tracker", "fail", f"the connection to {address} {error}", _cable(address))
        return
    if seen.import_error:
        what, _, remedy = seen.import_error.partition(": ")
        yield Finding("tracker", "fail", f"{address} cannot be tried: {what}", remedy)
    elif seen.connection_error:
        yield Finding("tracker", "fail", f"no EyeLink answers at {address}", _cable(address))
    else:
        yield Finding("tracker", "ok", f"{seen.tracker} answers at {address}")


def _cable(address: str) -> str:
    """Return what to look at; both computers must be in one network."""
    neighbour = f"{address.rpartition('.')[0]}.2" if address.count(".") == 3 else ""
    here = (
        f", and this computer has an address beside it (such as {neighbour})" if neighbour else ""
    )
    return (
        "check that the Host PC runs the EyeLink program, that no other program is connected to "
        f"it, that the cable is in{here}"
    )
