"""The device that a configuration asks for."""

from __future__ import annotations

from gazelive.clock import Clock
from gazelive.devices import GazeDevice, SaliencyOf, SimulatedDevice
from gazelive.errors import ConfigError
from gazelive.experiment.config.schema import Simulated, Tracker
from gazelive.experiment.display.display import Participant
from gazelive.gaze import ScreenGeometry


def open_device(
    tracker: Tracker,
    who: Participant,
    screen: ScreenGeometry,
    clock: Clock,
    *,
    simulated: Simulated,
    simulate_as: str | None,
    saliency_of: SaliencyOf,
) -> GazeDevice:
    """Connect to the tracker, or make the simulated one."""
    if tracker.device == "simulated":
        return SimulatedDevice(
            simulate_as or who.viewer or "v001",
            seed=simulated.seed,
            session=who.session,
            clock=clock,
            sampling_rate_hz=tracker.sampling_rate_hz,
            eyes=who.eyes,
            screen=screen,
            saliency_of=saliency_of,
        )
    if tracker.device == "eyelink":
        return _eyelink(tracker, who, screen, clock)
    raise ConfigError(
        f"must be eyelink, simulated or replay:FILE, not {tracker.device!r}", key="tracker.device"
    )


def _eyelink(
    tracker: Tracker, who: Participant, screen: ScreenGeometry, clock: Clock
) -> GazeDevice:
    from gazelive.devices import EyeLinkDevice, EyeLinkSettings

    settings = EyeLinkSettings(
        address=tracker.address,
        sampling_rate_hz=tracker.sampling_rate_hz,
        eyes=who.eyes,
        screen=screen,
        link_filter=tracker.link_filter,
        file_filter=tracker.file_filter,
        calibration_type=tracker.calibration_type,
        real_time=tracker.real_time,
    )
    # with _ between them: session 1 of a1 is not session 11 of a
    stem = f"{who.viewer or 'x'}_{who.session}"
    return EyeLinkDevice(settings, clock=clock, host_file_stem=stem)
