"""Checks of the EyeLink: its software and the connection."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from gazelive.experiment.config.plausibility import HOST
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.doctor.probe_process import ProbeFailedError, probe
from gazelive.experiment.doctor.tracker_probe import TrackerSeen

PROBE = "gazelive.experiment.doctor.tracker_probe"
IMPORT_S = 60.0
CONNECT_S = 20.0
"""pylink itself gives up after about 3 s."""


def pylink(_situation: Situation) -> Iterator[Finding]:
    """Check that `pylink` is SR Research's and loads; `packages` reports a missing one."""
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
        yield Finding("pylink", "ok", f"SR Research, {seen.version}")


def answers(situation: Situation) -> Iterator[Finding]:
    """Connect to the tracker if an address was given."""
    address = situation.tracker
    if address is None:
        if situation.examined and situation.config.tracker.device == "eyelink":
            yield Finding(
                "tracker",
                "warn",
                "not tested",
                f"turn it on and add --tracker {situation.config.tracker.address}",
            )
        return
    if HOST.fullmatch(address) is None:  # pylink would use dummy mode for an empty address
        yield Finding(
            "tracker",
            "fail",
            f'"{address}" is not an address',
            "give that of the EyeLink Host PC, usually --tracker 100.1.1.1",
        )
        return
    try:
        seen = probe(PROBE, address, expect=TrackerSeen, timeout_s=CONNECT_S)
    except ProbeFailedError as error:
        yield Finding("tracker", "fail", f"the connection to {address} {error}", _cable(address))
        return
    if seen.import_error:
        what, _, remedy = seen.import_error.partition(": ")
        yield Finding("tracker", "fail", f"cannot connect to {address}: {what}", remedy)
    elif seen.connection_error:
        yield Finding("tracker", "fail", f"no EyeLink answers at {address}", _cable(address))
    else:
        yield Finding("tracker", "ok", f"{seen.tracker} answers at {address}")


def _cable(address: str) -> str:
    """Return what to check; both computers must be in the same network."""
    neighbour = f"{address.rpartition('.')[0]}.2" if address.count(".") == 3 else ""
    here = (
        f", and this computer has an address in its network (such as {neighbour})"
        if neighbour
        else ""
    )
    return (
        "check that the Host PC runs the EyeLink program, that no other program is connected to "
        f"it, that the cable is plugged in{here}"
    )
