"""The vendor's pylink has all that we use, and its dummy mode accepts every call.

Dummy mode answers everything and sends nothing. Left out there: `doTrackerSetup`, which loops for
ever, `doDriftCorrect`, which raises, and the queue, which is empty. No address but this machine's
is ever connected to.
"""

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.devices.eyelink import device as eyelink
from gazelive.devices.eyelink.device import EyeLinkDevice, load_pylink
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import DeviceUnavailableError
from gazelive.gaze.screen import PAPER_SCREEN

from ..support.fake_pylink import CONSTANTS, FakePylink, FakeSample, FakeTracker
from ..support.manual_clock import ManualClock
from ..unit.devices.test_eyelink_session import run_session

DEVICES = Path(eyelink.__file__).parent
LEFT_OUT = {"doTrackerSetup", "doDriftCorrect", "getNextData", "getFloatData"}


@pytest.fixture(scope="module")
def pylink():
    try:
        return load_pylink()
    except DeviceUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def fake_session(tmp_path_factory) -> FakePylink:
    fake, _ = run_session(tmp_path_factory.mktemp("sessions") / "s1", ManualClock(1000.0))
    return fake


def _called_in_sources(receiver: str) -> set[str]:
    """Return the names that our modules ask of anything that is called `receiver`."""
    names = set()
    for path in DEVICES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and re.search(
                rf"(^|[._]){receiver}$", ast.unparse(node.value)
            ):
                names.add(node.attr)
    return names


def test_every_name_we_use_exists(pylink):
    of_module, of_tracker = _called_in_sources("pylink"), _called_in_sources("tracker")
    assert {"EyeLink", "openGraphicsEx", "SAMPLE_TYPE"} <= of_module
    assert {"startRecording", "waitForBlockStart", "trackerTimeUsec"} <= of_tracker
    assert sorted(name for name in of_module if not hasattr(pylink, name)) == []
    assert sorted(name for name in of_tracker if not hasattr(pylink.EyeLink, name)) == []
    of_sample = _called_in_sources("sample")
    assert "getTargetFlags" in of_sample
    assert sorted(name for name in of_sample if not hasattr(pylink.Sample, name)) == []


def test_the_fake_has_the_vendors_constants_and_no_method_of_its_own(pylink, fake_session):
    assert {name: getattr(pylink, name) for name in CONSTANTS} == CONSTANTS
    for fake, real in ((FakeTracker, pylink.EyeLink), (FakeSample, pylink.Sample)):
        own = [name for name in vars(fake) if not name.startswith("_")]
        assert [name for name in own if not hasattr(real, name)] == []
    assert sorted(n for n in fake_session.calls.used if not hasattr(pylink, n)) == []


def _signature(function):
    """Return the parameters that the vendor tells, in the code or in the documentation."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except ValueError:
        parameters = None
    if parameters is not None and parameters not in (["self", "args"], ["args", "kwargs"]):
        return len([name for name in parameters if name != "self"])
    told = re.match(r"\s*(\w+)\(([^)]*)\)", function.__doc__ or "")
    if told is None:
        return None
    return len([part for part in told[2].split(",") if part.strip()])


def test_arguments_are_as_many_as_the_vendor_tells(pylink, fake_session):
    checked = set()
    for name, args in fake_session.calls.log:
        module_name = name.removeprefix("pylink.")
        function = getattr(pylink if module_name != name else pylink.EyeLink, module_name)
        n_told = None if module_name == "EyeLink" else _signature(function)
        if n_told is not None:
            checked.add(name)
            assert len(args) <= n_told, (name, args)
    assert {"startRecording", "waitForBlockStart", "doDriftCorrect", "receiveDataFile"} <= checked
    assert list(inspect.signature(pylink.EyeLink.progressUpdate).parameters) == [
        "self",
        "fileName",
        "size",
        "received",
    ]


def test_a_whole_session_is_taken_by_the_real_dummy_mode(pylink, fake_session, tmp_path):
    tracker = pylink.EyeLink(None)
    assert tracker.isConnected() == -1
    graphics = pylink.EyeLinkCustomDisplay()
    replayed = set()
    for name, args in fake_session.calls.log:
        if name in LEFT_OUT or name == "pylink.EyeLink":
            continue
        replayed.add(name)
        match name, args:
            case "pylink.openGraphicsEx", _:
                pylink.openGraphicsEx(graphics)
            case "receiveDataFile", (source, _):
                tracker.receiveDataFile(source, str(tmp_path / source))
            case _:
                target = pylink if name.startswith("pylink.") else tracker
                getattr(target, name.removeprefix("pylink."))(*args)
    assert not pylink.inRealTimeMode()
    assert {"startRecording", "sendMessage", "closeDataFile", "pylink.beginRealTimeMode"} < replayed


def test_no_tracker_answers_and_dummy_mode_is_refused(pylink, capfd):
    settings = EyeLinkSettings(screen=PAPER_SCREEN, address="127.0.0.1")
    with pytest.raises(DeviceUnavailableError, match=r"answers at 127\.0\.0\.1"):
        EyeLinkDevice(settings, clock=ManualClock(), host_file_stem="a")
    assert capfd.readouterr() == ("", "")


def test_importing_pylink_prints_nothing(pylink):
    code = "from gazelive.devices.eyelink.device import load_pylink; load_pylink()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_the_vendors_graphics_take_a_tracker_and_a_window():
    spec = importlib.util.find_spec("EyeLinkCoreGraphicsPsychoPy")
    if spec is None:
        pytest.skip("psychopy-eyelink-coregraphics is not installed")
    # importing it opens a display, so its source is read
    source = Path(spec.origin).with_name("EyeLinkCoreGraphicsPsychoPy.py").read_text("utf-8")
    (cls,) = [n for n in ast.parse(source).body if isinstance(n, ast.ClassDef)]
    assert [ast.unparse(base) for base in cls.bases] == ["pylink.EyeLinkCustomDisplay"]
    methods = {n.name: n for n in cls.body if isinstance(n, ast.FunctionDef)}
    arguments = [argument.arg for argument in methods["__init__"].args.args]
    assert arguments[:3] == ["self", "tracker", "win"]
    assert len(arguments) - len(methods["__init__"].args.defaults) == 3
    assert "draw_cal_target" in methods
