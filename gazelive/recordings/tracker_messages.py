"""The messages by which EyeLink itself, and its Data Viewer, tell what a recording knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gazelive.gaze.stream import Message
from gazelive.recordings.asc_columns import TARGET_NAMES
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.recording import Block, Calibration, DriftCorrection, Recording, Trial
from gazelive.recordings.trials import find_trials

CONFIGURATION_WORD = "RECCFG"
EYE_WORDS = {"L": "LEFT", "R": "RIGHT"}
_VERDICTS = ((1.0, 1.5, "GOOD"), (1.5, 2.0, "FAIR"))
"""Mean and maximal error in degrees below which EyeLink calls a validation so (SR Research,
support thread 244); else POOR."""


def missing_messages(recording: Recording, blocks: Sequence[Block]) -> list[Message]:
    """Return messages for the calibrations, drift corrections and trials that no message tells."""
    facts = interpret(recording.messages)
    told = {(known.tracker_time_us, known.kind, known.eye) for known in facts.calibrations}
    messages = [
        Message(result.tracker_time_us, calibration_text(result))
        for result in recording.calibrations
        if (result.tracker_time_us, result.kind, result.eye) not in told
    ]
    corrected = {(known.tracker_time_us, known.eye) for known in facts.drift_corrections}
    messages += [
        Message(correction.tracker_time_us, drift_text(correction))
        for correction in recording.drift_corrections
        if (correction.tracker_time_us, correction.eye) not in corrected
    ]
    if not find_trials(recording.messages, blocks):
        for trial in recording.trials:
            messages += _trial_messages(trial)
    return messages


def configuration_messages(block: Block, screen_px: tuple[int, int] | None) -> list[Message]:
    """Return what the tracker says of itself before a block: rate, eyes, mount, screen."""
    eyes = block.stream.eyes
    remote = "R" if TARGET_NAMES[0] in block.extras else ""
    mount = f"{remote}{'B' if eyes == 'LR' else '' if remote else 'M'}TABLER"
    texts = [
        f"{CONFIGURATION_WORD} CR {round(block.stream.sampling_rate_hz)} 2 1 {eyes}",
        f"ELCLCFG {mount}",
    ]
    if screen_px is not None:
        width, height = screen_px
        texts.append(f"GAZE_COORDS 0.00 0.00 {width - 1:.2f} {height - 1:.2f}")
    return [Message(block.start_us, text) for text in texts]


def validation_verdict(mean_error_deg: float, max_error_deg: float) -> str:
    """Return what EyeLink calls a validation with these errors."""
    return next(
        (
            word
            for mean, worst, word in _VERDICTS
            if mean_error_deg < mean and max_error_deg < worst
        ),
        "POOR",
    )


def calibration_text(calibration: Calibration) -> str:
    """Return how EyeLink tells the result of a calibration or validation."""
    eye = calibration.eye
    text = (
        f"!CAL {calibration.kind.upper()} {calibration.model or 'UNKNOWN'} {eye} "
        f"{EYE_WORDS[eye]:5} {calibration.result or 'UNKNOWN'}"
    )
    if calibration.mean_error_deg is None or calibration.max_error_deg is None:
        return text
    return (
        f"{text} ERROR {calibration.mean_error_deg:.2f} avg. {calibration.max_error_deg:.2f} max  "
        "OFFSET 0.00 deg. 0.0,0.0 pix."
    )


def drift_text(correction: DriftCorrection) -> str:
    """Return how EyeLink tells the result of a drift check."""
    eye = correction.eye
    return (
        f"DRIFTCORRECT {eye} {EYE_WORDS[eye]:5} at "
        f"{correction.target_x_px:g},{correction.target_y_px:g}  "
        f"OFFSET {correction.offset_deg:.2f} deg.  "
        f"{correction.offset_x_px:.1f},{correction.offset_y_px:.1f} pix."
    )


def _trial_messages(trial: Trial) -> Iterator[Message]:
    """Yield the vendor's trial protocol."""
    yield Message(trial.start_us, f"TRIALID {trial.name}")
    if trial.image_onset_us is not None:
        yield Message(trial.image_onset_us, "image_onset")
    if trial.image is not None:
        at_us = trial.start_us if trial.image_onset_us is None else trial.image_onset_us
        yield Message(at_us, f"!V IMGLOAD FILL {trial.image}")
    if trial.image_offset_us is not None:
        yield Message(trial.image_offset_us, "image_offset")
    for key, value in trial.variables.items():
        yield Message(trial.end_us, f"!V TRIAL_VAR {key} {value}".rstrip())
    yield Message(trial.end_us, f"TRIAL_RESULT {trial.result or ''}".rstrip())
