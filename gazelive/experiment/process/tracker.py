"""The device that a configuration asks for."""

from __future__ import annotations

from gazelive.clock import Clock
from gazelive.devices import GazeDevice, ReplayDevice, SaliencyOf, SimulatedDevice
from gazelive.errors import ConfigError
from gazelive.experiment.process.launch import RunSpec
from gazelive.recordings import Recording


def open_device(
    spec: RunSpec, clock: Clock, *, recording: Recording | None, saliency_of: SaliencyOf
) -> GazeDevice:
    """Connect to the tracker, or make what stands in for one."""
    tracker = spec.config.tracker
    if recording is not None:
        return ReplayDevice(recording, clock=clock)
    if tracker.device == "simulated":
        return SimulatedDevice(
            spec.simulate_as or spec.participant.viewer or "v001",
            seed=spec.config.simulated.seed,
            session=spec.participant.session,
            clock=clock,
            sampling_rate_hz=tracker.sampling_rate_hz,
            eyes=spec.participant.eyes,
            screen=spec.config.screen.geometry,
            saliency_of=saliency_of,
        )
    if tracker.device == "eyelink":
        return _eyelink(spec, clock)
    raise ConfigError(
        f"must be eyelink, simulated or replay:FILE, not {tracker.device!r}", key="tracker.device"
    )


def _eyelink(spec: RunSpec, clock: Clock) -> GazeDevice:
    from gazelive.devices import EyeLinkDevice, EyeLinkSettings

    tracker = spec.config.tracker
    settings = EyeLinkSettings(
        address=tracker.address,
        sampling_rate_hz=tracker.sampling_rate_hz,
        eyes=spec.participant.eyes,
        screen=spec.config.screen.geometry,
        link_filter=tracker.link_filter,
        file_filter=tracker.file_filter,
        calibration_type=tracker.calibration_type,
        real_time=tracker.real_time,
    )
    # with _ between them: session 1 of a1 is not session 11 of a
    stem = f"{spec.participant.viewer or 'x'}_{spec.participant.session}"
    return EyeLinkDevice(settings, clock=clock, host_file_stem=stem)
