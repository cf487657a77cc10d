"""Owner of a device: from opening to saving, the one way in which a session is recorded.

`run_session` adds the experiment's window to it, and `gazelive.Tracker` lends it to a script.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gazelive.clock import Clock
from gazelive.devices import GazeDevice, TellsProblems
from gazelive.errors import GazeliveError
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.process.saving import save
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.gaze import Posterior, ScreenGeometry
from gazelive.live import OwnerLines, Run
from gazelive.recordings import SessionManifest, SessionWriter, new_session_id, now_iso
from gazelive.system import get_logger, log_to_file
from gazelive.triggers import Triggers
from gazelive.wording import printable

log = get_logger(__name__)
LOG_NAME = "experiment.log"
Say = Callable[[str], None]


def new_folder(sessions: Path, who: Participant) -> Path:
    """Return the folder of a session that begins now, in the folder of all sessions."""
    stamp = f"{datetime.now():%Y%m%d-%H%M%S}"
    return sessions / f"{who.viewer or 'identify'}-{who.session:02}-{stamp}"


def new_manifest(
    device: GazeDevice,
    who: Participant,
    *,
    screen: ScreenGeometry | None,
    config: dict[str, Any],
) -> SessionManifest:
    """Return the description of a session that begins now."""
    stream = device.describe()
    return SessionManifest(
        viewer=who.viewer if who.mode == "enrol" else None,
        session=str(who.session),
        id=new_session_id(),
        device=stream.device,
        mode=who.mode,
        started_at=now_iso(),
        screen=screen,
        screen_px=stream.screen_px,
        sampling_rate_hz=stream.sampling_rate_hz,
        config={**config, "host_file": getattr(device, "host_file_name", None)},
    )


class DeviceOwner:
    """A device with its session folder, the connections to the engine, and the device's thread.

    They are opened together, and the end of the `with` closes them in order; call `save` before.
    """

    def __init__(
        self,
        device: GazeDevice,
        folder: Path,
        manifest: SessionManifest,
        *,
        clock: Clock,
        run: Run | None = None,
        triggers: Triggers | None = None,
        say: Say = lambda _text: None,
    ) -> None:
        """Take over an open device, which is closed if this fails; without a `run`, no engine."""
        self.folder = folder
        self._say = say
        self.lines: OwnerLines | None = None
        with ExitStack() as opened:
            opened.callback(device.close)
            opened.callback(self._print_problems, device)
            if run is not None:
                self.lines = OwnerLines(run, device, manifest.id)
                opened.callback(self.lines.close)
            self._writer = opened.enter_context(SessionWriter.create(folder, manifest))
            opened.enter_context(log_to_file(folder / LOG_NAME))
            log.info("%s of %s on %s", manifest.session, manifest.viewer, manifest.device)
            self.device_thread = DeviceThread(
                device,
                self._writer,
                clock=clock,
                sender=None if self.lines is None else self.lines.sender,
                server=self.lines,
                triggers=triggers,
            )
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.__exit__(kind, error, trace)

    def settled_posterior(self) -> Posterior | None:
        """Return the last settled posterior that came since the last call."""
        return None if self.lines is None else self.lines.posteriors.latest_settled()

    def save(
        self,
        reason: str,
        outcome: dict[str, Any],
        *,
        failure: BaseException | None = None,
        show: Callable[[float], None] = lambda _fraction: None,
    ) -> list[Exception]:
        """Stop and save everything, whatever fails; return what failed.

        `outcome` goes into `session.json`. `failure` is what ended the session, if it was no
        orderly end. `show` takes the progress of the transfer of the tracker's own file.
        """
        log.info("ended: %s", reason, exc_info=failure)
        return save(self.device_thread, self._writer, reason, outcome, show=show, say=self._say)

    def _print_problems(self, device: GazeDevice) -> None:
        if isinstance(device, TellsProblems):
            for problem in device.problems:
                self._say(f"The tracker: {problem}")


def reason_of(error: BaseException) -> str:
    """Return why a session ended, for `session.json`."""
    match error:
        case SessionAbortedError() | GazeliveError():
            return str(error)
        case KeyboardInterrupt():
            return "stopped by Ctrl-C"
        case SystemExit():
            return "the script ended early (sys.exit)"
    return f"{type(error).__name__}: {error}"


def is_orderly(error: BaseException | None) -> bool:
    """Return whether a session ended as somebody wanted: then nothing failed."""
    return error is None or isinstance(error, SessionAbortedError | KeyboardInterrupt)


def raise_first(failure: BaseException | None, problems: list[Exception]) -> None:
    """Raise the first failure, if any; warn of each other one once."""
    failures = [*([] if failure is None else [failure]), *problems]
    if failures:
        warn_of_others(failures[0], failures[1:])
        raise failures[0]


def warn_of_others(failure: BaseException, problems: Sequence[BaseException]) -> None:
    """Warn once of each problem that is not the failure, which is raised."""
    for text in dict.fromkeys(str(problem) for problem in problems):
        if text != str(failure):
            print(printable(f"warning: {text}"), file=sys.stderr)


def print_line(text: str) -> None:
    """Print a notice; a closed console is no reason to stop."""
    with contextlib.suppress(OSError):
        print(printable(text), flush=True)
