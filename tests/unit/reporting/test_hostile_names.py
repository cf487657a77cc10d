"""A report runs no script, whatever the names in a session are."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gazelive.recordings.session.manifest import read_manifest, write_manifest
from gazelive.reporting.html_document import POLICY, html_page
from gazelive.reporting.page import session_page
from gazelive.reporting.session_facts import gather

from .test_page import parsed

MARK = "document.documentElement.setAttribute('data-owned', '1')"
HOSTILE = (
    f'"\'></pre></title><script>{MARK}</script><img src=x onerror="{MARK}"><svg onload="{MARK}">'
)
NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="module")
def hostile_page(made: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a session in which every text is hostile."""
    folder = tmp_path_factory.mktemp("hostile") / "session"
    shutil.copytree(made / "identified", folder)
    manifest = read_manifest(folder)
    config = {"note": HOSTILE, HOSTILE: 1, "stimuli": {"folder": "/home/ann/secret/images"}}
    write_manifest(folder, msgspec.structs.replace(manifest, viewer=HOSTILE, config=config))
    facts = gather(folder)
    assert facts.analysis is not None
    intervals = tuple(
        changed(one, interval=changed(one.interval, trial=HOSTILE, image=HOSTILE))
        for one in facts.analysis.intervals
    )
    facts = replace(
        facts,
        analysis=replace(facts.analysis, intervals=intervals),
        trials=tuple(changed(trial, name=HOSTILE, image=HOSTILE) for trial in facts.trials),
    )
    return session_page(facts, made_at=HOSTILE)


def changed(value: Any, **fields: Any) -> Any:
    """Return a dataclass or a struct with other fields."""
    is_struct = isinstance(value, msgspec.Struct)
    return msgspec.structs.replace(value, **fields) if is_struct else replace(value, **fields)


def test_hostile_names_are_text(hostile_page: str) -> None:
    parsed(hostile_page)
    assert "<script" not in hostile_page
    assert "&lt;script&gt;" in hostile_page, "the names are shown"


def test_no_folder_of_this_computer_is_in_a_report(hostile_page: str) -> None:
    assert "/home/ann" not in hostile_page
    assert "images" in hostile_page


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here (apt install chromium)")
@pytest.mark.parametrize("policy", ["with", "without"])
def test_a_browser_runs_no_script(hostile_page: str, tmp_path: Path, policy: str) -> None:
    page = hostile_page if policy == "with" else hostile_page.replace(POLICY, "")
    assert "data-owned" not in root_of(page, tmp_path)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here (apt install chromium)")
def test_a_page_without_escapes_would_be_noticed(tmp_path: Path) -> None:
    page = html_page("x", [HOSTILE])
    assert "data-owned" not in root_of(page, tmp_path), "the policy alone forbids scripts"
    assert "data-owned" in root_of(page.replace(POLICY, ""), tmp_path)


def root_of(page: str, folder: Path) -> str:
    """Return the root element's tag after the browser has run the page."""
    dom = dom_of(page, folder)
    return dom[dom.index("<html") : dom.index(">", dom.index("<html"))]


def dom_of(page: str, folder: Path) -> str:
    """Return the document as the browser leaves it."""
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    assert BROWSER is not None
    shown = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom"),
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=True,
    )
    return shown.stdout
