"""The experiment's process: window, tracker and session folder, from opening to closing."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from gazelive.clock import Clock, MonotonicClock
from gazelive.devices import DrawsInWindow, GazeDevice, TellsProblems, saliency_in
from gazelive.errors import GazeliveError, PeerLostError
from gazelive.experiment.config.reading import snapshot
from gazelive.experiment.config.schema import Keys
from gazelive.experiment.display.display import Display, Words
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.process.launch import RUN_FLAG, RunSpec, decode_spec
from gazelive.experiment.process.saving import save
from gazelive.experiment.process.tracker import open_device
from gazelive.experiment.protocol.plan import Plan, make_plan
from gazelive.experiment.protocol.replayed_session import ReplayedSession, plan_of
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.session import Session
from gazelive.gaze import Posterior
from gazelive.live import (
    START_S as ENGINE_START_S,
    ChunkSender,
    DeviceControl,
    OwnerLines,
    find_run,
)
from gazelive.recordings import (
    Recording,
    SessionManifest,
    SessionWriter,
    new_session_id,
    now_iso,
    read_recording,
)
from gazelive.system import (
    get_logger,
    ignore_signals,
    interrupt_once,
    log_to_file,
    log_to_stderr,
    python_module,
    replace_unencodable,
)
from gazelive.wording import printable

log = get_logger(__name__)
LOG_NAME = "experiment.log"
ENGINE_LATE_S = 15.0
"""After this time the experimenter can continue without the engine."""

Script = Callable[[Session], None]
OpenDisplay = Callable[[RunSpec, Clock], Display]


def main(script: Script, opens: OpenDisplay | None = None) -> None:
    """Run `script` for a session; called by the files in `experiments/`.

    Run by hand it lets `gazelive record` start everything, which runs it again. `opens` makes
    another display than a window.
    """
    replace_unencodable()
    arguments = sys.argv[1:]
    if arguments[:1] == [RUN_FLAG]:
        interrupt_once()
        log_to_stderr()
        sys.exit(run_reporting(decode_spec(arguments[1]), script, opens or open_display))
    config = Path(sys.argv[0]).with_suffix(".toml")
    command = python_module("gazelive", "record", str(config), *arguments)
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            with contextlib.suppress(KeyboardInterrupt):  # the child got it too and ends in order
                process.wait()
    sys.exit(process.returncode)


def run_reporting(spec: RunSpec, script: Script, opens: OpenDisplay) -> int:
    """Run a session, print an error as one sentence, and return the exit code."""
    try:
        run_session(spec, script, opens)
    except GazeliveError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped before the session had begun", file=sys.stderr)
        return 1
    return 0


def open_display(spec: RunSpec, clock: Clock) -> Display:
    """Open the window.

    On a screen of another shape than the configured one gaze would be off, so a real tracker's
    session is refused there; for a simulated or replayed one a window to scale will do.
    """
    from gazelive.experiment.display.psychopy_display import PsychoPyDisplay
    from gazelive.experiment.display.psychopy_window import fits_screen

    screen = spec.config.screen
    windowed = spec.windowed
    if spec.config.tracker.device != "eyelink" and not (windowed or fits_screen(screen)):
        print("warning: the screen has another shape: a window shows it to scale", file=sys.stderr)
        windowed = True
    return PsychoPyDisplay(
        screen,
        clock=clock,
        windowed=windowed,
        size_px=spec.window_px,
        close_key=spec.config.keys.abort,
    )


def run_session(
    spec: RunSpec, script: Script, opens: OpenDisplay, clock: Clock | None = None
) -> Session:
    """Run a session from opening to closing; the recording is saved whatever happens.

    An abort by key, by Ctrl-C or from the dashboard is an orderly end. A failure is raised after
    everything was closed.
    """
    clock = MonotonicClock() if clock is None else clock
    say: Callable[[str], None] = (lambda _text: None) if spec.quiet else _print
    with ExitStack() as cleaning:
        replayed = spec.replayed
        recording = None if replayed is None else read_recording(replayed)
        if recording is not None and recording.problems:
            first = recording.problems[0].text
            say(f"The recording is damaged (see gazelive info): {first}")
        saliency_of = saliency_in(spec.stimuli)
        plan = planned(spec, recording)
        display = opens(spec, clock)
        cleaning.callback(display.close)
        device = open_device(spec, clock, recording=recording, saliency_of=saliency_of)
        cleaning.callback(device.close)
        if isinstance(device, DrawsInWindow):
            device.use_graphics(display.calibration_graphics())
        cleaning.callback(_print_problems, device, say)
        manifest = _manifest(spec, device, plan)
        lines = _Lines(spec.live.address, device, manifest.id)
        cleaning.callback(lines.close)
        writer = SessionWriter.create(spec.live.folder, manifest)
        cleaning.enter_context(writer)
        cleaning.enter_context(log_to_file(writer.folder / LOG_NAME))
        log.info("%s, device %s", spec.participant, spec.config.tracker.device)
        device_thread = DeviceThread(
            device, writer, clock=clock, sender=lines.sender, server=lines.control
        )
        simulates = spec.config.tracker.device == "simulated"
        kind = Session if recording is None else ReplayedSession
        session = kind(
            spec.config,
            plan,
            spec.participant,
            display,
            device_thread,
            clock=clock,
            folder=writer.folder,
            attended=spec.config.tracker.device == "eyelink",
            latest_posterior=lines.latest_posterior,
            prepare_image=saliency_of if simulates else lambda _name: None,
            say=say,
            snapshots=spec.snapshots,
        )

        def run() -> None:
            lines.wait_for_engine(display, spec.config.keys)
            display.come_to_front()
            device_thread.open()
            script(session)

        failure = _failure_of(run, session)
        log.info("ended: %s", session.report.reason, exc_info=failure)
        _raise_first(failure, save(session, device_thread, display, writer, say))
    return session


def _failure_of(run: Callable[[], None], session: Session) -> BaseException | None:
    """Run a session and write down why it ended; return what failed, if it was no orderly end.

    From then on no signal disturbs the saving.
    """
    failure: BaseException | None = None
    try:
        run()
        ignore_signals()
    except SessionAbortedError as abort:
        session.report.reason = str(abort)
    except KeyboardInterrupt:
        session.report.reason = "stopped by Ctrl-C"
    except BaseException as error:
        is_known = isinstance(error, GazeliveError)
        session.report.reason = str(error) if is_known else f"{type(error).__name__}: {error}"
        failure = error
    ignore_signals()
    return failure


def _raise_first(failure: BaseException | None, problems: list[Exception]) -> None:
    """Raise the first failure, if any; warn of each other one once."""
    failures = [*([] if failure is None else [failure]), *problems]
    if not failures:
        return
    printed = {str(failures[0])}
    for problem in failures[1:]:
        if str(problem) not in printed:
            print(f"warning: {problem}", file=sys.stderr)
            printed.add(str(problem))
    raise failures[0]


class _Lines:
    """Connections to and from the engine, if there is one."""

    def __init__(self, address: str | None, device: GazeDevice, session: str) -> None:
        self.sender: ChunkSender | None = None
        self.control: DeviceControl | None = None
        self._lines: OwnerLines | None = None
        if address is None:
            return
        self._lines = OwnerLines(find_run(address), device, session)
        self.sender, self.control = self._lines.sender, self._lines.control

    def wait_for_engine(self, display: Display, keys: Keys) -> None:
        """Show a notice until the engine is ready; the first time it compiles.

        The experimenter can begin without it; it catches up when it comes.
        """
        if self._lines is None:
            return
        display.show(Words("One moment …"))
        began_s = time.monotonic()
        is_late = False
        while time.monotonic() < began_s + ENGINE_START_S:
            if not is_late and time.monotonic() > began_s + ENGINE_LATE_S:
                is_late = True
                hint = f"The engine is not ready. Press {keys.go_on.upper()} to begin without it"
                display.show(Words("One moment …", hint))
            display.flip()
            pressed = display.pressed()
            if keys.abort in pressed:
                raise SessionAbortedError("aborted by the experimenter")
            if is_late and keys.go_on in pressed:
                return
            with contextlib.suppress(PeerLostError):
                self._lines.ask_engine("status", timeout_s=0.1)
                return

    def latest_posterior(self) -> Posterior | None:
        """Return the last settled posterior that came since the last call."""
        return None if self._lines is None else self._lines.posteriors.latest()

    def close(self) -> None:
        """Close the sockets; the last messages have a moment to leave."""
        if self._lines is not None:
            self._lines.close()


def planned(spec: RunSpec, recording: Recording | None) -> Plan:
    """Return the trials to come, of the recording if one is replayed."""
    if recording is not None:
        return plan_of(recording, spec.config, spec.stimuli)
    who = spec.participant
    return make_plan(spec.config, spec.stimuli, who.viewer or spec.simulate_as or "", who.session)


def _manifest(spec: RunSpec, device: GazeDevice, plan: Plan) -> SessionManifest:
    who, config = spec.participant, spec.config
    stream = device.describe()
    return SessionManifest(
        viewer=who.viewer if who.mode == "enrol" else None,
        session=str(who.session),
        id=new_session_id(),
        device=stream.device,
        mode=who.mode,
        started_at=now_iso(),
        # a replayed recording has its own, or the engine finds it
        screen=stream.screen if spec.replayed is not None else config.screen.geometry,
        screen_px=stream.screen_px,
        sampling_rate_hz=stream.sampling_rate_hz,
        config={
            **snapshot(config),
            **spec.label,
            "config_file": str(spec.config_path),
            "n_trials": len(plan.trials),
            "images": [trial.image for trial in plan.trials],
            "seed": plan.seed,
            "windowed": spec.windowed,
            "host_file": getattr(device, "host_file_name", None),
            "simulated_viewer": spec.simulate_as,
            "replay_of": None if spec.replayed is None else str(spec.replayed),
        },
    )


def _print_problems(device: GazeDevice, say: Callable[[str], None]) -> None:
    if isinstance(device, TellsProblems):
        for problem in device.problems:
            say(f"The tracker: {problem}")


def _print(text: str) -> None:
    with contextlib.suppress(OSError):  # a closed pipe is no reason to stop
        print(printable(text), flush=True)
