"""The whole window, offscreen, fed with documents."""

import gc
import math
import tracemalloc
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from PyQt6.QtCore import QPoint, QPointF, Qt
from PyQt6.QtGui import QColor, QDesktopServices, QFontMetricsF, QImage, QTextDocument
from PyQt6.QtWidgets import QApplication, QFileDialog, QLabel, QMessageBox, QToolButton, QWidget

from gazelive.dashboard.state.connection import Playback
from gazelive.dashboard.state.gauges import Level
from gazelive.dashboard.views.panel import SKIPPED_FRAMES
from gazelive.dashboard.views.session import next_speed
from gazelive.dashboard.views.theme import DARK, LIGHT, TURN_STYLES, VIEWER_SYMBOLS, text_scale
from gazelive.dashboard.window.actions import SPECS
from gazelive.dashboard.window.figures import save_figure
from gazelive.dashboard.window.preferences import Preferences
from gazelive.errors import ConfigError, TransportError
from gazelive.features.turns import Turn
from gazelive.gaze import documents as d
from gazelive.gaze.documents import encode
from gazelive.wording import speed_words

from ..support.list_feed import ListFeed
from .sent import a_whole_run, model, posterior, run, saccade, summary, trace, trial

PANELS = {
    "posterior_now": "Posterior now",
    "posterior_over_time": "Posterior over time",
    "gaze": "Gaze on the image",
    "traces": "Traces",
    "main_sequence": "Main sequence",
    "quality": "Quality",
    "session": "Session",
}


class Replay:
    """Answers requests as a replay does."""

    def __init__(self, documents=()):
        self.paused, self.speed = False, 1.0
        self.documents = [encode(document) for document in documents]
        self.state = "live"

    def __call__(self, command):
        match command["command"]:
            case "pause" | "resume":
                self.paused = command["command"] == "pause"
            case "speed":
                self.speed = command["speed"]
        return {
            "ok": True,
            "state": self.state,
            "documents": self.documents,
            "playback": {"paused": self.paused, "speed": self.speed},
        }


@pytest.fixture
def feed():
    return ListFeed(a_whole_run(), answer=Replay(), source="tcp://127.0.0.1:5571")


@pytest.fixture
def window(make_window, feed, qtbot):
    window = make_window(feed)
    answered(window, qtbot)
    return window


def answered(window, qtbot):
    """Tick until nothing is waited for."""

    def done():
        window.tick()
        return not window._link.waiting

    window.tick()
    qtbot.waitUntil(done, timeout=60_000)
    for _ in range(SKIPPED_FRAMES + 1):
        window.tick()
    QApplication.processEvents()


def texts(widget):
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget)]


def sent(feed, name):
    return [command for command in feed.requests if command["command"] == name]


def test_all_panels_have_their_titles(window):
    assert {key: panel.title for key, panel in window.panels.items()} == PANELS
    assert all(panel.isVisible() for panel in window.panels.values())
    assert all(panel.accessibleName() for panel in window.panels.values())


def test_every_panel_shows_data(window):
    assert "Ada" in texts(window.panels["posterior_now"])
    assert "2 of 9" in texts(window.panels["session"])
    assert "cat.jpg" in texts(window.panels["session"])
    assert {"✔ Data good", "✔ Computer good"} <= set(texts(window.panels["quality"]))
    for key in ("posterior_over_time", "gaze", "traces", "main_sequence"):
        assert not window.panels[key]._hint.isVisible(), key
        assert _colours(window.panels[key]) > 8, key


def test_drawing_again_takes_no_more_memory(window, feed, monkeypatch):
    """Pictures of symbols and slices of arrays once piled up, about 20 kB per trial."""
    monkeypatch.setattr("gazelive.dashboard.views.panel.SKIPPED_FRAMES", 1)
    documents = a_whole_run()

    def draw(times):
        """Draw the run from its start again, so that there is as much to show as before."""
        parts = [documents[first : first + 10] for first in range(0, len(documents), 10)]
        for part in times * parts:
            feed.put(*part)
            window.tick()
            QApplication.processEvents()
        return times * len(parts)

    def n_blocks():
        gc.collect()
        snapshot = tracemalloc.take_snapshot()
        found = snapshot.filter_traces([tracemalloc.Filter(True, "*pyqtgraph*")])
        return sum(line.count for line in found.statistics("filename"))

    tracemalloc.start()
    try:
        draw(4)
        before = n_blocks()
        n_drawings = draw(4)
        assert n_blocks() < before + n_drawings
    finally:
        tracemalloc.stop()


def test_what_to_do_is_shown_while_something_is_wrong(window, feed, qtbot):
    panel = window.panels["quality"]
    assert not panel._advice.isVisible()
    feed.put(summary(latency_ms=30.0))
    answered(window, qtbot)
    assert {"✔ Data good", "✖ Computer too slow"} <= set(texts(panel))
    assert panel._advice.text().startswith("Latency: the recording is not affected")
    assert panel._advice.isVisible()


def _colours(widget):
    image = widget.grab().toImage().scaled(120, 80)
    return len({image.pixel(x, y) for x in range(120) for y in range(80)})


def test_an_empty_dashboard_shows_hints(make_window, qtbot):
    feed = ListFeed(source="tcp://127.0.0.1:5571")
    feed.connected = False
    window = make_window(feed)
    answered(window, qtbot)
    assert "Waiting for engine at tcp://127.0.0.1:5571…" in window._header.label.text()
    for key in ("posterior_now", "posterior_over_time", "gaze", "traces", "main_sequence"):
        assert window.panels[key]._hint.isVisible(), key
    assert not window._actions["pause"].isEnabled()
    assert not feed.requests


def test_without_a_model_there_is_a_hint_instead_of_lines(make_window, qtbot):
    feed = ListFeed([run(), trial("1")])
    window = make_window(feed)
    answered(window, qtbot)
    panel = window.panels["posterior_over_time"]
    assert "no model" in panel._hint.text().lower()
    assert not any(label.isVisible() for label in panel._labels), "nor images without lines"
    feed.put(model())
    for _ in range(SKIPPED_FRAMES):
        answered(window, qtbot)
    assert "first posterior" in panel._hint.text()


def test_a_lost_engine_reconnects(window, feed, qtbot):
    feed.connected = False
    answered(window, qtbot)
    assert "Waiting for engine" in window._header.label.text()
    assert "Ada" in texts(window.panels["posterior_now"]), "what was known stays"
    assert not window._actions["mark"].isEnabled()
    feed.connected = True
    feed.put(posterior({3: 0.99}, time_ms=9_000, n_saccades=40))
    answered(window, qtbot)
    assert "Replay 1×" in window._header.label.text()
    assert "Dora" in texts(window.panels["posterior_now"])
    assert len(sent(feed, "snapshot")) == 1, "asked for what was missed"


def test_a_snapshot_is_requested_once_the_engine_has_caught_up(make_window, qtbot):
    replay = Replay([run(), model(), trial(3), posterior()])
    replay.state = "catching up"
    window = make_window(ListFeed(answer=replay))
    answered(window, qtbot)
    assert "catching up" in window._header.label.text()
    assert window.state.run is None
    replay.state = "live"
    window._link._clock.advance_s(2.0)
    answered(window, qtbot)
    assert "Ada" in texts(window.panels["posterior_now"])
    window._link._clock.advance_s(2.0)
    answered(window, qtbot)
    assert len(sent(window._link._feed, "snapshot")) == 1


def test_a_late_dashboard_gets_a_snapshot(make_window, qtbot):
    feed = ListFeed(answer=Replay([run(), model(), trial(3), posterior(), summary()]))
    window = make_window(feed)
    answered(window, qtbot)
    assert "Ada" in texts(window.panels["posterior_now"])
    assert "3 of 9" in texts(window.panels["session"])


def test_running_and_settled_differ_in_text_and_pattern(window, feed, qtbot):
    panel = window.panels["posterior_now"]
    running_words, running = texts(panel), panel.grab().toImage()
    assert "RUNNING" in running_words
    last = window.state.posterior
    feed.put(d.Posterior(**{**_fields(last), "settled": True, "n_saccades": last.n_saccades}))
    answered(window, qtbot)
    settled_words, settled = texts(panel), panel.grab().toImage()
    assert "SETTLED" in settled_words
    assert "RUNNING" not in settled_words
    bar = panel._bars.mapTo(panel, QPoint(panel._bars.width() * 52 // 100, 14))
    assert _shades(running, bar) > 1, "hatched"
    assert _shades(settled, bar) == 1, "solid"


def test_trials_without_images_are_counted_as_trials(window, feed, qtbot):
    panel = window.panels["posterior_now"]
    assert "2 images" in panel._evidence.text()
    feed.put(trial(3, 9_000_000), posterior(n_saccades=40, time_ms=9_900, n_images=3))
    answered(window, qtbot)
    assert "3 trials" in panel._evidence.text()
    assert panel._words.text() == "preliminary until the trial ends"
    shown = [entry.text for entry in window.panels["posterior_over_time"]._legend._entries]
    assert "new trial" in shown


def _fields(struct):
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def _shades(image: QImage, around: QPoint) -> int:
    """Count the colours in a patch without its shading's rounding."""
    patch = {
        QColor(image.pixel(around.x() + dx, around.y() + dy)).name()
        for dx in range(-8, 8)
        for dy in range(-3, 3)
    }
    return len(patch)


def test_ten_thousand_viewers_have_a_few_rows(make_window, qtbot):
    shares = dict.fromkeys(range(20), 0.04)
    feed = ListFeed([run(), model(10_000), posterior(shares)])
    window = make_window(feed)
    answered(window, qtbot)
    assert "9,993 others" in window.panels["posterior_now"]._bars.accessibleName()


@pytest.mark.parametrize(
    "name",
    [
        "a participant with a very long name indeed, of group B",
        "Ekaterina-Sofia Lindqvist-Papadopoulos",
        "participant_0123456789_of_group_B_in_the_second_session",
    ],
)
@pytest.mark.parametrize("accepted", [True, False])
def test_a_long_name_is_shortened_not_cut(make_window, qtbot, name, accepted):
    names = d.ModelLoaded(model="m", method="x", viewer_ids=(name, "b"))
    sent = posterior({0: 0.9, 1: 0.1}, accepted=accepted)
    window = make_window(ListFeed([run(name * 3), names, sent]))
    docks = [window._docks.docks[key] for key in ("posterior_now", "gaze")]
    window.resizeDocks(docks, [250, 700], Qt.Orientation.Horizontal)
    answered(window, qtbot)
    assert _cut_labels(window) == []
    label = window.panels["posterior_now"]._name
    assert label.height() >= label.heightForWidth(label.width())
    assert ("most likely" in label.text()) != accepted


@pytest.mark.parametrize("size", [(1280, 800), (3840, 2160)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_label_is_cut(make_window, feed, qtbot, preferences_file, size, theme):
    preferences_file.parent.mkdir()
    preferences = Preferences(preferences_file)
    preferences.theme = theme
    preferences.save()
    window = make_window(feed, size=size)
    answered(window, qtbot)
    assert (window.width(), window.height()) == size
    assert _cut_labels(window) == []
    for panel in window.panels.values():
        assert window.rect().contains(panel.mapTo(window, panel.rect().bottomRight()))


@pytest.mark.parametrize("column_px", [None, 250])
def test_a_stranger_headline_is_whole(make_window, qtbot, column_px):
    window = make_window(ListFeed([run(), model(), posterior({0: 0.9}, unknown=0.9996)]))
    if column_px is not None:
        docks = [window._docks.docks[key] for key in ("posterior_now", "gaze")]
        window.resizeDocks(docks, [column_px, 700], Qt.Orientation.Horizontal)
    answered(window, qtbot)
    panel = window.panels["posterior_now"]
    assert panel.width() <= (column_px or 350)
    assert panel._name.text() == "probably nobody enrolled"
    assert "Ada" in panel._enough.text()
    assert "99.9" in panel._percent.text()
    assert _cut_labels(window) == []
    evidence = panel._evidence
    assert evidence.height() >= evidence.heightForWidth(evidence.width())


@pytest.mark.parametrize("column_px", [None, 250])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"accepted": True, "unknown": 0.01}, ["Ada", "accepted at 1 % false acceptance"]),
        ({"accepted": False, "more_s": 12.0}, ["most likely Ada", "about 12 s more"]),
        ({"accepted": False}, ["most likely Ada", "not accepted at 1 %"]),
        ({"unknown": None}, ["Ada", "fewer than 4 enrolled"]),
    ],
)
def test_the_headline_says_whether_it_is_enough(make_window, qtbot, column_px, changes, words):
    loaded = model(3, false_acceptance_rate=0.01)
    window = make_window(ListFeed([run(), loaded, posterior({0: 0.9, 1: 0.1}, **changes)]))
    if column_px is not None:
        docks = [window._docks.docks[key] for key in ("posterior_now", "gaze")]
        window.resizeDocks(docks, [column_px, 700], Qt.Orientation.Horizontal)
    answered(window, qtbot)
    panel = window.panels["posterior_now"]
    shown = "\n".join(texts(panel))
    assert [word for word in words if word not in shown] == []
    assert _cut_labels(window) == []
    for label in (panel._name, panel._enough):
        assert label.height() >= label.heightForWidth(label.width())
    is_detectable = "unknown" not in changes or changes["unknown"] is not None
    assert ("Unknown viewer" in panel._bars.accessibleName()) == is_detectable


def _cut_labels(window):
    cut = []
    for label in window.findChildren(QLabel):
        if not label.isVisible() or label.wordWrap() or not label.text():
            continue
        metrics = QFontMetricsF(label.font())
        widest = max(metrics.horizontalAdvance(line) for line in label.text().split("\n"))
        if widest > label.width() + 1 or metrics.height() > label.height() + 1:
            cut.append((label.text(), widest, label.width()))
    return cut


def test_text_grows_with_the_window_in_steps():
    assert text_scale(1280, 800) == 1
    assert text_scale(800, 600) == 1
    assert text_scale(1920, 1080) == 1
    assert text_scale(3840, 2160) == 2
    assert text_scale(20_000, 20_000) == 2


class TestGaze:
    def place(self, window, x_deg, y_deg):
        panel = window.panels["gaze"]
        x_px, y_px = window.state.screen.to_px(x_deg, y_deg)
        return panel._view.mapViewToDevice(QPointF(float(x_px), float(y_px)))

    def test_the_screen_keeps_its_proportions(self, window):
        centre, right, low = (self.place(window, *at) for at in ((0, 0), (10, 0), (0, 10)))
        across, down = right.x() - centre.x(), low.y() - centre.y()
        assert across > 0
        assert down > 0, "y grows downwards, as on the screen"
        assert across == pytest.approx(down, rel=0.01)

    def test_non_square_pixels_keep_their_shape(self, make_window, qtbot):
        stream = d.StreamDescription(
            device="x",
            sampling_rate_hz=1000,
            eyes="L",
            screen_px=(1024, 768),
            px_per_deg=(40.0, 30.0),
        )
        window = make_window(ListFeed([d.RunStarted(session="s", stream=stream), trace(0, [1.0])]))
        answered(window, qtbot)
        centre, right, low = (self.place(window, *at) for at in ((0, 0), (8, 0), (0, 8)))
        assert right.x() - centre.x() == pytest.approx(low.y() - centre.y(), rel=0.01)

    def test_the_image_lies_in_its_rectangle(self, window):
        panel = window.panels["gaze"]
        assert panel._image.isVisible()
        rectangle = panel._image.mapRectToParent(panel._image.boundingRect())
        assert rectangle.left() == pytest.approx(209.5, abs=1)
        assert rectangle.width() == pytest.approx(1500, rel=0.01)

    def test_a_missing_image_leaves_its_outline(self, window, feed, qtbot):
        feed.put(trial(5, 9_000_000, image="gone.png", image_rectangle_px=(10.0, 10.0, 90.0, 50.0)))
        answered(window, qtbot)
        panel = window.panels["gaze"]
        assert not panel._image.isVisible()
        assert panel._place.isVisible()

    def test_lost_gaze_is_shown_as_lost(self, window, feed, qtbot):
        feed.put(trace(9_000_000, [math.nan] * 5))
        answered(window, qtbot)
        assert "no gaze" in texts(window.panels["gaze"])


def test_turns_and_viewers_differ_by_more_than_colour():
    drawn = [TURN_STYLES[turn] for turn in Turn if turn is not Turn.NONE]
    assert len(set(drawn)) == len(drawn)
    assert len(set(VIEWER_SYMBOLS)) == len(LIGHT.viewers) == len(DARK.viewers)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_has_enough_contrast(theme):
    for ink in (theme.text, theme.faint, *(theme.level(level) for level in Level)):
        for paper in (theme.panel, theme.plot):
            assert _contrast(ink, paper) >= 4.5, (ink, paper)
    assert _contrast(theme.on_accent, theme.accent) >= 4.5
    for ink in (*theme.viewers, theme.unknown, theme.horizontal, theme.vertical, theme.threshold):
        assert _contrast(ink, theme.plot) >= 3, ink


def _contrast(one, other):
    """Return the contrast of WCAG 2."""

    def luminance(colour):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def rgb(colour):
        found = QColor(colour)
        return found.redF(), found.greenF(), found.blueF()

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class TestControls:
    def press(self, qtbot, window, keys, modifier=Qt.KeyboardModifier.ControlModifier):
        qtbot.keyClick(window, keys, modifier)
        answered(window, qtbot)

    def test_pause_and_resume_by_key(self, window, feed, qtbot):
        assert window._actions["pause"].text() == "&Pause"
        self.press(qtbot, window, Qt.Key.Key_P)
        assert sent(feed, "pause")
        assert window._actions["pause"].text() == "&Resume"
        assert "Replay paused" in window._header.label.text()
        self.press(qtbot, window, Qt.Key.Key_P)
        assert sent(feed, "resume")
        assert "Replay 1×" in window._header.label.text()

    def test_speed_by_key_and_by_choice(self, window, feed, qtbot):
        self.press(qtbot, window, Qt.Key.Key_BracketRight)
        assert sent(feed, "speed")[-1]["speed"] == 2.0
        assert window._session.speed.currentText() == "2×"
        assert "2×" in window._header.label.text()
        window._session.speed.setCurrentIndex(window._session.speed.count() - 1)
        window._session.speed.activated.emit(0)
        answered(window, qtbot)
        assert sent(feed, "speed")[-1]["speed"] is None
        self.press(qtbot, window, Qt.Key.Key_BracketRight)
        assert sent(feed, "speed")[-1]["speed"] is None, "there is nothing faster"

    def test_an_unlisted_speed_is_shown(self, window, qtbot):
        offered = window._session.speed.count()
        for speed in (4.0, None, 4.0, 1.0, 4.0):
            window._session.show_playback(Playback(speed=speed))
            assert window._session.speed.currentText() == speed_words(speed)
        assert window._session.speed.count() == offered + 1
        texts = [window._session.speed.itemText(i) for i in range(offered + 1)]
        assert texts[texts.index("4×") - 1 : texts.index("4×") + 2] == ["2×", "4×", "5×"]

    def test_a_marker_has_the_typed_text(self, window, feed, qtbot):
        qtbot.keyClicks(window._session.mark_text, "coughed")
        qtbot.keyClick(window._session.mark_text, Qt.Key.Key_Return)
        answered(window, qtbot)
        assert sent(feed, "mark") == [{"command": "mark", "text": "coughed"}]
        assert window._session.mark_text.text() == ""
        self.press(qtbot, window, Qt.Key.Key_M)
        assert sent(feed, "mark")[-1]["text"] == ""

    def test_a_refused_request_is_logged(self, make_window, qtbot):
        def refuse(command):
            if command["command"] == "mark":
                raise TransportError("the tracker takes no marks")
            return {"ok": True}

        window = make_window(ListFeed(a_whole_run(), answer=refuse))
        answered(window, qtbot)
        self.press(qtbot, window, Qt.Key.Key_M)
        assert "the tracker takes no marks" in [line.text for line in window.state.log.lines]

    def test_a_live_session_has_markers_but_no_pause(self, make_window, qtbot):
        feed = ListFeed(a_whole_run(), answer=lambda _: {"ok": True, "playback": None})
        window = make_window(feed)
        answered(window, qtbot)
        assert not window._actions["pause"].isEnabled()
        assert not window._session.speed.isVisible()
        assert window._actions["mark"].isEnabled()
        for name in ("calibrate", "end"):
            assert window._session.buttons[name].isVisible()
            assert not window._actions[name].isEnabled(), "the experiment does not answer"

    def test_a_live_session_is_calibrated_and_stopped(self, make_window, qtbot):
        takes = ["end", "calibrate"]
        feed = ListFeed(
            a_whole_run(), answer=lambda _: {"ok": True, "playback": None, "takes": takes}
        )
        window = make_window(feed)
        answered(window, qtbot)
        qtbot.mouseClick(window._session.buttons["calibrate"], Qt.MouseButton.LeftButton)
        answered(window, qtbot)
        assert sent(feed, "calibrate")
        for answer in ("Cancel", "Stop session"):
            assert not sent(feed, "end"), "only if it is confirmed"
            qtbot.mouseClick(window._session.buttons["end"], Qt.MouseButton.LeftButton)
            box = window.findChildren(QMessageBox)[-1]
            assert box.defaultButton().text().replace("&", "") == "Cancel"
            (button,) = [b for b in box.buttons() if b.text().replace("&", "") == answer]
            button.click()
            answered(window, qtbot)
        assert sent(feed, "end")

    def test_a_replay_has_its_own_buttons(self, window):
        shown = {name for name, button in window._session.buttons.items() if button.isVisible()}
        assert shown == {"pause", "save", "folder", "mark"}
        assert window._session.speed.isVisible()

    def test_the_viewer_can_be_hidden(self, window, qtbot):
        assert "Ada" in texts(window.panels["session"])
        self.press(qtbot, window, Qt.Key.Key_H)
        assert "Ada" not in texts(window.panels["session"])
        assert "hidden" in texts(window.panels["session"])

    def test_the_session_folder_is_opened_if_it_exists(
        self, make_window, qtbot, tmp_path, monkeypatch
    ):
        opened = []
        monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url) or True)
        window = make_window(ListFeed([run(folder=str(tmp_path))]))
        answered(window, qtbot)
        self.press(qtbot, window, Qt.Key.Key_O)
        assert [url.toLocalFile() for url in opened] == [str(tmp_path)]
        elsewhere = make_window(ListFeed([run("far", folder="/not/on/this/host")]))
        answered(elsewhere, qtbot)
        assert not elsewhere._actions["folder"].isEnabled()

    def test_every_panel_is_reached_by_its_number(self, window, qtbot):
        for number, key in enumerate(PANELS, 1):
            self.press(qtbot, window, Qt.Key(Qt.Key.Key_0 + number))
            assert QApplication.focusWidget() is window.panels[key]

    def test_every_control_is_reached_by_tab_and_has_a_name(self, window):
        reached, widget = set(), window.panels["posterior_now"]
        for _ in range(200):
            reached.add(widget)
            widget = widget.nextInFocusChain()
        session = window._session
        controls = [*session.buttons.values(), session.speed, session.mark_text, session._log]
        controls += [window.panels["traces"]._choice, window._over_time._choice]
        for control in controls:
            assert control in reached
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
            assert control.accessibleName()

    def test_the_keyboard_shortcuts_are_listed(self, window, qtbot):
        self.press(qtbot, window, Qt.Key.Key_F1, Qt.KeyboardModifier.NoModifier)
        box = window.findChild(QMessageBox)
        document = QTextDocument()
        document.setHtml(box.text())
        words = document.toPlainText().replace("\xa0", " ")
        for spec in SPECS:
            assert spec.shortcut in words
            assert spec.text.replace("&", "") in words
        assert "Go to Session" in words
        assert "Ctrl+7" in words
        box.close()

    def test_a_panel_floats_and_docks_by_key_and_button(self, window, qtbot):
        dock = window._docks.docks["traces"]
        self.press(qtbot, window, Qt.Key.Key_4)
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        self.press(qtbot, window, Qt.Key.Key_F, both)
        assert dock.isFloating()
        to_float, to_close = dock.titleBarWidget().findChildren(QToolButton)
        assert "Traces" in to_float.accessibleName()
        qtbot.mouseClick(to_float, Qt.MouseButton.LeftButton)
        assert not dock.isFloating()
        qtbot.mouseClick(to_close, Qt.MouseButton.LeftButton)
        assert dock.isHidden()

    def test_the_buttons_of_a_panel_grow_with_the_text(self, window, qtbot):
        (button, _) = window._docks.docks["traces"].titleBarWidget().findChildren(QToolButton)
        small = button.iconSize().width()
        window.resize(3840, 2160)
        assert button.iconSize().width() > 1.5 * small


class TestLook:
    def test_dark_and_light_and_text_size_by_key(self, window, qtbot):
        before = window._look
        qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        assert window._look.theme is not before.theme
        qtbot.keyClick(window, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
        assert window._look.scale == pytest.approx(1.1)
        qtbot.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
        qtbot.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
        assert window._look.scale < 1
        qtbot.keyClick(window, Qt.Key.Key_0, Qt.KeyboardModifier.ControlModifier)
        assert window._look.scale == 1

    def test_the_layout_is_saved(self, make_window, feed, qtbot):
        window = make_window(feed)
        answered(window, qtbot)
        usual, docks = window._look.theme, window._docks.docks
        docks["main_sequence"].titleBarWidget().close_wanted.emit()
        window.tabifyDockWidget(docks["posterior_now"], docks["quality"])
        window.resize(1500, 900)
        window._over_time.choose_axis("seconds")
        qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        qtbot.keyClick(window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
        assert window._look.theme is not usual
        window.close()
        again = make_window(ListFeed(), size=(1500, 900))
        docks = again._docks.docks
        assert not docks["main_sequence"].isVisible()
        assert docks["quality"] in again.tabifiedDockWidgets(docks["posterior_now"])
        assert again._look.theme is not usual
        assert again._session.hide_viewer
        assert again._over_time.against == "seconds"
        again._reset_layout()
        assert docks["main_sequence"].isVisible()
        assert not again.tabifiedDockWidgets(docks["posterior_now"])

    def test_damaged_preferences_are_ignored(self, make_window, preferences_file):
        preferences_file.parent.mkdir()
        preferences_file.write_text(
            "[look]\ntheme=purple\nzoom=huge\n[window]\nlayout=nonsense\n"
            "[posterior]\nagainst=@Invalid()\n",
            encoding="utf-8",
        )
        window = make_window(ListFeed())
        assert window._look.scale == 1
        assert all(dock.isVisible() for dock in window._docks.docks.values())

    def test_hidden_panels_cost_nothing_and_catch_up(self, window, feed, qtbot):
        dock = window._docks.docks["posterior_now"]
        dock.hide()
        feed.put(posterior({4: 1.0}, time_ms=9_000))
        answered(window, qtbot)
        dock.show()
        answered(window, qtbot)
        assert "Emmy" in texts(window.panels["posterior_now"])


class TestFigures:
    @pytest.mark.parametrize("key", [*PANELS, "window"])
    @pytest.mark.parametrize("suffix", [".png", ".svg"])
    def test_every_panel_is_saved(self, window, tmp_path, key, suffix):
        widget: QWidget = window if key == "window" else window.panels[key]
        path = tmp_path / f"figure{suffix}"
        save_figure(widget, path)
        if suffix == ".png":
            image = QImage(str(path))
            assert image.width() == 2 * widget.width()
            assert len({image.pixel(x, y) for x in range(0, 400, 5) for y in range(0, 400, 5)}) > 3
        else:
            drawn = ET.parse(path).getroot()
            shapes = [
                e for e in drawn.iter() if e.tag.endswith(("path", "polyline", "text", "rect"))
            ]
            assert len(shapes) > 5, "drawn, not photographed"

    def test_a_figure_with_an_unknown_suffix_or_folder_is_refused(self, window, tmp_path):
        with pytest.raises(ConfigError, match="end in"):
            save_figure(window, tmp_path / "figure.bmp")
        for suffix in (".png", ".svg"):
            with pytest.raises(ConfigError, match="cannot write"):
                save_figure(window, tmp_path / "missing" / f"figure{suffix}")

    def test_saving_from_the_menu(self, window, qtbot, tmp_path, monkeypatch):
        answers = [
            (str(tmp_path / "one"), "SVG (*.svg)"),
            ("", ""),
            (str(tmp_path / "no" / "two.png"), "PNG (*.png)"),
        ]
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answers.pop(0))
        traces = next(a for a in window._save_menu.actions() if a.text() == "Traces")
        for _ in range(3):
            traces.trigger()
        assert (tmp_path / "one.svg").is_file()
        logged = [line.text for line in window.state.log.lines]
        assert any(text.startswith("Saved") for text in logged)
        assert any("cannot write" in text for text in logged)

    def test_the_save_button_opens_a_menu(self, window):
        button = window._session.buttons["save"]
        assert button.popupMode() is QToolButton.ToolButtonPopupMode.InstantPopup
        assert {"Whole window", *PANELS.values()} == {a.text() for a in window._save_menu.actions()}


@pytest.mark.parametrize(
    ("speed", "slower", "faster"),
    [(1.0, 0.5, 2.0), (4.0, 2.0, 5.0), (0.25, 0.25, 0.5), (None, 50.0, None), (99.0, 50.0, None)],
)
def test_the_next_speed_from_any_speed(speed, slower, faster):
    assert next_speed(speed, -1) == slower
    assert next_speed(speed, +1) == faster


def test_a_closed_window_closes_its_feed(window, feed):
    window.close()
    assert not feed.connected


def test_saccades_after_the_traces_were_drawn_are_shaded(window, feed, qtbot):
    before = _colours(window.panels["traces"])
    feed.put(saccade(7_900), trace(8_000_000, [0.0] * 50))
    answered(window, qtbot)
    assert window.panels["traces"]._bands[0]._stretches
    assert before > 8


def test_the_viewer_is_hidden_on_request(make_window):
    window = make_window(ListFeed(a_whole_run()))
    window.tick()
    assert "Ada" in shown_words(window.panels["session"])
    window.hide_viewer()
    assert "Ada" not in shown_words(window.panels["session"])


def shown_words(panel: QWidget) -> str:
    return " ".join(label.text() for label in panel.findChildren(QLabel))
