"""Checks of Python, packages, the EDF library and compiled kernels."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from gazelive.errors import RecordingError
from gazelive.experiment.doctor.finding import Finding, Level, Situation

PURPOSES = {
    "eyelink": "for an EyeLink",
    "experiment": "to show images",
    "dashboard": "to watch live",
    "lsl": "for LabStreamingLayer",
}


def python(_situation: Situation) -> Iterator[Finding]:
    """Check the Python version."""
    version = platform.python_version()
    wanted = importlib.metadata.metadata("gazelive")["Requires-Python"]
    text = f"{version} ({platform.system()} {platform.release()}, {platform.machine()})"
    if not SpecifierSet(wanted).contains(version, prereleases=True):
        yield Finding("Python", "fail", text, f"gazelive needs Python {wanted}")
    elif sys.maxsize < 2**32:
        yield Finding("Python", "fail", f"{text}, 32 bits", "install 64-bit Python")
    else:
        yield Finding("Python", "ok", text)


def packages(situation: Situation) -> Iterator[Finding]:
    """Check the packages of gazelive and of each extra, and their versions."""
    own, extras = _requirements()
    yield _packages_line("packages", own, "fail", "pip install --upgrade gazelive")
    needed = {"experiment"} if situation.examined else set()
    if situation.tracker or (situation.examined and situation.config.tracker.device == "eyelink"):
        needed.add("eyelink")
    if situation.examined and situation.config.dashboard.open:
        needed.add("dashboard")
    for extra, wanted in extras.items():
        level: Level = "warn" if extra in ("eyelink", "experiment", "dashboard") else "ok"
        yield _packages_line(
            f"extra {extra}",
            wanted,
            "fail" if extra in needed else level,
            f"{PURPOSES[extra]}: pip install 'gazelive[{extra}]'",
        )


def edf(_situation: Situation) -> Iterator[Finding]:
    """Read a real EDF file."""
    from gazelive.recordings import NotAnEdfError, dump_edf, read_edf

    remedy = "pip install --force-reinstall eyelinkio"
    sample = _sample_edf()
    try:
        if sample is not None:
            n_samples = sum(len(block.samples) for block in read_edf(sample).blocks)
            yield Finding("EDF files", "ok", f"readable (test file of {n_samples} samples)")
            return
        with tempfile.TemporaryDirectory(prefix="gazelive-doctor-") as name:
            nonsense = Path(name) / "no.edf"
            nonsense.write_bytes(b"no EDF file")
            dump_edf(nonsense, Path(name))
    except RecordingError as error:
        if sample is None and isinstance(error, NotAnEdfError):
            yield Finding("EDF files", "ok", "the EDF library loads")
        else:
            yield Finding("EDF files", "fail", str(error), remedy)


def kernels(_situation: Situation) -> Iterator[Finding]:
    """Check that the numerical kernels are compiled, or can be."""
    from gazelive.system import cache_directory, is_first_compile

    folder = cache_directory()
    if not is_first_compile():
        yield Finding("kernels", "ok", f"compiled ({folder})")
        return
    above = next(path for path in (folder, *folder.parents) if path.is_dir())
    try:
        with tempfile.TemporaryFile(dir=above):
            pass
    except OSError as error:
        yield Finding(
            "kernels",
            "fail",
            f"cannot write to {above} ({error.strerror}): every start would compile again",
            "give the user write access",
        )
        return
    yield Finding(
        "kernels",
        "warn",
        "not compiled yet: the first start takes one or two minutes longer",
        "run `gazelive demo` once before the first session",
    )


def _requirements() -> tuple[list[Requirement], dict[str, list[Requirement]]]:
    """Return the requirements of gazelive, and of each extra."""
    own: list[Requirement] = []
    extras: dict[str, list[Requirement]] = {extra: [] for extra in PURPOSES}
    for text in importlib.metadata.requires("gazelive") or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            own.append(requirement)
            continue
        for extra, wanted in extras.items():
            if marker.evaluate({"extra": extra}):
                wanted.append(requirement)
    return own, extras


def _packages_line(what: str, wanted: list[Requirement], bad: Level, remedy: str) -> Finding:
    there, missing = [], []
    for requirement in wanted:
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(f"{requirement.name} is not installed")
            continue
        if requirement.specifier.contains(version, prereleases=True):
            there.append(f"{requirement.name} {version}")
        else:
            missing.append(f"{requirement.name} {version} does not meet {requirement.specifier}")
    if missing and bad == "ok":
        return Finding(what, "ok", f"{'; '.join(missing)}; needed only {remedy}")
    if missing:
        return Finding(what, bad, "; ".join(missing), remedy)
    return Finding(
        what, "ok", ", ".join(there) if len(there) < 4 else f"all {len(there)} installed"
    )


def _sample_edf() -> Path | None:
    """Return the EDF file among eyelinkio's own tests."""
    found = importlib.util.find_spec("eyelinkio")
    if found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "tests" / "data" / "test_raw.edf"
    return path if path.is_file() else None
