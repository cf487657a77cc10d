"""Documentation: links, commands, flags, paths and versions in it exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import get_args

import click
import pytest
import typer

import gazelive
from gazelive.cli.app import app
from gazelive.gaze import Document

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
    ROOT / "stimuli" / "README.md",
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def flags_of_commands() -> dict[str, set[str]]:
    """The flags of every command, by its words."""
    found: dict[str, set[str]] = {}

    def walk(command: click.Command, words: tuple[str, ...]) -> None:
        found[" ".join(words)] = {"--help", "-h"}.union(
            *({*p.opts, *p.secondary_opts} for p in command.params)
        )
        for name, child in getattr(command, "commands", {}).items():
            walk(child, (*words, name))

    walk(typer.main.get_command(app), ())
    return found


FLAGS = flags_of_commands()
COMMAND = re.compile(r"\bgazelive ([a-z-]+)(?: ([a-z-]+))?([^\n`#]*)")


@each_page
def test_link_targets_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = (target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text))
    missing = [t for t in targets if t and ":" not in t and not (page.parent / t).exists()]
    assert not missing


@each_page
def test_flags_of_commands_exist(page: Path) -> None:
    wrong = []
    for first, second, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        words = f"{first} {second}"
        command = words if words in FLAGS else first
        if command in FLAGS:
            given = re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", rest)
            wrong += [f"{command} {flag}" for flag in given if flag not in FLAGS[command]]
    assert not wrong


@each_page
def test_python_examples_parse(page: Path) -> None:
    for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        ast.parse(example)


def test_readme_links_every_page() -> None:
    readme = PAGES[0].read_text(encoding="utf-8")
    pages = [f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")]
    assert not [page for page in pages if f"({page})" not in readme]


def test_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {gazelive.__version__}\n" in citation


def test_every_field_of_every_document_is_explained() -> None:
    page = (ROOT / "docs" / "live-client.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    assert set(rows) == {kind.__name__ for kind in get_args(Document)}
    missing = [
        f"{kind.__name__}.{name}"
        for kind in get_args(Document)
        for name in kind.__struct_fields__
        if f"`{name}`" not in rows[kind.__name__]
    ]
    assert not missing
