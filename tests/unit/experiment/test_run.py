"""The end of a session: whatever fails, everything else is saved."""

from __future__ import annotations

import errno
import io
from pathlib import Path
from typing import Any

import pytest

from gazelive.errors import ConfigError, DeviceError, GazeliveError, RecordingError
from gazelive.experiment import run
from gazelive.experiment.config.schema import Keys
from gazelive.experiment.display.display import Words
from gazelive.experiment.process import owner
from gazelive.experiment.process.saving import save
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.owner import OwnerLines
from gazelive.live.wire.runs import hold_run
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.system.children import python_module
from gazelive.system.files import storage_error

from .lab import Lab


def finished(tmp_path: Path, **options: Any) -> Lab:
    """Return a lab whose session is over and not saved."""
    lab = Lab(tmp_path / "s", n_images=1, **options)
    scene_viewing(lab.session)
    return lab


def saved(lab: Lab) -> list[Exception]:
    failures = save(
        lab.device_thread,
        lab.device_thread._recorder._writer,
        lab.session.report.reason,
        lab.session.outcome(),
        show=run._progress_in(lab.display),
        say=lab.console.append,
    )
    lab.device_thread.device.close()
    return failures


def test_a_session_is_saved_with_the_trackers_own_file(tmp_path: Path) -> None:
    lab = finished(tmp_path)
    assert saved(lab) == []
    assert (lab.folder / "s.asc").is_file()
    manifest = read_manifest(lab.folder)
    assert manifest.stop_reason == "all images were shown"
    assert manifest.config["outcome"]["trials"] == [[1, "image1.png", "shown"]]
    assert lab.console[-1].startswith("The tracker's own file")


def test_a_disk_that_takes_no_more_does_not_keep_the_rest_from_being_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = finished(tmp_path)
    writer = lab.device_thread._recorder._writer

    def full(**_fields: object) -> None:
        raise RecordingError("the disk is full", path=lab.folder)

    monkeypatch.setattr(writer, "update", full)
    failures = saved(lab)
    assert failures
    assert all("the disk is full" in str(failure) for failure in failures)
    assert len(read_session(lab.folder).trials) == 1
    assert (lab.folder / "s.asc").is_file()


def test_a_window_that_is_gone_does_not_keep_the_file_on_the_tracker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = finished(tmp_path)

    def gone(_scene: object) -> None:
        raise DeviceError("the experiment's window has been closed")

    monkeypatch.setattr(lab.display, "show", gone)
    assert saved(lab) == []
    assert (lab.folder / "s.asc").is_file()


def test_a_missing_host_file_is_reported_as_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = finished(tmp_path)

    def lost(*_arguments: object) -> Path:
        raise DeviceError("the EDF was not received: it is on the Host PC as ANNA_1.EDF")

    monkeypatch.setattr(lab.device_thread.device, "receive_host_file", lost)
    (failure,) = saved(lab)
    assert "ANNA_1.EDF" in str(failure)
    assert read_manifest(lab.folder).finished_at is not None


@pytest.mark.parametrize("key", ["escape", "space"])
def test_an_engine_that_never_comes_can_be_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    lab = Lab(tmp_path / "s")
    holder = hold_run(free_addresses(), lab.folder)
    lines = OwnerLines(holder.run, lab.device_thread.device, "")
    monkeypatch.setattr(run, "ENGINE_LATE_S", 0.0)
    lab.display.press_at = [(lambda d: isinstance(d.scene, Words) and "SPACE" in d.scene.hint, key)]
    try:
        if key == "space":
            run.wait_for_engine(lines, lab.display, Keys())
        else:
            with pytest.raises(SessionAbortedError):
                run.wait_for_engine(lines, lab.display, Keys())
    finally:
        lines.close()
        holder.close()
        lab.device_thread.close("done")
        lab.device_thread.device.close()


def test_a_script_run_by_hand_waits_for_an_orderly_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`subprocess.call` would kill what it waits for, a quarter of a second after Ctrl-C."""
    script = tmp_path / "mine.py"
    commands = []

    class Process:
        returncode: int | None = None

        def __init__(self, command: list[str]) -> None:
            commands.append(command)
            self.n_waits = 0

        def poll(self) -> int | None:
            return self.returncode

        def wait(self) -> None:
            self.n_waits += 1
            if self.n_waits < 3:
                raise KeyboardInterrupt
            self.returncode = 7

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *_error: object) -> None:
            pass

    monkeypatch.setattr(run.subprocess, "Popen", Process)
    monkeypatch.setattr(run.sys, "argv", [str(script), "--viewer", "anna"])
    with pytest.raises(SystemExit) as ended:
        run.main(lambda _session: None)
    assert ended.value.code == 7
    config = str(script.with_suffix(".toml"))
    assert commands == [python_module("gazelive", "record", config, "--viewer", "anna")]


def test_a_closed_console_does_not_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Gone())
    owner.print_line("Trial 3: the cross was not fixated")


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (storage_error(OSError(errno.ENOSPC, "No space left on device"), Path("gaze.journal")), 1),
        (DeviceError("the tracker is gone"), 1),
        (RecordingError("is no recording"), 2),
        (ConfigError("must be a number"), 2),
    ],
)
def test_the_exit_code_tells_a_failure_from_a_mistake(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: GazeliveError,
    exit_code: int,
) -> None:
    def fails(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(run, "run_session", fails)
    nothing: Any = None
    assert run.run_reporting(nothing, nothing, nothing) == exit_code
    assert capsys.readouterr().err == f"error: {error}\n"
