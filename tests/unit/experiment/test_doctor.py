"""Findings of the doctor on software, screens, files and the tracker."""

from __future__ import annotations

import os
import shutil
import sys
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gazelive.experiment.config.reading import examine_config
from gazelive.experiment.config.schema import Screen
from gazelive.experiment.doctor import (
    display,
    display as graphics,
    experiment_files,
    machine,
    software,
    tracker,
)
from gazelive.experiment.doctor.examination import examine
from gazelive.experiment.doctor.finding import Finding, Situation
from gazelive.experiment.doctor.probe_process import ProbeFailedError, probe
from gazelive.experiment.doctor.window_probe import WindowSeen

Usage = namedtuple("Usage", "total used free")
Make = Callable[[str], Situation]


@pytest.fixture
def situation(tmp_path: Path) -> Make:
    """Make the situation of a TOML with two images and a script beside it."""
    (tmp_path / "images").mkdir()
    for name in ("a.png", "b.png"):
        Image.new("L", (4, 4)).save(tmp_path / "images" / name)
    (tmp_path / "scene_viewing.py").touch()

    def make(text: str) -> Situation:
        toml = tmp_path / "lab.toml"
        toml.write_text(text, encoding="utf-8")
        return Situation(examine_config(toml))

    return make


def levels(findings: list[Finding]) -> dict[str, str]:
    return {finding.what: finding.level for finding in findings}


class TestChecksTogether:
    def test_a_failing_check_does_not_stop_the_others(self) -> None:
        def broken_thing(_situation: Situation) -> Iterator[Finding]:
            yield Finding("first", "ok", "fine")
            raise ZeroDivisionError("oh")

        found = list(examine(Situation(), [broken_thing, software.python]))
        assert [(f.what, f.level) for f in found] == [
            ("first", "ok"),
            ("broken thing", "fail"),
            ("Python", "ok"),
        ]
        assert "ZeroDivisionError: oh" in found[1].text


class TestProbes:
    def put(self, folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
        (folder / "a_probe.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        return "a_probe"

    def test_the_result_is_returned(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        module = self.put(
            tmp_path,
            monkeypatch,
            "import sys\nfrom gazelive.experiment.doctor.probe_process import write_result\n"
            "print('noise')\nwrite_result(sys.argv[2:])",
        )
        assert probe(module, "a", "b", expect=list[str], timeout_s=60) == ["a", "b"]

    def test_a_crash_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        module = self.put(tmp_path, monkeypatch, "import sys\nsys.exit('the driver is gone')")
        with pytest.raises(ProbeFailedError, match=r"exit code 1: .*driver"):
            probe(module, expect=list[str], timeout_s=60)

    def test_a_hang_is_ended(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        module = self.put(tmp_path, monkeypatch, "import time\ntime.sleep(600)")
        with pytest.raises(ProbeFailedError, match="answer within 0 s"):
            probe(module, expect=list[str], timeout_s=0.2)


class TestSoftware:
    def test_this_computer_runs_the_tests_so_it_has_the_packages(self) -> None:
        found = {finding.what: finding for finding in software.packages(Situation())}
        assert found["packages"].level == "ok"
        assert {"extra eyelink", "extra experiment", "extra dashboard"} < set(found)

    def test_a_missing_extra_is_fatal_only_if_it_is_needed(
        self, situation: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known = software.importlib.metadata.version

        def version(name: str) -> str:
            if name in ("sr-research-pylink", "psychopy-lib", "pylsl"):
                raise software.importlib.metadata.PackageNotFoundError(name)
            return known(name)

        monkeypatch.setattr(software.importlib.metadata, "version", version)
        found = {finding.what: finding for finding in software.packages(Situation())}
        assert found["extra eyelink"].level == "warn"
        assert found["extra experiment"].level == "warn"
        assert found["extra lsl"].level == "ok"
        assert found["extra eyelink"].remedy.endswith("pip install 'gazelive[eyelink]'")
        simulated = levels(list(software.packages(situation('[tracker]\ndevice = "simulated"'))))
        assert simulated["extra experiment"] == "fail"
        assert simulated["extra eyelink"] == "warn"
        assert levels(list(software.packages(situation(""))))["extra eyelink"] == "fail"
        with_address = Situation(tracker="127.0.0.1")
        assert levels(list(software.packages(with_address)))["extra eyelink"] == "fail"

    def test_an_old_package_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(software.importlib.metadata, "version", lambda _name: "0.0.1")
        found = next(iter(software.packages(Situation())))
        assert found.level == "fail"
        assert "numpy 0.0.1 does not meet >=2.1" in found.text

    def test_a_python_that_is_too_old(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(software.platform, "python_version", lambda: "3.9.1")
        (found,) = software.python(Situation())
        assert found.level == "fail"
        assert "3.11" in found.remedy

    def test_a_real_edf_file_is_read(self) -> None:
        (found,) = software.edf(Situation())
        assert found.level == "ok"

    def test_without_a_file_the_library_is_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(software, "_sample_edf", lambda: None)
        (found,) = software.edf(Situation())
        assert found == Finding("EDF files", "ok", "the EDF library loads")

    def test_an_edf_library_that_fails(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "bad.edf").write_bytes(b"nonsense")
        monkeypatch.setattr(software, "_sample_edf", lambda: tmp_path / "bad.edf")
        (found,) = software.edf(Situation())
        assert found.level == "fail"
        assert "eyelinkio" in found.remedy

    def test_kernels_that_are_not_compiled(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        for place in ("gazelive.system", "gazelive.system.jit"):
            monkeypatch.setattr(f"{place}.cache_directory", lambda: tmp_path / "a" / "b")
        (found,) = software.kernels(Situation())
        assert found.level == "warn"
        assert "gazelive demo" in found.remedy

        def refuse(**_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(software.tempfile, "TemporaryFile", refuse)
        (found,) = software.kernels(Situation())
        assert found.level == "fail"
        assert str(tmp_path) in found.text


class TestTracker:
    def test_a_pylink_that_is_another_package(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "pylink.py").write_text("print('I link things')\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(tracker.importlib.util, "find_spec", lambda _name: object())
        (found,) = tracker.pylink(Situation())
        assert found.level == "fail"
        assert "is not the EyeLink's" in found.text
        assert "pip uninstall pylink" in found.remedy
        (found,) = tracker.answers(Situation(tracker="127.0.0.1"))
        assert found.level == "fail"
        assert "127.0.0.1: the installed `pylink` is not" in found.text
        assert "pip install sr-research-pylink" in found.remedy

    def test_a_pylink_that_crashes(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "pylink.py").write_text("import os\nos._exit(7)\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(tracker.importlib.util, "find_spec", lambda _name: object())
        (found,) = tracker.pylink(Situation())
        assert (found.level, found.text) == ("fail", "its import ended with exit code 7")

    def test_without_pylink_there_is_no_finding(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tracker.importlib.util, "find_spec", lambda _name: None)
        assert not list(tracker.pylink(Situation()))

    def test_the_real_pylink_finds_no_tracker_here(self) -> None:
        pytest.importorskip("pylink", reason="the extra eyelink is not installed")
        (found,) = tracker.pylink(Situation())
        assert found.level == "ok"
        (found,) = tracker.answers(Situation(tracker="127.0.0.1"))
        assert (found.level, found.text) == ("fail", "no EyeLink answers at 127.0.0.1")
        assert "127.0.0.2" in found.remedy

    def test_a_tracker_that_answers(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "pylink.py").write_text(
            "class EyeLinkCustomDisplay: pass\n"
            "class EyeLink:\n"
            "    def __init__(self, address): assert address == '127.0.0.1'\n"
            "    def isConnected(self): return 1\n"
            "    def getTrackerVersionString(self): return 'EYELINK CL 5.15 '\n"
            "    def close(self): pass\n"
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        (found,) = tracker.answers(Situation(tracker="127.0.0.1"))
        assert found == Finding("tracker", "ok", "EYELINK CL 5.15 answers at 127.0.0.1")

    def test_without_an_address_there_is_no_connection(self, situation: Make) -> None:
        (found,) = tracker.answers(situation(""))
        assert found.level == "warn"
        assert "--tracker 100.1.1.1" in found.remedy
        assert not list(tracker.answers(situation('[tracker]\ndevice = "simulated"')))
        assert not list(tracker.answers(Situation()))

    @pytest.mark.parametrize("address", ["", " ", "a b", "tcp://1.2.3.4"])
    def test_an_invalid_address_is_refused(self, address: str) -> None:
        (found,) = tracker.answers(Situation(tracker=address))
        assert found.level == "fail"
        assert f'"{address}"' in found.text


class TestMachine:
    def test_the_clock_is_fine_enough_here(self) -> None:
        (found,) = machine.timer(Situation())
        assert "µs" in found.text
        assert found.level != "fail"

    def test_a_clock_that_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(machine, "_clock_step_s", lambda: 0.0156)
        (found,) = machine.timer(Situation())
        assert found.level == "fail"

    def test_the_disk_is_measured_where_sessions_go_and_left_clean(
        self, situation: Make, tmp_path: Path
    ) -> None:
        where = situation('[output]\nfolder = "sessions/new"')
        before = sorted(tmp_path.iterdir())
        space, speed = machine.disk(where)
        assert str(tmp_path) in space.text
        assert "MB/s" in speed.text
        assert sorted(tmp_path.iterdir()) == before

    @pytest.mark.parametrize(("free", "level"), [(1e6, "fail"), (1e9, "warn"), (1e12, "ok")])
    def test_space(self, monkeypatch: pytest.MonkeyPatch, free: float, level: str) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(0, 0, free))
        assert next(iter(machine.disk(Situation()))).level == level

    def test_a_read_only_folder(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(**_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(machine.tempfile, "mkstemp", refuse)
        *_, found = machine.disk(Situation())
        assert found.level == "fail"
        assert "Permission denied" in found.text

    @pytest.mark.parametrize(
        ("speed", "level"), [((0.5, 100.0), "warn"), ((0.001, 5.0), "warn"), ((0.01, 90.0), "ok")]
    )
    def test_speed(
        self, monkeypatch: pytest.MonkeyPatch, speed: tuple[float, float], level: str
    ) -> None:
        monkeypatch.setattr(machine, "_disk_speed", lambda _folder: speed)
        *_, found = machine.disk(Situation())
        assert found.level == level


def flips(rate_hz: float, n: int = 120, late: int = 0, uneven: float = 0.001) -> list[float]:
    """Return intervals of a screen of that rate, `late` of them twice as long."""
    intervals = np.random.default_rng(1).normal(1, uneven, n) / rate_hz
    intervals[:late] *= 2
    return list(intervals)


class TestGraphics:
    @pytest.mark.parametrize(
        ("seen", "level"),
        [
            (WindowSeen(flips_s=flips(60)), "ok"),
            (WindowSeen(flips_s=flips(60, late=1)), "ok"),
            (WindowSeen(flips_s=flips(60, late=12)), "warn"),
            (WindowSeen(flips_s=flips(144)), "fail"),
            (WindowSeen(flips_s=flips(143.9), system_rate_hz=144), "fail"),
            (WindowSeen(flips_s=flips(30)), "fail"),
            (WindowSeen(flips_s=flips(1900, uneven=0.02)), "warn"),
            (WindowSeen(flips_s=flips(150, uneven=0.2)), "warn"),
        ],
    )
    def test_refresh_rate(self, situation: Make, seen: WindowSeen, level: str) -> None:
        assert graphics.refresh_rate(seen, situation("")).level == level

    def test_any_steady_rate_is_fine_without_a_toml(self) -> None:
        found = graphics.refresh_rate(WindowSeen(flips_s=flips(144)), Situation())
        assert found.level == "ok"
        assert found.text.startswith("144")

    def test_no_vsync_is_reported(self) -> None:
        found = graphics.refresh_rate(WindowSeen(flips_s=flips(1900)), Situation())
        assert "no vsync" in found.text

    @pytest.mark.parametrize(
        ("opengl", "renderer", "level"),
        [
            ("4.6.0 NVIDIA 535", "NVIDIA RTX A2000", "ok"),
            ("4.5 Mesa", "llvmpipe (LLVM 15)", "warn"),
            ("1.1.0", "GDI Generic", "fail"),
        ],
    )
    def test_opengl(self, situation: Make, opengl: str, renderer: str, level: str) -> None:
        seen = WindowSeen(opengl=opengl, renderer=renderer)
        assert graphics.opengl(seen, situation("")).level == level

    @pytest.mark.parametrize(
        ("toml", "screens", "found"),
        [
            ("", [(1920, 1080), (1280, 1024)], {"screens": "ok", "resolution": "ok"}),
            ("", [(1920, 1080)], {"screens": "warn", "resolution": "ok"}),
            ("[dashboard]\nopen = false", [(1920, 1080)], {"screens": "ok", "resolution": "ok"}),
            ("[screen]\nnumber = 2", [(1920, 1080), (1920, 1080)], {"screens": "fail"}),
            (
                "[screen]\nnumber = 1",
                [(1280, 1024), (1920, 1080)],
                {"screens": "warn", "resolution": "ok"},
            ),
            ("", [(2560, 1440), (1920, 1080)], {"screens": "ok", "resolution": "fail"}),
            (
                "[screen]\nfull_screen = false",
                [(2560, 1440), (1920, 1080)],
                {"screens": "ok", "resolution": "ok"},
            ),
        ],
    )
    def test_screens(
        self,
        situation: Make,
        toml: str,
        screens: list[tuple[int, int]],
        found: dict[str, str],
    ) -> None:
        seen = WindowSeen(screens_px=screens)
        assert levels(list(graphics.screens(seen, situation(toml)))) == found

    @pytest.mark.parametrize(
        ("monitor_mm", "level"),
        [((531.0, 299.0), "ok"), ((598.0, 336.0), "warn"), ((0.0, 0.0), None), ((508, 286), None)],
    )
    def test_millimetres(self, monitor_mm: tuple[float, float], level: str | None) -> None:
        monitor: dict[str, object] = {
            "width_px": 1920,
            "height_px": 1080,
            "width_mm": float(monitor_mm[0]),
            "height_mm": float(monitor_mm[1]),
        }
        found = graphics.monitor_size([monitor], Screen(), guessed_dpi=96.0)
        assert (found and found.level) == level


class TestDisplay:
    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is one")
    def test_none(self, situation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DISPLAY", raising=False)
        (found,) = display.display(Situation())
        assert found.level == "warn"
        (found,) = display.display(situation(""))
        assert found.level == "fail"
        assert "ssh" in found.remedy
        assert not list(display.screen_size(situation("")))

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 is of Linux")
    def test_a_missing_display(self, situation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("psychopy", reason="the extra experiment is not installed")
        monkeypatch.setenv("DISPLAY", ":9987")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        found = {finding.what: finding for finding in display.display(situation(""))}
        assert found["window"].level == "fail"
        assert "no screen" in found["window"].text


class TestExperimentFiles:
    def test_everything_there(self, situation: Make) -> None:
        where = situation('[stimuli]\nfolder = "images"\nn_images = 2')
        assert levels(list(experiment_files.configuration(where))) == {"configuration": "ok"}
        (found,) = experiment_files.stimuli(where)
        assert found.level == "ok"
        assert found.text.startswith("2 in ")
        (found,) = experiment_files.fonts(where)
        assert found.level == "ok"

    def test_without_a_toml_there_are_no_findings(self) -> None:
        for check in (
            experiment_files.configuration,
            experiment_files.stimuli,
            experiment_files.fonts,
            experiment_files.model,
            experiment_files.recording,
        ):
            assert not list(check(Situation()))

    def test_wrong_keys_and_missing_files(self, situation: Make) -> None:
        where = situation(
            'script = "no.py"\n[trial]\nimage_ms = 8\n[identify]\nmodel = "no.model"\n'
            '[stimuli]\nfolder = "."\n[tracker]\ndevice = "replay:no.edf"\n'
        )
        found = list(experiment_files.configuration(where))
        assert [finding.text.split(":")[0] for finding in found] == [
            "trial.image_ms",
            "script",
            "tracker.device",
            "identify.model",
            "stimuli.folder",
        ]
        assert {finding.level for finding in found} == {"fail"}
        assert not list(experiment_files.stimuli(where))
        assert not list(experiment_files.model(where))
        assert not list(experiment_files.recording(where))

    def test_too_few_images_for_the_questions(self, situation: Make) -> None:
        text = '[stimuli]\nfolder = "images"\nn_images = 2\n[task]\nrecognition_questions = 2'
        (found,) = experiment_files.stimuli(situation(text))
        assert found.level == "warn"

    def test_an_unreadable_image(self, situation: Make, tmp_path: Path) -> None:
        (tmp_path / "images" / "c.jpg").write_bytes(b"no image")
        (found,) = experiment_files.stimuli(situation('[stimuli]\nfolder = "images"'))
        assert found.level == "fail"
        assert "1 of 3 are unreadable: c.jpg" in found.text

    def test_a_text_that_no_font_has(self, situation: Make) -> None:
        (found,) = experiment_files.fonts(situation('[task]\nfarewell = "bye \U0010fffd"'))
        assert found.level == "fail"
        assert "\U0010fffd" in found.text

    def test_an_invalid_model(self, situation: Make, tmp_path: Path) -> None:
        (tmp_path / "a.model").write_bytes(b"no model")
        (found,) = experiment_files.model(situation('[identify]\nmodel = "a.model"'))
        assert found.level == "fail"

    def test_the_file_of_a_replay(self, situation: Make, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("t_ms,x_px,y_px\n1,2,3\n2,3,4\n")
        (found,) = experiment_files.recording(situation('[tracker]\ndevice = "replay:a.csv"'))
        assert found.level == "ok"
        (tmp_path / "a.xyz").write_bytes(b"\0\1\2")
        (found,) = experiment_files.recording(situation('[tracker]\ndevice = "replay:a.xyz"'))
        assert found.level == "fail"
