"""`gazelive dashboard`, from its options to a saved figure."""

import os
import signal
import subprocess
import sys
import threading

import pytest
import typer
from typer.testing import CliRunner

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from PyQt6.QtCore import QTimer
from PyQt6.QtGui import QImage

import gazelive.dashboard
from gazelive.cli.dashboard import dashboard
from gazelive.dashboard.feed import ZmqFeed
from gazelive.dashboard.window.application import require_display, run_dashboard
from gazelive.errors import ConfigError, TransportError
from gazelive.gaze.documents import RunStopped
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.keys import make_keys
from gazelive.live.wire.runs import hold_run
from gazelive.system import python_module

from .sent import a_whole_run
from .small_engine import Engine


@pytest.fixture
def command():
    app = typer.Typer()
    app.command()(dashboard)

    def run(*arguments):
        return CliRunner().invoke(app, list(map(str, arguments)))

    return run


@pytest.fixture
def started(monkeypatch):
    """Return what the window is started with, instead of starting it."""
    calls = []

    def note(feed, **options):
        calls.append({"source": feed.source, **options})
        return 0

    monkeypatch.setattr("gazelive.dashboard.run_dashboard", note)
    return calls


def test_it_waits_for_a_run_and_finds_the_newest(command, started, tmp_path, monkeypatch):
    monkeypatch.setenv("GAZELIVE_RUNS", str(tmp_path))
    assert command().exit_code == 0
    assert "newest run" in started[0]["source"]
    with hold_run(free_addresses(), tmp_path), hold_run(free_addresses(), tmp_path) as newest:
        assert command().exit_code == 0
    assert started[1]["source"] == newest.run.address


def test_options_are_applied(command, started, tmp_path):
    result = command(
        *("--connect", "127.0.0.1:7000", "--images", tmp_path, "--size", "1600x900"),
        *("--save", tmp_path / "run.svg", "--monitor", "1", "--beside", "0", "--hide-viewer"),
    )
    assert result.exit_code == 0
    assert not started[0].pop("is_left_alone")(), "started by hand, it stays"
    assert started == [
        {
            "source": "127.0.0.1:7000",
            "image_folders": [tmp_path],
            "save": tmp_path / "run.svg",
            "size": (1600, 900),
            "monitor": 1,
            "beside": 0,
            "hide_viewer": True,
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("--connect", "tcp://10.0.0.7:5870"), TransportError, "needs keys"),
        (("--connect", "not an address"), ConfigError, "must be an address"),
        (("--size", "large"), ConfigError, "1280x800"),
        (("--size", "0x800"), ConfigError, "1280x800"),
        (("--save", "no/such/folder/run.png"), ConfigError, "no such folder"),
        (("--save", "run.bmp"), ConfigError, "must end in"),
    ],
)
def test_wrong_options_are_refused(command, started, arguments, error, words):
    result = command(*arguments)
    assert isinstance(result.exception, error)
    assert words in str(result.exception)
    assert not started


def test_another_computer_takes_keys(command, started, tmp_path):
    keys = make_keys(tmp_path / "keys", "office")
    assert command("--connect", "tcp://10.0.0.7:5870", "--keys", keys).exit_code == 0
    assert started[0]["source"] == "tcp://10.0.0.7:5870"


def test_without_qt_the_error_names_the_extra(command, monkeypatch):
    monkeypatch.delitem(vars(gazelive.dashboard), "run_dashboard", raising=False)
    monkeypatch.setitem(sys.modules, "gazelive.dashboard.window.application", None)
    result = command()
    assert isinstance(result.exception, ConfigError)
    assert "gazelive[dashboard]" in str(result.exception)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="others always have a display")
def test_without_a_display_there_is_an_error(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match="no display"):
        require_display()
    monkeypatch.setenv("DISPLAY", ":0")
    require_display()


def test_the_window_is_saved_when_the_run_ends(qapp, tmp_path):
    where = free_addresses()
    engine = Engine(where.documents, where.control)
    over = threading.Event()

    def perform():
        engine.asked.wait(120)
        while not over.wait(0.05):
            engine.send(*a_whole_run(), RunStopped(reason="finished"))

    show = threading.Thread(target=perform)
    show.start()
    handler = signal.getsignal(signal.SIGINT)
    try:
        code = run_dashboard(
            ZmqFeed(where.documents, where.control),
            preferences=tmp_path / "new" / "dashboard.ini",
            save=tmp_path / "run.png",
            size=(1300, 820),
        )
    finally:
        over.set()
        show.join()
        engine.die()
    assert code == 0
    picture = QImage(str(tmp_path / "run.png"))
    assert (picture.width(), picture.height()) == (1300, 820)
    assert (tmp_path / "new" / "dashboard.ini").is_file()
    assert signal.getsignal(signal.SIGINT) is handler


def test_left_alone_it_closes_once_the_run_is_over(qapp, tmp_path):
    """Whoever started it was killed: it shows the run to its end, and nobody has to close it."""
    where = free_addresses()
    engine = Engine(where.documents, where.control)
    looks: list[bool] = []
    closed = threading.Event()

    def perform():
        engine.asked.wait(120)
        while not closed.wait(0.05):
            engine.send(*a_whole_run())
            if len(looks) > 5:  # it was alone for a while, and open
                engine.send(RunStopped(reason="the process that started the engine is gone"))

    def is_left_alone() -> bool:
        looks.append(True)
        return True

    show = threading.Thread(target=perform)
    show.start()
    try:
        code = run_dashboard(
            ZmqFeed(where.documents, where.control),
            preferences=tmp_path / "dashboard.ini",
            is_left_alone=is_left_alone,
        )
    finally:
        closed.set()
        show.join()
        engine.die()
    assert code == 0
    assert len(looks) > 5


def test_the_process_of_a_killed_parent_ends(tmp_path):
    """With the pipe of a parent that dies before any run, as `gazelive record` starts it."""
    command = python_module("gazelive", "dashboard", "--with-parent")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "GAZELIVE_RUNS": str(tmp_path)}
    command += ["--connect", str(free_addresses().here)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=300) == 0


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_ctrl_c_in_the_terminal_closes_the_window(qapp, tmp_path):
    QTimer.singleShot(0, lambda: os.kill(os.getpid(), signal.SIGINT))  # once the window is up
    feed = ZmqFeed("tcp://127.0.0.1:9", "tcp://127.0.0.1:9")
    assert run_dashboard(feed, preferences=tmp_path / "dashboard.ini") == 0
    feed.close()


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_ctrl_c_ignored_by_the_parent_stays_ignored(qapp, tmp_path):
    """`gazelive record` and the demo do: the dashboard shows how the session is ended in order."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    closed = []
    try:
        QTimer.singleShot(0, lambda: os.kill(os.getpid(), signal.SIGINT))
        QTimer.singleShot(50, lambda: (closed.append(False), qapp.closeAllWindows()))
        feed = ZmqFeed("tcp://127.0.0.1:9", "tcp://127.0.0.1:9")
        assert run_dashboard(feed, preferences=tmp_path / "dashboard.ini") == 0
        feed.close()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert closed, "it was still open"
