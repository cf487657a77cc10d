"""Places of the window, of floating panels, and the user's own layout."""

import pytest

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from PyQt6.QtCore import QPoint, QRect, QSize, Qt
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QToolButton

from gazelive.dashboard.window.placement import (
    FRAME,
    first_place,
    fitted,
    free_place,
    left_of_experiment,
    screen_areas,
    shared,
)
from gazelive.dashboard.window.preferences import Preferences
from gazelive.system.screen import WINDOW_SHARE

from ..support.list_feed import ListFeed
from .sent import a_whole_run, run

SCREENS = [QRect(0, 0, *size) for size in ((1280, 800), (1920, 1080), (3840, 2160))]


def free(screen):
    return screen.marginsRemoved(FRAME)


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_first_window_fits_its_screen_and_is_not_tiny(screen):
    place = first_place(free(screen))
    assert screen.contains(place.marginsAdded(FRAME))
    assert place.width() >= 0.85 * screen.width()
    assert place.height() >= 0.85 * screen.height()


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_experiments_window_has_room_at_the_right(screen):
    place = left_of_experiment(free(screen)).marginsAdded(FRAME)
    assert place.topLeft() == screen.topLeft()
    assert place.right() < (1 - WINDOW_SHARE) * screen.width()
    assert place.bottom() == screen.bottom()


def test_a_window_of_another_screen_is_moved_and_shrunk():
    area = free(SCREENS[0])
    assert fitted(QRect(100, 100, 600, 500), area) == QRect(100, 100, 600, 500)
    assert fitted(QRect(1000, 60, 600, 500), area) == QRect(672, 60, 600, 500)
    assert fitted(QRect(5000, 5000, 3000, 2000), area) == area


def test_a_floating_panel_covers_nothing():
    small, large = (free(screen) for screen in SCREENS[:2])
    size, window = QSize(400, 300), QRect(8, 40, 1300, 1000)
    place = free_place(size, window, [large])
    assert place.size() == size
    assert not place.intersects(window)
    beside = free_place(size, QRect(600, 40, 1300, 1000), [large])
    assert beside.right() < 600
    assert free_place(size, small, [small]) is None
    other = large.translated(2000, 0)
    assert other.contains(free_place(size, small, [small, other]))


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_without_room_window_and_panel_share_the_screen(screen):
    area = free(screen)
    window, panel = shared(QSize(3000, 3000), area)
    assert area.contains(window)
    assert area.contains(panel)
    assert not window.marginsAdded(FRAME).intersects(panel)
    assert window.width() > 0.6 * area.width()


def test_on_the_screen_of_the_experiment_the_window_makes_room(make_window, preferences_file):
    window = make_window(ListFeed(a_whole_run()))
    (area,) = screen_areas()
    window.place(monitor=1, beside=1)
    assert window.geometry() != left_of_experiment(area), "the only screen is number 0"
    window.place(monitor=1, beside=0)
    assert window.geometry().topLeft() == area.topLeft()
    window.close()
    assert Preferences(preferences_file).geometry is None, "not the user's choice"


def test_it_moves_to_an_existing_screen(make_window):
    window = make_window(ListFeed(a_whole_run()))
    window.move(-5000, -5000)
    window.place(monitor=7)
    (area,) = screen_areas()
    assert area.contains(window.geometry().center())
    window.place(size=(500, 300), monitor=7)
    window.move(-5000, -5000)
    window.place(size=(1500, 900), monitor=0)
    assert (window.width(), window.height()) == (1500, 900)
    assert area.contains(window.geometry().center())


class TestOwnLayout:
    """Only what the user arranged is kept: else the panels follow the size of the window."""

    @pytest.fixture
    def window(self, make_window):
        window = make_window(ListFeed(a_whole_run()))
        window.tick()
        QApplication.processEvents()
        return window

    def kept(self, window, preferences_file):
        window.close()
        return Preferences(preferences_file).layout is not None

    def drag(self, window, by_px):
        left, right = (window._docks.docks[key].geometry() for key in ("posterior_now", "gaze"))
        start = QPoint((left.right() + right.left()) // 2, left.center().y())
        no = Qt.KeyboardModifier.NoModifier
        QTest.mousePress(window, Qt.MouseButton.LeftButton, no, start)
        for part in (1, 2):
            QTest.mouseMove(window, start + QPoint(part * by_px // 2, 0))
            QApplication.processEvents()
        QTest.mouseRelease(window, Qt.MouseButton.LeftButton, no, start + QPoint(by_px, 0))
        QApplication.processEvents()

    def test_a_small_window_leaves_nothing_behind(self, window, preferences_file, make_window):
        wide = [dock.width() for dock in window._docks.docks.values()]
        window.resize(700, 600)
        QApplication.processEvents()
        assert not self.kept(window, preferences_file)
        again = make_window(ListFeed(a_whole_run()))
        QApplication.processEvents()
        assert [dock.width() for dock in again._docks.docks.values()] == wide

    def test_a_small_window_does_not_squeeze_what_was_dragged(
        self, window, preferences_file, make_window
    ):
        self.drag(window, 80)
        dragged = [dock.width() for dock in window._docks.docks.values()]
        window.close()
        small = make_window(ListFeed(a_whole_run()), size=(700, 600))
        QApplication.processEvents()
        assert self.kept(small, preferences_file)
        again = make_window(ListFeed(a_whole_run()))
        QApplication.processEvents()
        assert [dock.width() for dock in again._docks.docks.values()] == dragged

    def test_dragged_edges_are_kept(self, window, preferences_file):
        self.drag(window, 80)
        assert self.kept(window, preferences_file)

    def test_a_click_between_panels_changes_nothing(self, window, preferences_file):
        self.drag(window, 0)
        assert not self.kept(window, preferences_file)

    @pytest.mark.parametrize("way", ["button", "menu"])
    def test_a_hidden_panel_is_kept(self, window, preferences_file, way):
        dock = window._docks.docks["traces"]
        if way == "button":
            _, close = dock.titleBarWidget().findChildren(QToolButton)
            close.click()
        else:
            dock.toggleViewAction().trigger()
        assert dock.isHidden()
        assert self.kept(window, preferences_file)

    def test_a_reset_forgets_it(self, window, preferences_file):
        window._docks.docks["traces"].titleBarWidget().close_wanted.emit()
        window._reset_layout()
        assert not self.kept(window, preferences_file)

    def test_a_floating_panel_names_the_session(self, make_window):
        folder = "/lab/sessions/ada-01-20260101-101500"
        window = make_window(ListFeed([run(folder=folder)]))
        window.tick()
        title = window._docks.docks["quality"].titleBarWidget()
        assert title._name.text() == "Quality"
        title._float.click()
        window._docks.docks["quality"].resize(600, 300)
        assert title._name.text() == "Quality – ada-01-20260101-101500"
        assert window.windowTitle() == "ada-01-20260101-101500 – gazelive"
        window.hide_viewer()
        assert "ada" not in window.windowTitle() + title._name.text()
        assert "session s01" in window.windowTitle()
        title._float.click()
        assert title._name.text() == "Quality"
