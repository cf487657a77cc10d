"""Measure the shape of the package: modules, folders, lines, public names, single-use modules.

    python docs/scripts/measure_tree.py [CHECKOUT]
    python docs/scripts/measure_tree.py CHECKOUT --run identify lab.model recording.asc

`--run` starts the command from the checkout and counts the modules whose functions run, in all its
processes and threads. Compiled kernels do not count, nor `__init__` and code that runs on import
only. The table in docs/decisions/0011 comes from this script.
"""

from __future__ import annotations

import argparse
import ast
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

PROFILER = """
import os, sys, threading

FOLDER, PACKAGE, IS_FUNCTION = os.environ["MODULES_RUN"], os.environ["MODULES_OF"], 1
seen = set()

def note(frame, event, _argument):
    code = frame.f_code
    if event != "call" or code.co_filename in seen or not code.co_flags & IS_FUNCTION:
        return
    if code.co_filename.startswith(PACKAGE) and not is_importing(frame):
        seen.add(code.co_filename)
        with open(os.path.join(FOLDER, str(os.getpid())), "a") as file:
            print(code.co_filename, file=file)

def is_importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"] != "__main__":
            return True
        frame = frame.f_back
    return False

threading.setprofile(note)
sys.setprofile(note)
"""
"""A `sitecustomize` that writes the file of each module of which a function is called."""


def modules_of(package: Path) -> dict[str, Path]:
    """Return dotted module names and their files."""
    root = package.parent
    found = {}
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports_of(tree: ast.Module, modules: dict[str, Path]) -> set[str]:
    """Return the modules of the package that a module imports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found |= {full} if full in modules else {node.module} & modules.keys()
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & modules.keys()
    return found


def listed_modules(modules: dict[str, Path], package: str) -> set[str]:
    """Return the modules whose names a package lists in its `__init__.pyi`."""
    stub = modules[package].with_suffix(".pyi") if package in modules else None
    if stub is None or not stub.is_file():
        return set()
    nodes = ast.parse(stub.read_text("utf-8")).body
    return {f"{package}.{node.module}" for node in nodes if isinstance(node, ast.ImportFrom)}


def public_names(tree: ast.Module) -> int:
    """Count functions, classes and constants of a module that have no leading underscore."""
    n = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            n += not node.name.startswith("_")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            n += sum(isinstance(t, ast.Name) and not t.id.startswith("_") for t in targets)
    return n


def function_lengths(tree: ast.Module) -> list[int]:
    """Return the number of lines of each function."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [
        node.end_lineno - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.end_lineno is not None
    ]


def modules_run(checkout: Path, command: list[str]) -> set[Path]:
    """Return the modules whose functions run in a command of gazelive."""
    package = checkout.resolve() / "gazelive"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(PROFILER, encoding="utf-8")
        found = Path(folder, "found")
        found.mkdir()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((folder, str(package.parent))),
            "MODULES_RUN": str(found),
            "MODULES_OF": f"{package}{os.sep}",
        }
        subprocess.run(
            [sys.executable, "-P", "-m", "gazelive", *command], env=environment, check=True
        )
        lines = [line for file in found.iterdir() for line in file.read_text("utf-8").splitlines()]
    return {path for path in map(Path, lines) if path.name != "__init__.py"}


def main() -> None:
    """Print the table, or the number of modules that a command runs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).parents[2])
    parser.add_argument("--run", nargs=argparse.REMAINDER, help="a command, without gazelive")
    options = parser.parse_args()
    if options.run:
        print(len(modules_run(options.checkout, options.run)))
    else:
        print_table(options.checkout)


def print_table(checkout: Path) -> None:
    """Print the rows of the table in docs/decisions/0011."""
    modules = modules_of(checkout / "gazelive")
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in modules.items()}
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for imported in imports_of(tree, modules):
            importers[imported].add(name)
    for package in {name.rpartition(".")[0] for name in modules} | set(modules):
        for listed in listed_modules(modules, package):
            importers[listed].add(f"{package} (its public names)")
    folders = Counter(path.parent for path in modules.values())
    lengths = sorted(n for tree in trees.values() for n in function_lengths(tree))
    parent = {name: name.rpartition(".")[0] for name in modules}
    single = [
        name
        for name, path in modules.items()
        if path.name != "__init__.py"
        and len(importers[name]) == 1
        and parent.get(next(iter(importers[name]))) == parent[name]
    ]
    largest = max(folders, key=lambda folder: folders[folder])
    n_lines = sum(len(path.read_text("utf-8").splitlines()) for path in modules.values())
    rows = {
        "modules": len(modules),
        "modules without `__init__`": sum(p.name != "__init__.py" for p in modules.values()),
        "folders": len(folders),
        "files per folder, mean": round(len(modules) / len(folders), 1),
        "files per folder, largest": f"{folders[largest]} ({largest.relative_to(checkout)})",
        "lines": n_lines,
        "lines per function, median": statistics.median(lengths),
        "lines per function, 90th percentile": lengths[int(0.9 * len(lengths))],
        "public names in modules": sum(public_names(tree) for tree in trees.values()),
        "modules imported by exactly one sibling": len(single),
    }
    for what, value in rows.items():
        print(f"| {what} | {value} |")


if __name__ == "__main__":
    main()
