"""Calibration, validation and drift check between trials, in the experiment's window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gazelive.config.schema import ExperimentConfig
from gazelive.devices.protocol import Calibrates
from gazelive.errors import CalibrationError
from gazelive.experiment.desk import Desk
from gazelive.experiment.display import Blank, Words
from gazelive.experiment.stage import Stage
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Calibration, DriftCorrection
from gazelive.recordings.tracker_messages import calibration_text, drift_text


@dataclass
class SetUpResults:
    """What was found, over a session."""

    calibrations: list[Calibration] = field(default_factory=list)
    drift_corrections: list[DriftCorrection] = field(default_factory=list)


class SettingUp:
    """Sets a tracker up, and again as scheduled; one that cannot be calibrated is left alone."""

    def __init__(
        self,
        config: ExperimentConfig,
        desk: Desk,
        stage: Stage,
        results: SetUpResults,
        *,
        attended: bool,
        say: Callable[[str], None],
    ) -> None:
        self._config = config
        self._desk = desk
        self._stage = stage
        self._results = results
        self._attended = attended
        self._say = say
        self._trials_since_calibration = self._trials_since_check = 0
        self.is_wanted = False
        """Whether somebody asked for a calibration before the next trial."""

    def count_trial(self) -> None:
        """Take it that a trial was shown."""
        self._trials_since_calibration += 1
        self._trials_since_check += 1

    def do_what_is_due(self) -> None:
        """Calibrate or check drift, if the schedule or somebody wants it."""
        schedule = self._config.schedule
        recalibrates = is_due(self._trials_since_calibration, schedule.recalibrate_every_trials)
        if self.is_wanted or recalibrates:
            self.calibrate()
        elif is_due(self._trials_since_check, schedule.drift_check_every_trials):
            self._check_drift()

    def calibrate(self) -> None:
        """Calibrate and validate, again until the experimenter is content."""
        device = self._desk.device
        if not isinstance(device, Calibrates):
            return
        keys = self._config.keys
        self.is_wanted = False
        hint = f"{keys.go_on.upper()}: go on   {keys.recalibrate.upper()}: calibrate again"
        while True:
            try:
                told = _validation_told(self._calibrated(device))
            except CalibrationError as error:
                if not self._attended:
                    raise
                # the experimenter left the set-up without a result, say
                told = str(error)[:1].upper() + str(error)[1:]
            self._trials_since_calibration = self._trials_since_check = 0
            self._say(told)
            scene = Words(told, hint if self._attended else "")
            if self._stage.ask(scene, (keys.go_on, keys.recalibrate)) != keys.recalibrate:
                break
        self._stage.show(Blank())

    def _calibrated(self, device: Calibrates) -> tuple[Calibration, ...]:
        self._stage.show(Blank())
        results = self._desk.lend(device.calibrate)
        self._results.calibrations += results
        for result in results:
            self._desk.note(Message(result.tracker_time_us, calibration_text(result)))
        return results

    def _check_drift(self) -> None:
        """Compare gaze with a target; where that fails or is far off, calibrate again."""
        device = self._desk.device
        self._trials_since_check = 0
        if not isinstance(device, Calibrates):
            return
        screen = self._stage.display.screen
        x_px, y_px = round((screen.width_px - 1) / 2), round((screen.height_px - 1) / 2)
        try:
            drifts = self._desk.lend(lambda: device.check_drift(x_px, y_px))
        except CalibrationError as error:
            self._say(str(error))
            self.calibrate()
            return
        self._stage.show(Blank())
        self._results.drift_corrections += drifts
        for drift in drifts:
            self._desk.note(Message(drift.tracker_time_us, drift_text(drift)))
        worst_deg = max((drift.offset_deg for drift in drifts), default=0.0)
        if worst_deg > self._config.gate.radius_deg:
            self._say(f"Drift of {worst_deg:.1f}°: calibrating again.")
            self.calibrate()


def is_due(n_trials: int, every: int) -> bool:
    """Say whether something that comes `every` so many trials (0: never) is due."""
    return every > 0 and n_trials >= every


def _validation_told(results: tuple[Calibration, ...]) -> str:
    words = {"L": "left", "R": "right"}
    told = [
        f"{words[result.eye]} eye {result.result}: {result.mean_error_deg:.2f}° on average, "
        f"{result.max_error_deg:.2f}° at worst"
        for result in results
        if result.mean_error_deg is not None and result.max_error_deg is not None
    ]
    return "Validation\n\n" + "\n".join(told) if told else "Calibrated, not validated"
