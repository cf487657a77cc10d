"""`gazelive.Tracker`: a tracker for scripts of other people, with the guarantees of `record`."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import msgspec

from gazelive.clock import Clock, MonotonicClock
from gazelive.devices import (
    Calibrates,
    DrawsInWindow,
    GazeDevice,
    LooksAtTargets,
    ReplayDevice,
)
from gazelive.errors import CalibrationError, ConfigError
from gazelive.experiment.config.reading import replay_file
from gazelive.experiment.config.schema import Identify, Simulated, Tracker as TrackerTable
from gazelive.experiment.display.display import Participant, Target
from gazelive.experiment.display.script_window import RectanglePx, ScriptWindow, screen_of
from gazelive.experiment.process.owner import (
    DeviceOwner,
    is_orderly,
    new_folder,
    new_manifest,
    raise_first,
    reason_of,
    warn_of_others,
)
from gazelive.experiment.process.preparation import check_model
from gazelive.experiment.process.tracker import open_device
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.protocol.tracker_setup import (
    TARGET_S,
    calibrate,
    check_drift,
    validation_text,
)
from gazelive.experiment.tracker.companions import Companions
from gazelive.experiment.tracker.observer import ScriptObserver
from gazelive.experiment.tracker.options import checked_participant, checked_tables
from gazelive.experiment.tracker.pictures import Pictures
from gazelive.experiment.tracker.posterior import LivePosterior, named
from gazelive.experiment.tracker.trial import Trial
from gazelive.experiment.tracker.trial_recorder import TrialRecorder
from gazelive.gaze import PAPER_SCREEN, Eyes, ScreenGeometry
from gazelive.live import Addresses, DashboardSettings, LiveSettings, reserve_addresses
from gazelive.recordings import (
    Calibration,
    DriftCorrection,
    GeometryFlags,
    Recording,
    read_recording,
)
from gazelive.system import EndSignals, is_first_compile, killed_in_order
from gazelive.triggers import Rectangle, Triggers
from gazelive.verdict import STRANGER_PRIOR

PathLike: TypeAlias = str | os.PathLike[str]


class Tracker:
    """An eye tracker for your own PsychoPy script.

    ::

        with gazelive.Tracker("eyelink", window=win, screen=screen, viewer="p07") as tracker:
            tracker.calibrate()
            with tracker.trial("7", image="faces/07.jpg") as trial:
                win.callOnFlip(trial.shown)
                win.flip()
                saccade = trial.wait_saccade(timeout_s=2)

    The device is read in a thread of its own, and every sample is on disk before anything else
    sees it. However the `with` ends (its end, an exception, Ctrl-C, `sys.exit`), recording stops,
    the session folder is closed with the reason, the tracker's own file is fetched, and engine and
    dashboard end. Without `with`, call `close`; a script that forgets it is closed as it exits.

    Use it in one thread. docs/own-experiment.md has more.
    """

    def __init__(
        self,
        device: str,
        *,
        screen: ScreenGeometry | None = None,
        window: Any = None,
        out: PathLike = "sessions",
        viewer: str | None = None,
        session: int | None = None,
        eyes: Eyes = "R",
        sampling_rate_hz: int = 1000,
        address: str = "100.1.1.1",
        calibration_type: str = "HV9",
        link_filter: Literal["off", "standard", "extra"] = "standard",
        model: PathLike | None = None,
        false_acceptance_rate: float | None = None,
        stranger_prior: float = STRANGER_PRIOR,
        stimuli: PathLike | None = None,
        dashboard: bool = False,
        engine: bool | None = None,
        bind: str | None = None,
        keys: PathLike | None = None,
        lsl: bool = False,
        simulate_as: str | None = None,
        quiet: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Connect to the tracker and start a session.

        `device` is "eyelink", "simulated", or "replay:FILE". `window` is your PsychoPy window, in
        which the tracker calibrates. `screen` may be omitted if the window's monitor has a width
        and a distance. The session folder is made in `out`. `viewer` is the participant's id; None
        is a session to identify them.

        With a `model`, `dashboard`, `lsl`, `bind` or `keys` there is an engine, or with
        `engine=True`. `stimuli` is the folder of the images, for the dashboard, for models that
        use them, and for `trial(image=...)`. `simulate_as` is the simulated person, by default the
        viewer. `clock` is for tests.
        """
        self._clock = MonotonicClock() if clock is None else clock
        self._observer = ScriptObserver(quiet=quiet)
        folder = None if stimuli is None else Path(stimuli).absolute()
        recording = _replayed(device)
        self.screen = screen or _screen(window, recording)
        tracker, identify = checked_tables(
            self.screen,
            {
                "device": device,
                "address": address,
                "sampling_rate_hz": sampling_rate_hz,
                "eyes": eyes,
                "link_filter": link_filter,
                "calibration_type": calibration_type,
            },
            {
                "model": None if model is None else str(model),
                "stranger_prior": stranger_prior,
                "false_acceptance_rate": false_acceptance_rate,
            },
        )
        if simulate_as is not None and device != "simulated":
            raise ConfigError(f'needs device "simulated", not "{device}"', key="simulate_as")
        if device == "eyelink" and window is None:
            raise ConfigError("an EyeLink needs your PsychoPy window, to calibrate", key="window")
        sessions = Path(out).absolute()
        who = checked_participant(sessions, viewer, session, eyes, simulate_as)
        self.folder = new_folder(sessions, who)
        """The session folder."""
        self._viewers: tuple[str, ...] = ()
        if model is not None:
            self._viewers = check_model(tracker, Path(model), self._observer)
        self._window = None if window is None else ScriptWindow(window, self.screen)
        self._check_window(device)
        self._pictures = Pictures(self.screen, self._window, folder)
        wants_engine = any((model is not None, dashboard, lsl, bind, keys))
        settings = None
        if wants_engine if engine is None else engine:
            settings = self._settings(
                identify,
                images=() if folder is None else (folder,),
                dashboard=dashboard,
                bind=bind,
                keys=keys,
                lsl=lsl,
                recording=recording,
            )
        self._closed = self._is_saved = False
        self._open(tracker, identify, who, settings, recording, simulate_as)
        atexit.register(self._close_at_exit)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        """Close; a stop from the dashboard or the Host PC ends the `with` and nothing else."""
        self._close("the script ended" if error is None else reason_of(error), error)
        return isinstance(error, SessionAbortedError)

    # what scripts use

    def calibrate(self) -> tuple[Calibration, ...]:
        """Calibrate and validate in the window; return the results of each eye.

        On the EyeLink, the operator leaves the set-up when they are content; the result is empty
        if they did so without a calibration. A simulated viewer is calibrated at once, and a
        replayed one not at all.
        """
        device = self._between_trials()
        if not isinstance(device, Calibrates):
            return ()
        try:
            with self._borrowed_window():
                results = calibrate(self._owner.device_thread, device)
        except CalibrationError as error:
            self._observer.warn(str(error))
            return ()
        self._observer.say(validation_text(results).replace("\n\n", ": ").replace("\n", "; "))
        return results

    def check_drift(
        self, x_px: float | None = None, y_px: float | None = None
    ) -> tuple[DriftCorrection, ...]:
        """Measure the error of gaze at a target on the screen (default: its centre).

        A check that the operator leaves with Esc, or that fails, is followed by a calibration.
        """
        device = self._between_trials()
        if not isinstance(device, Calibrates):
            return ()
        x_px = (self.screen.width_px - 1) / 2 if x_px is None else x_px
        y_px = (self.screen.height_px - 1) / 2 if y_px is None else y_px
        try:
            with self._borrowed_window():
                return check_drift(self._owner.device_thread, device, x_px, y_px)
        except CalibrationError as error:
            self._observer.warn(str(error))
        self.calibrate()
        return ()

    def trial(
        self,
        name: str | int,
        *,
        image: Any = None,
        rectangle_px: RectanglePx | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> Trial:
        """Return a trial: `with tracker.trial("7", image="faces/07.jpg") as trial:` records it.

        `image` is a file, or a PsychoPy stimulus such as an `ImageStim`, which also says where it
        is; a file is taken as centred and in its own size, unless `rectangle_px` says otherwise
        (left, top, width, height in screen pixels). `variables` are stored with the trial. If the
        dashboard asked for a calibration, it comes first.
        """
        self._require_open()
        self._recorder.require_none()
        if self._owner.device_thread.take_calibration_request():
            self.calibrate()
        picture = None if image is None else self._pictures.of(image, rectangle_px)
        if picture is not None and self._simulates:
            self._pictures.saliency_of(str(picture.path))  # now, not at the onset
        trial = Trial(
            self._recorder,
            self._triggers,
            " ".join(str(name).split()),
            picture,
            latest_posterior=lambda: self.posterior,
            position=self.position,
        )
        trial.variables.update(variables or {})
        return trial

    def message(self, text: str) -> None:
        """Send a message with the time of now; inside a trial, `trial.message` is the same."""
        self._require_open()
        self._recorder.message(text)

    def position(self, x_px: float, y_px: float) -> tuple[float, float]:
        """Return a screen position in PsychoPy's units `pix`: from the centre, y upwards."""
        if self._window is not None:
            return self._window.position(x_px, y_px)
        return x_px - (self.screen.width_px - 1) / 2, (self.screen.height_px - 1) / 2 - y_px

    def area_of(self, stimulus: Any, margin_px: float = 0.0) -> Rectangle:
        """Return the rectangle around a PsychoPy stimulus as an area that gaze may enter."""
        if self._window is None:
            raise ConfigError("needs your PsychoPy window: gazelive.Tracker(..., window=win)")
        left, top, width, height = self._window.rectangle_px(stimulus)
        return Rectangle(
            left + (width - 1) / 2,
            top + (height - 1) / 2,
            width + 2 * margin_px,
            height + 2 * margin_px,
            unit="px",
        )

    @property
    def posterior(self) -> LivePosterior | None:
        """The newest posterior; None without a model, or before the first saccade."""
        posteriors = None if self._owner.lines is None else self._owner.lines.posteriors
        document = None if posteriors is None else posteriors.newest()
        if posteriors is None or document is None or not document.leading:
            return None
        model = posteriors.model
        return named(document, self._viewers if model is None else model.viewer_ids)

    def close(self) -> None:
        """End the session in order; a second call does nothing."""
        self._close("the script ended", None)

    # opening

    def _settings(
        self,
        identify: Identify,
        *,
        images: tuple[Path, ...],
        dashboard: bool,
        bind: str | None,
        keys: PathLike | None,
        lsl: bool,
        recording: Recording | None,
    ) -> LiveSettings:
        """Return the settings of the engine, checked."""
        settings = LiveSettings(
            folder=self.folder,
            address=str(reserve_addresses() if bind is None else Addresses.parse(bind)),
            model=None if identify.model is None else Path(identify.model).absolute(),
            keys=None if keys is None else Path(keys),
            lsl=lsl,
            stranger_prior=identify.stranger_prior,
            false_acceptance_rate=identify.false_acceptance_rate,
            images=images,
            dashboard=DashboardSettings() if dashboard else None,
            geometry=GeometryFlags() if recording is None else GeometryFlags.of(self.screen),
        )
        settings.check()
        return settings

    def _open(
        self,
        tracker: TrackerTable,
        identify: Identify,
        who: Participant,
        settings: LiveSettings | None,
        recording: Recording | None,
        simulate_as: str | None,
    ) -> None:
        """Open everything, or nothing."""
        self._simulates = tracker.device == "simulated"
        with ExitStack() as opened:
            opened.enter_context(killed_in_order())
            companions = None
            if settings is not None:
                if is_first_compile("online_kernels"):
                    self._observer.say("Compiling numerical kernels: a minute, once.")
                companions = Companions(settings, self._observer)
                opened.callback(companions.close)
                opened.callback(self._settle, companions)
            device: GazeDevice
            if recording is not None:
                device = ReplayDevice(recording, clock=self._clock)
            else:
                device = open_device(
                    tracker,
                    who,
                    self.screen,
                    self._clock,
                    simulated=Simulated(),
                    simulate_as=simulate_as,
                    saliency_of=self._pictures.saliency_of,
                )
            opened.callback(device.close)
            self._connect_window(device)
            if companions is not None:
                companions.wait_ready()
            self._triggers = Triggers(self.screen, self._clock)
            manifest = new_manifest(
                device,
                who,
                screen=self.screen,
                config={
                    "script": sys.argv[0],
                    "tracker": msgspec.to_builtins(tracker),
                    "identify": msgspec.to_builtins(identify),
                    "simulated_viewer": (simulate_as or who.viewer) if self._simulates else None,
                    "replay_of": None if recording is None else str(recording.path),
                },
            )
            self._owner = opened.enter_context(
                DeviceOwner(
                    device,
                    self.folder,
                    manifest,
                    clock=self._clock,
                    run=None if companions is None else companions.run,
                    triggers=self._triggers,
                    say=self._observer.say,
                )
            )
            self._recorder = TrialRecorder(
                self._owner.device_thread,
                self.screen,
                clock=self._clock,
                folder=self.folder,
                background_grey=128 if self._window is None else self._window.background_grey,
            )
            self._owner.device_thread.open()
            self._opened = opened.pop_all()

    def _connect_window(self, device: GazeDevice) -> None:
        """Let the device calibrate in the window."""
        if self._window is None:
            return
        if isinstance(device, DrawsInWindow):
            with self._window.borrowed():
                device.use_graphics(self._window.calibration_graphics())
        if isinstance(device, LooksAtTargets):
            device.on_target = self._show_target

    def _show_target(self, x_px: float, y_px: float) -> None:
        assert self._window is not None
        self._window.show(Target(x_px, y_px))
        self._clock.sleep_until_s(self._clock.now_s() + TARGET_S)

    def _check_window(self, device: str) -> None:
        """Warn if gaze on the whole screen would not be where the window shows things."""
        if device == "eyelink" and self._window is not None:
            width_px, height_px = self._window.size_px
            if (width_px, height_px) != self.screen.size_px:
                self._observer.warn(
                    f"the window has {width_px}x{height_px} pixels, the screen "
                    f"{self.screen.width_px}x{self.screen.height_px}: gaze is measured on the "
                    "whole screen, so open the window with fullscr=True"
                )

    # during the session

    def _between_trials(self) -> GazeDevice:
        self._require_open()
        self._recorder.require_none()
        return self._owner.device_thread.device

    def _require_open(self) -> None:
        if self._closed:
            raise ConfigError("the tracker was closed: make a new one for another session")

    def _borrowed_window(self) -> Any:
        return nullcontext() if self._window is None else self._window.borrowed()

    # closing

    def _close(self, reason: str, error: BaseException | None) -> None:
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self._close_at_exit)
        with EndSignals(self._hear) as signals, self._opened:
            self._triggers.close()
            failure = None if is_orderly(error) else error
            problems = self._owner.save(reason, self._recorder.outcome(), failure=failure)
            self._is_saved = True
        self._observer.say(f"Wrote {self.folder} ({reason})")
        if error is not None:
            warn_of_others(error, problems)
            return
        raise_first(None, problems)
        if signals.count:
            raise KeyboardInterrupt

    def _hear(self, count: int) -> None:
        if count > 1:
            raise KeyboardInterrupt
        self._observer.say("Saving the session … (Ctrl-C again: at once)")

    def _settle(self, companions: Companions) -> None:
        if self._is_saved:
            companions.settle()

    def _close_at_exit(self) -> None:
        error = getattr(sys, "last_value", None)  # what ended the script, if anything did
        reason = "the script did not close the tracker"
        self._close(reason if error is None else reason_of(error), error)


def _replayed(device: str) -> Recording | None:
    name = replay_file(device) if isinstance(device, str) else None
    if not name:
        return None
    if not Path(name).exists():
        raise ConfigError("there is no such recording", path=Path(name), key="device")
    return read_recording(Path(name))


def _screen(window: Any, recording: Recording | None) -> ScreenGeometry:
    """Return the screen of a recording, or of the window's monitor."""
    if recording is not None and recording.screen is not None:
        return recording.screen
    if window is not None:
        return screen_of(window)
    return PAPER_SCREEN
