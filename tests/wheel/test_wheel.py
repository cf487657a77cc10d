"""gazelive as a package that stands alone: built, installed elsewhere, and used there."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gazelive.system.screen import virtual_display

from .clean_environment import ROOT, CleanEnvironment

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(1800)]

OF_PSYCHOPY = {"pyglet"}
"""PsychoPy's own parts, of the version that it chooses."""
ASK_WHERE = "import gazelive, sys; print(gazelive.__file__); print(*sys.path, sep='\\n')"
OWN_ARRAYS = """
import numpy as np
t_ms = np.arange(2000.0)
x_deg = np.where(t_ms < 1000, 0.0, 5.0) + np.random.default_rng(1).normal(0, 0.02, 2000)
y_deg = np.random.default_rng(2).normal(0, 0.02, 2000)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def lab(built: Path, tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    """An environment with the wheel, outside the repository."""
    (wheel,) = built.glob("*.whl")
    return CleanEnvironment(tmp_path_factory.mktemp("clean"), wheel)


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with virtual_display() as name:
        if name is None:
            pytest.skip("Xvfb is not installed, or does not start")
        yield name


@pytest.fixture(scope="module")
def corpus(lab: CleanEnvironment) -> CleanEnvironment:
    """The environment, with simulated recordings in its folder."""
    options = "--viewers 3 --images 6 --pool 12 --seconds 4 --seed 1"
    lab.run("gazelive", "simulate", "corpus", *options.split())
    lab.run("gazelive", "convert", "corpus/v001_s1", "recording.asc")
    return lab


def readme_python() -> str:
    """Return the Python example of the README."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text[text.index("\n## From Python\n") :]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    info = wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info/"
    assert {name for name in names if not name.startswith(("gazelive/", info))} == set()
    assert {f"{info}licenses/LICENSE", f"{info}entry_points.txt", "gazelive/py.typed"} <= set(names)
    tracked = subprocess.run(
        ["git", "ls-files", "gazelive"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert {name for name in names if name.startswith("gazelive/")} == set(tracked)
    assert {Path(name).suffix for name in tracked} == {".py", ".pyi", ".typed", ".json", ".npz"}


def test_the_source_distribution_has_no_tests_and_no_images(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        top = {name.split("/")[1] for name in file.getnames()}
    assert top == {
        *("gazelive", "pyproject.toml", "PKG-INFO", ".gitignore"),
        *("README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "constraints.txt"),
    }


def test_every_import_is_of_a_declared_dependency(built: Path) -> None:
    """The environment below has what tests need too, and would hide one that is missing."""
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    declared = {
        canonicalize_name(Requirement(line.partition(": ")[2]).name)
        for line in archive.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist: ")
    }
    providers = packages_distributions()
    missing = {}
    for name in archive.namelist():
        if not name.endswith(".py"):
            continue
        for module in imported(archive.read(name).decode()):
            if module in {*sys.stdlib_module_names, "gazelive", *OF_PSYCHOPY}:
                continue
            found = {canonicalize_name(one) for one in providers.get(module, ())}
            if not found & declared:
                missing[module] = name
    assert missing == {}


def imported(source: str) -> Iterator[str]:
    """Yield the first names of the modules that a source imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module is not None:
            yield node.module.split(".")[0]


def test_it_comes_from_the_wheel(lab: CleanEnvironment) -> None:
    where, *path = lab.run("python", "-c", ASK_WHERE).splitlines()
    assert Path(where).is_relative_to(lab.python.parents[1])
    assert str(ROOT) not in path
    assert "Live saccade detection" in lab.run("gazelive", "--help") or lab.run("gazelive", "-h")


def test_the_demo(lab: CleanEnvironment, display: str) -> None:
    printed = lab.run("gazelive", "demo", "--json", "--quiet", "-o", "demo", display=display)
    assert json.loads(printed)
    assert list((lab.folder / "demo").rglob("*.png"))


def test_a_first_session(lab: CleanEnvironment, display: str) -> None:
    """As in the README, from the lab's folder to the report."""
    lab.run("gazelive", "config", "init", "mylab")
    lab.run("gazelive", "config", "check", "mylab/scene_viewing.toml")
    options = "--device simulated --viewer test --trials 2 --seconds 2 --windowed --out tryout"
    record = ["record", "mylab/scene_viewing.toml", *options.split(), "--json"]
    facts = json.loads(lab.run("gazelive", *record, display=display))
    assert [what for _, _, what in facts["trials"]] == ["shown", "shown"]
    lab.run("gazelive", "session", "list", "tryout")
    lab.run("gazelive", "session", "report", facts["session"], "-o", "report.html")
    assert "painted_" in (lab.folder / "report.html").read_text(encoding="utf-8")


def test_the_python_example_of_the_readme(corpus: CleanEnvironment) -> None:
    example = corpus.folder / "example.py"
    shown = "\nprint(who.headline, len(found.saccades))\n"
    example.write_text(OWN_ARRAYS + readme_python() + shown, encoding="utf-8")
    assert "v001" in corpus.run("python", example.name)
