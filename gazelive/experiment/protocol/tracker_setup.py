"""Tracker setup: calibration, validation and drift check, before and between trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gazelive.devices import Calibrates
from gazelive.errors import CalibrationError
from gazelive.experiment.config.schema import ExperimentConfig
from gazelive.experiment.display.display import Blank, Words
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.protocol.stage import Stage
from gazelive.gaze import Message
from gazelive.recordings import Calibration, DriftCorrection, calibration_text, drift_text
from gazelive.wording import EYE_NAMES

TARGET_S = 0.15
"""Duration of each target of a simulated calibration."""


@dataclass
class SetupResults:
    """Results over a session."""

    calibrations: list[Calibration] = field(default_factory=list)
    drift_corrections: list[DriftCorrection] = field(default_factory=list)


class TrackerSetup:
    """Calibrates a tracker as scheduled or requested; skips one without calibration."""

    def __init__(
        self,
        config: ExperimentConfig,
        device_thread: DeviceThread,
        stage: Stage,
        results: SetupResults,
        *,
        attended: bool,
        say: Callable[[str], None],
    ) -> None:
        self._config = config
        self._device_thread = device_thread
        self._stage = stage
        self._results = results
        self._attended = attended
        self._say = say
        self._trials_since_calibration = self._trials_since_check = 0
        self.is_wanted = False
        """True if a calibration before the next trial was requested."""

    def count_trial(self) -> None:
        """Count a trial for the schedule."""
        self._trials_since_calibration += 1
        self._trials_since_check += 1

    def run_due_steps(self) -> None:
        """Calibrate or check drift, if scheduled or requested."""
        schedule = self._config.schedule
        recalibrates = is_due(self._trials_since_calibration, schedule.recalibrate_every_trials)
        if self.is_wanted or recalibrates:
            self.calibrate()
        elif is_due(self._trials_since_check, schedule.drift_check_every_trials):
            self._check_drift()

    def calibrate(self) -> None:
        """Calibrate and validate until the experimenter accepts the result."""
        device = self._device_thread.device
        if not isinstance(device, Calibrates):
            return
        keys = self._config.keys
        self.is_wanted = False
        hint = f"{keys.go_on.upper()}: continue   {keys.recalibrate.upper()}: calibrate again"
        while True:
            try:
                text = validation_text(self._calibrated(device))
            except CalibrationError as error:
                if not self._attended:
                    raise
                # for example, the experimenter left the setup without a result
                text = str(error)[:1].upper() + str(error)[1:]
            self._trials_since_calibration = self._trials_since_check = 0
            self._say(text)
            scene = Words(text, hint if self._attended else "")
            if self._stage.ask(scene, (keys.go_on, keys.recalibrate)) != keys.recalibrate:
                break
        self._stage.show(Blank())

    def _calibrated(self, device: Calibrates) -> tuple[Calibration, ...]:
        self._stage.show(Blank())
        results = calibrate(self._device_thread, device)
        self._results.calibrations += results
        return results

    def _check_drift(self) -> None:
        """Compare gaze with a target; recalibrate if that fails or the drift is large."""
        device = self._device_thread.device
        self._trials_since_check = 0
        if not isinstance(device, Calibrates):
            return
        screen = self._stage.display.screen
        x_px, y_px = round((screen.width_px - 1) / 2), round((screen.height_px - 1) / 2)
        try:
            drifts = check_drift(self._device_thread, device, x_px, y_px)
        except CalibrationError as error:
            self._say(str(error))
            self.calibrate()
            return
        self._stage.show(Blank())
        self._results.drift_corrections += drifts
        worst_deg = max((drift.offset_deg for drift in drifts), default=0.0)
        if worst_deg > self._config.gate.radius_deg:
            self._say(f"Drift of {worst_deg:.1f}°: calibrating again.")
            self.calibrate()


def calibrate(device_thread: DeviceThread, device: Calibrates) -> tuple[Calibration, ...]:
    """Calibrate in the calling thread, and put the results into the session."""
    results = device_thread.lend(device.calibrate)
    for result in results:
        device_thread.note(Message(result.tracker_time_us, calibration_text(result)))
    return results


def check_drift(
    device_thread: DeviceThread, device: Calibrates, x_px: float, y_px: float
) -> tuple[DriftCorrection, ...]:
    """Check the drift in the calling thread, and put the results into the session."""
    drifts = device_thread.lend(lambda: device.check_drift(x_px, y_px))
    for drift in drifts:
        device_thread.note(Message(drift.tracker_time_us, drift_text(drift)))
    return drifts


def is_due(n_trials: int, every: int) -> bool:
    """Return whether a step is due that comes `every` n trials (0: never)."""
    return every > 0 and n_trials >= every


def validation_text(results: tuple[Calibration, ...]) -> str:
    """Return the results of a calibration for the experimenter."""
    lines = [
        f"{EYE_NAMES[result.eye]} {result.result}: mean error {result.mean_error_deg:.2f}°, "
        f"maximum {result.max_error_deg:.2f}°"
        for result in results
        if result.mean_error_deg is not None and result.max_error_deg is not None
    ]
    return "Validation\n\n" + "\n".join(lines) if lines else "Calibrated, not validated"
