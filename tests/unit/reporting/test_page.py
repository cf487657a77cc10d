"""The page of a session: whole, safe, alone, and the session untouched."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from gazelive.gaze.samples import Coordinates, empty_samples
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.session.conversion import write_session
from gazelive.recordings.session.writer import SessionWriter
from gazelive.reporting.page import session_page
from gazelive.reporting.scanpath_pictures import image_folders, scanpath_pictures
from gazelive.reporting.session_facts import SessionFacts, gather

from .sessions import manifest

STIMULI = Path(__file__).parents[3] / "stimuli"
MADE_AT = "2024-05-06T08:00:00+02:00"
VOID = {"meta", "img", "br"}


class Checker(HTMLParser):
    """Collects what a page loads and whether its elements are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [v or "" for k, v in attrs if k in ("src", "href", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def parsed(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def facts(made: Path) -> SessionFacts:
    return gather(made / "identified")


@pytest.fixture(scope="module")
def page(facts: SessionFacts) -> str:
    return session_page(facts, images=[STIMULI], made_at=MADE_AT)


def test_it_has_every_section_and_loads_nothing_external(page: str) -> None:
    checker = parsed(page)
    assert checker.headings == [
        "Notes",
        "Quality per trial",
        "Data loss over time",
        "Calibration history",
        "Identification",
        "Main sequence",
        "Scanpaths",
        "Configuration",
    ]
    assert checker.loads
    assert all(address.startswith("data:image/") for address in checker.loads)
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_foreign_text_is_escaped(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page


def test_the_figures_are_pictures(page: str) -> None:
    vector = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", page)
    assert len(vector) == 4
    for content in vector:
        assert b"<svg" in base64.b64decode(content)[:1000]
    photographs = re.findall(r"data:image/jpeg;base64,([^\"]+)", page)
    assert len(photographs) == 4
    for content in photographs:
        with Image.open(io.BytesIO(base64.b64decode(content))) as picture:
            assert picture.width == 630
            assert picture.height == 420


def test_the_same_session_gives_the_same_page(facts: SessionFacts, page: str) -> None:
    assert session_page(facts, images=[STIMULI], made_at=MADE_AT) == page


def test_scanpaths_lie_on_their_images(facts: SessionFacts) -> None:
    pictures = list(scanpath_pictures(facts, image_folders(facts, [STIMULI])))
    assert [picture.is_on_image for picture in pictures] == [True, True, False, True]
    content = base64.b64decode(pictures[0].address.partition(",")[2])
    with Image.open(io.BytesIO(content)) as drawn, Image.open(STIMULI / "cat.jpg") as stimulus:
        ours = np.asarray(drawn.convert("L"), float)
        theirs = np.asarray(stimulus.convert("L").resize(drawn.size), float)
    # circles and lines cover a small part of the picture
    assert np.median(np.abs(ours - theirs)) < 12


def test_an_unreadable_image_is_ignored(facts: SessionFacts, tmp_path: Path) -> None:
    (tmp_path / "cat.jpg").write_text("not a picture")
    pictures = list(scanpath_pictures(facts, [tmp_path]))
    assert not pictures[0].is_on_image


def test_images_are_found_in_the_configured_folder(made: Path) -> None:
    folders = image_folders(gather(made / "enrolled"), [Path("asked")])
    assert folders[0] == Path("asked")
    assert Path("no/such/folder") in folders


def test_a_session_without_an_engine_has_a_page(made: Path) -> None:
    page = session_page(gather(made / "enrolled"), made_at=MADE_AT)
    assert "Identification" in parsed(page).headings
    assert "the engine did not run" in page


def test_a_session_without_samples_has_a_page(tmp_path: Path) -> None:
    SessionWriter.create(tmp_path / "s", manifest()).close()
    page = session_page(gather(tmp_path / "s"), made_at=MADE_AT)
    assert "Main sequence" in parsed(page).headings
    assert "holds no samples" in page


def test_angles_without_trials_or_screen_are_drawn_around_the_gaze(
    tmp_path: Path, eye_steps: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> None:
    times_us, x_deg, y_deg = eye_steps
    samples = empty_samples(len(times_us))
    samples["tracker_time_us"], samples["right_x"], samples["right_y"] = times_us, x_deg, y_deg
    stream = StreamDescription(
        device="table", sampling_rate_hz=1000.0, eyes="R", coordinates=Coordinates.DEGREES
    )
    block = Block(stream, samples, 0, int(times_us[-1]))
    recording = Recording(path=tmp_path / "s", format="session", blocks=(block,))
    without = msgspec.structs.replace(manifest(), screen=None)
    write_session(recording, tmp_path / "s", without)
    facts = gather(tmp_path / "s")
    (picture,) = scanpath_pictures(facts, [])
    assert picture.trial == "block 1"
    assert picture.n_fixations == 7
    parsed(session_page(facts, made_at=MADE_AT))


def test_the_session_is_only_read(made: Path) -> None:
    folder = made / "identified"
    before = {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()}
    session_page(gather(folder), made_at=MADE_AT)
    assert {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir()} == before
