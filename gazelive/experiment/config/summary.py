"""Summary of a configuration in words."""

from __future__ import annotations

from collections.abc import Iterator

from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.verdict import rate_words
from gazelive.wording import EYE_NAMES


def summary(config: ExperimentConfig) -> Iterator[str]:
    """Yield a line per part."""
    screen, tracker, stimuli, trial, gate = (
        config.screen,
        config.tracker,
        config.stimuli,
        config.trial,
        config.gate,
    )
    width_deg, height_deg = screen.geometry.size_deg
    yield (
        f"screen    {screen.width_px} × {screen.height_px} px, {screen.width_mm:g} × "
        f"{screen.height_mm:g} mm at {screen.eye_distance_mm:g} mm: {width_deg:.1f} × "
        f"{height_deg:.1f}°, {screen.refresh_rate_hz:g} Hz"
    )
    at = f" at {tracker.address}" if tracker.device == "eyelink" else ""
    eyes = EYE_NAMES[tracker.eyes]
    yield f"tracker   {tracker.device}{at}, {tracker.sampling_rate_hz} Hz, {eyes}"
    yield (
        f"images    up to {stimuli.n_images} of {stimuli.folder}, within {stimuli.width_px} × "
        f"{stimuli.height_px} px"
    )
    yield (
        f"trial     cross until {gate.dwell_s:g} s of gaze within {gate.radius_deg:g}°, image for "
        f"{trial.image_s:g} s, blank for {trial.blank_s:g} s"
    )
    yield f"between   {_between(config)}"
    least_s = stimuli.n_images * (gate.dwell_s + trial.image_s + trial.blank_s)
    yield f"duration  about {max(1, round(least_s / 60))} min of trials, without breaks"
    if config.identify.model:
        stop = config.identify.stop_at
        early = f", stops early at {stop:g}" if stop is not None else ""
        rate = config.identify.false_acceptance_rate
        at = f" at {rate_words(rate)}" if rate is not None else ""
        yield f"identify  with {config.identify.model}{at}{early}"
    yield f"output    {config.output.folder}"


def _between(config: ExperimentConfig) -> str:
    schedule = config.schedule
    parts = [
        f"{what} every {n} trials" if n > 1 else f"{what} before every trial"
        for what, n in (
            ("calibration", schedule.recalibrate_every_trials),
            ("break", schedule.break_every_trials),
            ("drift check", schedule.drift_check_every_trials),
        )
        if n
    ]
    return ", ".join(parts) or "nothing"
