"""Strings that name modules, files of the package and scripts: each leads somewhere."""

from __future__ import annotations

import ast
import importlib.util
import re
import runpy
import sys
from importlib import resources
from pathlib import Path

import pytest

import gazelive
from gazelive.system.jit import KERNEL_SOURCES

PACKAGE = Path(gazelive.__file__).parent
ROOT = PACKAGE.parent
SCRIPTS = ROOT / "docs" / "scripts"
MODULE = re.compile(r"gazelive(\.[a-z_0-9]+)+")
EXECUTABLE = ("__main__", "__init__")


def strings(path: Path) -> list[str]:
    """Return the strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]


def files() -> list[Path]:
    return [*PACKAGE.rglob("*.py"), ROOT / ".ci" / "compile-kernels"]


def test_strings_that_look_like_modules_are_modules() -> None:
    named = {(text, path) for path in files() for text in strings(path) if MODULE.fullmatch(text)}
    assert named, "processes are started by the names of modules"
    lost = [(text, path) for text, path in named if importlib.util.find_spec(text) is None]
    assert lost == []


def test_kernel_modules_are_named_as_they_are_called() -> None:
    kernels = {path.stem for path in PACKAGE.rglob("*.py") if path.stem.endswith(KERNEL_SOURCES)}
    called = re.compile(rf"[a-z_]+(?:{'|'.join(KERNEL_SOURCES)})")
    named = {
        text
        for path in files()
        for text in strings(path)
        if called.fullmatch(text) and not text.startswith("_")
    }
    assert "online_kernels" in named
    assert named <= kernels, named - kernels


def test_package_files_are_found() -> None:
    looked_for = {
        ast.literal_eval(call.args[0])
        for path in files()
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) == "resources.files"
        and isinstance(call.args[0], ast.Constant)
    }
    assert looked_for
    for package in looked_for:
        shipped = [file.name for file in resources.files(package).iterdir()]
        assert any(not name.endswith((".py", "__pycache__")) for name in shipped), package


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_of_the_documentation_load(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(SCRIPTS))
    runpy.run_path(str(script), run_name="loaded")
    for name in set(sys.modules) - before:
        if (SCRIPTS / f"{name}.py").is_file():
            del sys.modules[name]
    assert script.name in (SCRIPTS / "README.md").read_text() or _is_shared(script)


def _is_shared(script: Path) -> bool:
    """Say whether another script imports this one."""
    pattern = re.compile(rf"^(?:from|import) {script.stem}\b", re.MULTILINE)
    return any(pattern.search(other.read_text()) for other in SCRIPTS.glob("*.py"))
