"""What a person's running saccades say, handed to a probe one after the other."""

from __future__ import annotations

from gazelive.features.running import RunningSaccade
from gazelive.identification.contract import Estimate, Probe


def take_running(probe: Probe, saccade: RunningSaccade) -> Estimate:
    """Hand over what is known with a saccade of the open interval; return what it says now."""
    for fixation in saccade.fixations:
        probe.add_fixation(*fixation)
    if saccade.completed is not None:
        probe.complete_saccade(saccade.completed)
    probe.add_saccade(saccade.row)
    return probe.estimate(saccade.seconds)
