"""A virtual environment with gazelive from a wheel, and a watch on files of the repository.

The dependencies are those of the environment that runs the tests: installing them again would take
minutes. Their folder comes last on the path and without the editable installation of gazelive, so
gazelive itself can only come from the wheel.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WATCH = """
import os, site, sys
root, own, dependencies, report = {names!r}
sys.path.append(dependencies)
for name in sorted(os.listdir(dependencies)):
    if name.endswith(".pth") and "gazelive" not in name:
        site.addpackage(dependencies, name, None)

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        path = os.path.abspath(arguments[0])
        if path.startswith(root) and not path.startswith(own):
            with open(report, "a") as file:
                file.write(path + "\\n")

sys.addaudithook(watch)
"""
"""Runs at the start of every process of the environment; reports files that are opened."""


class CleanEnvironment:
    """Commands run in `folder`, with a home of their own."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder / "lab"
        self.folder.mkdir()
        self._report = folder / "opened.txt"
        environment = folder / "environment"
        venv.create(environment, with_pip=False)
        self._scripts = environment / ("Scripts" if os.name == "nt" else "bin")
        self.python = self._scripts / ("python.exe" if os.name == "nt" else "python")
        install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
        subprocess.run(
            [sys.executable, "-m", "pip", "--python", str(self.python), *install],
            check=True,
            cwd=folder,
        )
        names = (
            str(ROOT) + os.sep,
            sys.prefix + os.sep,
            sysconfig.get_path("purelib"),
            str(self._report),
        )
        packages = self._packages()
        (packages / "watch_repository.py").write_text(WATCH.format(names=names), encoding="utf-8")
        (packages / "watch_repository.pth").write_text("import watch_repository\n")
        self._environment = self._clean(folder / "home")

    def _packages(self) -> Path:
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        printed = subprocess.run(
            [self.python, "-c", code], check=True, capture_output=True, text=True
        )
        return Path(printed.stdout.strip())

    def _clean(self, home: Path) -> dict[str, str]:
        """Return the variables of a user who has nothing yet."""
        home.mkdir()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "GAZELIVE", "XDG_", "QT_", "PYTEST", "VIRTUAL_ENV"))
            and name != "DISPLAY"
        }
        homes = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(home))
        path = os.pathsep.join((str(self._scripts), kept.get("PATH", "")))
        return {**kept, **homes, "PATH": path}

    def run(self, *command: str, display: str | None = None) -> str:
        """Run a program of the environment; return what it prints."""
        environment = dict(self._environment)
        if display is not None:
            environment["DISPLAY"] = display
        program = self._scripts / command[0]
        done = subprocess.run(
            [str(program), *command[1:]],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
        assert self.opened_in_repository() == "", command
        return done.stdout

    def opened_in_repository(self) -> str:
        """Return the files of the repository that any process has opened."""
        return self._report.read_text(encoding="utf-8") if self._report.exists() else ""
