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
from gazelive.devices import DrawsInWindow, GazeDevice, ReplayDevice, SaliencyOf, saliency_in
from gazelive.errors import GazeliveError, PeerLostError
from gazelive.experiment.config.reading import snapshot
from gazelive.experiment.config.schema import Keys
from gazelive.experiment.display.display import Display, Words
from gazelive.experiment.process.launch import RUN_FLAG, RunSpec, decode_spec
from gazelive.experiment.process.owner import (
    DeviceOwner,
    Say,
    is_orderly,
    new_manifest,
    print_line,
    raise_first,
    reason_of,
)
from gazelive.experiment.process.tracker import open_device
from gazelive.experiment.protocol.plan import Plan, make_plan
from gazelive.experiment.protocol.replayed_session import ReplayedSession, plan_of
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.session import Session
from gazelive.live import START_S as ENGINE_START_S, OwnerLines, find_run
from gazelive.recordings import Recording, SessionManifest, read_recording
from gazelive.system import (
    ignore_signals,
    interrupt_once,
    log_to_stderr,
    python_module,
    replace_unencodable,
)
from gazelive.wording import printable

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
        dashboard=spec.dashboard_screen,
        title=f"{spec.live.folder.name} – gazelive",
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
    say: Say = (lambda _text: None) if spec.quiet else print_line
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
        device = _open_device(spec, clock, recording, saliency_of)
        owner = cleaning.enter_context(
            DeviceOwner(
                device,
                spec.live.folder,
                _manifest(spec, device, plan),
                clock=clock,
                run=None if spec.live.address is None else find_run(spec.live.address),
                say=say,
            )
        )
        if isinstance(device, DrawsInWindow):
            device.use_graphics(display.calibration_graphics())
        simulates = spec.config.tracker.device == "simulated"
        kind = Session if recording is None else ReplayedSession
        session = kind(
            spec.config,
            plan,
            spec.participant,
            display,
            owner.device_thread,
            clock=clock,
            folder=owner.folder,
            attended=spec.config.tracker.device == "eyelink",
            latest_posterior=owner.settled_posterior,
            prepare_image=saliency_of if simulates else lambda _name: None,
            say=say,
            snapshots=spec.snapshots,
        )

        def run() -> None:
            if owner.lines is not None:
                wait_for_engine(owner.lines, display, spec.config.keys)
            display.come_to_front()
            owner.device_thread.open()
            script(session)

        end = _ended_by(run)
        if end is not None:
            session.report.reason = reason_of(end)
        failure = None if is_orderly(end) else end
        problems = owner.save(
            session.report.reason,
            session.outcome(),
            failure=failure,
            show=_progress_in(display),
        )
        raise_first(failure, problems)
    return session


def _ended_by(task: Callable[[], None]) -> BaseException | None:
    """Run a task; return what ended it early, if anything. No later signal disturbs the saving."""
    try:
        task()
        ignore_signals()
    except BaseException as error:
        ignore_signals()
        return error
    return None


def _open_device(
    spec: RunSpec, clock: Clock, recording: Recording | None, saliency_of: SaliencyOf
) -> GazeDevice:
    if recording is not None:
        return ReplayDevice(recording, clock=clock)
    return open_device(
        spec.config.tracker,
        spec.participant,
        spec.config.screen.geometry,
        clock,
        simulated=spec.config.simulated,
        simulate_as=spec.simulate_as,
        saliency_of=saliency_of,
    )


def _progress_in(display: Display) -> Callable[[float], None]:
    """Return what shows a transfer's progress in the window, if that is still there."""
    shown = -1

    def show(fraction: float) -> None:
        nonlocal shown
        if int(fraction * 20) > shown:
            shown = int(fraction * 20)
            with contextlib.suppress(Exception):
                display.show(Words(f"Saving the recording … {fraction:.0%}"))
                display.flip()

    return show


def wait_for_engine(lines: OwnerLines, display: Display, keys: Keys) -> None:
    """Show a notice until the engine is ready; the first time it compiles.

    The experimenter can begin without it; it catches up when it comes.
    """
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
            lines.ask_engine("status", timeout_s=0.1)
            return


def planned(spec: RunSpec, recording: Recording | None) -> Plan:
    """Return the trials to come, of the recording if one is replayed."""
    if recording is not None:
        return plan_of(recording, spec.config, spec.stimuli)
    who = spec.participant
    return make_plan(spec.config, spec.stimuli, who.viewer or spec.simulate_as or "", who.session)


def _manifest(spec: RunSpec, device: GazeDevice, plan: Plan) -> SessionManifest:
    return new_manifest(
        device,
        spec.participant,
        # a replayed recording has its own, or the engine finds it
        screen=device.describe().screen
        if spec.replayed is not None
        else spec.config.screen.geometry,
        config={
            **snapshot(spec.config),
            **spec.label,
            "config_file": str(spec.config_path),
            "n_trials": len(plan.trials),
            "images": [trial.image for trial in plan.trials],
            "seed": plan.seed,
            "windowed": spec.windowed,
            "simulated_viewer": spec.simulate_as,
            "replay_of": None if spec.replayed is None else str(spec.replayed),
        },
    )
