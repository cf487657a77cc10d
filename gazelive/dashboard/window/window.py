"""Main window: panels in docks, their updates, and the actions of buttons and keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtCore import QEvent, QRect, Qt, QTimer, QUrl
from PyQt6.QtGui import QAction, QCloseEvent, QDesktopServices, QGuiApplication, QResizeEvent
from PyQt6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMenu, QMessageBox, QWidget

from gazelive.clock import Clock, MonotonicClock
from gazelive.dashboard.engine_link import EngineLink
from gazelive.dashboard.feed import DocumentFeed
from gazelive.dashboard.state.session_facts import session_name
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.gaze import GazeOnImage
from gazelive.dashboard.views.main_sequence import MainSequencePanel
from gazelive.dashboard.views.panel import Look, Panel
from gazelive.dashboard.views.posterior_now import PosteriorNow
from gazelive.dashboard.views.posterior_over_time import PosteriorOverTime
from gazelive.dashboard.views.quality import QualityPanel
from gazelive.dashboard.views.session import SessionPanel, next_speed
from gazelive.dashboard.views.theme import (
    apply_theme,
    scaled_font,
    style_sheet,
    text_scale,
    theme_for,
)
from gazelive.dashboard.views.traces import Traces
from gazelive.dashboard.window.actions import SAVE_SHORTCUT, fill_menus, keys_table, make_actions
from gazelive.dashboard.window.docks import LAYOUT_VERSION, Docks
from gazelive.dashboard.window.figures import save_figure
from gazelive.dashboard.window.header import Header
from gazelive.dashboard.window.placement import (
    area_of,
    centred,
    first_place,
    fitted,
    left_of_experiment,
    screen_areas,
)
from gazelive.dashboard.window.preferences import Preferences
from gazelive.errors import GazeliveError
from gazelive.stimuli import find_image

FRAME_MS = 33
"""Interval of updates: just over 30 frames per second."""
ZOOM_STEP = 1.1


class DashboardWindow(QMainWindow):
    """Shows the documents of a feed."""

    def __init__(
        self,
        feed: DocumentFeed,
        preferences: Preferences,
        *,
        image_folders: Sequence[Path] = (),
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self.state = DashboardState(feed.source)
        self._link = EngineLink(feed, self.state, clock or MonotonicClock(), self._update_controls)
        self._preferences = preferences
        self._image_folders = tuple(image_folders)
        self._look: Look | None = None
        self._has_own_layout = False
        """True once the user has arranged the panels; else they follow the window's size."""
        self._is_rearranged = False
        """True if that happened in this window: a layout that was only squeezed is not saved."""
        self._pressed_on: list[QRect] = []
        """The panels' places when a mouse button was pressed between them."""
        self._is_placed = False
        """True if another window determines the place of this one."""
        self._theme_choice = preferences.theme
        self._zoom = preferences.zoom
        self._actions = make_actions(
            self,
            {
                "pause": self._pause_or_resume,
                "slower": lambda: self._change_speed(-1),
                "faster": lambda: self._change_speed(+1),
                "mark": self._mark_typed,
                "calibrate": self._calibrate,
                "end": self._end_session,
                "folder": self._open_folder,
                "hide_viewer": self._hide_viewer,
                "quit": self._quit,
                "dark": self._toggle_theme,
                "larger": lambda: self._set_zoom(self._zoom * ZOOM_STEP),
                "smaller": lambda: self._set_zoom(self._zoom / ZOOM_STEP),
                "usual": lambda: self._set_zoom(1.0),
                "full_screen": self._toggle_full_screen,
                "float": self._float_panel,
                "reset": self._reset_layout,
                "keys": self._show_keys,
            },
        )
        self._save_menu = QMenu("&Save figure", self)
        self._make_panels()
        self._make_menus()
        self._restore()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self.tick)
        hints = QGuiApplication.styleHints()
        if hints is not None:
            hints.colorSchemeChanged.connect(lambda _scheme: self._update_look())

    # -- construction -------------------------------------------------------------------------

    def _make_panels(self) -> None:
        names = ("pause", "calibrate", "end", "mark", "folder")
        buttons = {name: self._actions[name] for name in names}
        buttons["folder"].setIconText("Folder")  # short enough for the row of buttons
        buttons["end"].setIconText("Stop")
        save = QAction("&Save figure ▾", self)
        save.setIconText("Save ▾")
        save.setShortcut(SAVE_SHORTCUT)
        save.setMenu(self._save_menu)
        save.triggered.connect(self._show_save_menu)
        self.addAction(save)
        self._session = SessionPanel({**buttons, "save": save})
        self._over_time = PosteriorOverTime()
        panels: tuple[Panel, ...] = (
            PosteriorNow(),
            self._over_time,
            GazeOnImage(self._image_file),
            Traces(),
            MainSequencePanel(),
            QualityPanel(),
            self._session,
        )
        self.panels = {panel.key: panel for panel in panels}
        self._docks = Docks(self, self.panels, self._arranged)
        self._session.speed_chosen.connect(self._set_speed)
        self._session.mark_wanted.connect(self._mark)

    def _make_menus(self) -> None:
        bar = self.menuBar()
        assert bar is not None
        bar.setNativeMenuBar(False)  # macOS would not show the corner widget below
        for title, widget in (
            ("Whole window", self),
            *((panel.title, panel) for panel in self.panels.values()),
        ):
            action = self._save_menu.addAction(title)
            assert action is not None
            action.triggered.connect(lambda _checked, widget=widget: self._save_figure(widget))
        panels_menu = QMenu("&Panels", self)
        self._docks.fill_menu(panels_menu)
        fill_menus(bar, self._actions, self._save_menu, panels_menu)
        self._header = Header()
        bar.setCornerWidget(self._header)

    def _restore(self) -> None:
        self.setWindowTitle("gazelive")
        self.setContentsMargins(6, 0, 6, 6)
        areas = screen_areas()
        self.setGeometry(first_place(areas[0]))
        self._docks.arrange()
        geometry, layout = self._preferences.geometry, self._preferences.layout
        if geometry is not None and self.restoreGeometry(geometry) and not self.isMaximized():
            self.setGeometry(fitted(self.geometry(), area_of(self.geometry(), areas)))
        with self._docks.by_program():
            own = layout is not None and self.restoreState(layout, LAYOUT_VERSION)
        self._has_own_layout = own
        self._session.hide_viewer = self._preferences.hide_viewer
        self._actions["hide_viewer"].setChecked(self._session.hide_viewer)
        self._over_time.choose_axis(self._preferences.against)
        self._update_look()
        self._update_controls()

    def place(
        self,
        *,
        size: tuple[int, int] | None = None,
        monitor: int | None = None,
        beside: int | None = None,
    ) -> None:
        """Move the window to a screen, or beside the window of the experiment on screen `beside`.

        With a size it has this size, whatever the screen.
        """
        areas = screen_areas()
        if size is not None:
            self.resize(*size)
        if monitor is None and beside is None:
            return
        last = len(areas) - 1
        number = last if monitor is None else min(monitor, last)
        area = areas[number]
        if number == beside and size is None:
            self._is_placed = True
            self.setWindowState(Qt.WindowState.WindowNoState)
            self.setGeometry(left_of_experiment(area))
        elif not area.contains(self.geometry().center()):
            self.setWindowState(Qt.WindowState.WindowNoState)
            self.setGeometry(first_place(area) if size is None else centred(self.size(), area))

    # -- updates ------------------------------------------------------------------------------

    def start(self) -> None:
        """Show the window and start its updates."""
        self.show()
        self.panels["posterior_now"].clearFocus()  # no focus frame before the first Tab
        self._timer.start()

    def tick(self) -> None:
        """Take new documents and repaint the panels that changed."""
        self._link.update()
        for panel in self.panels.values():
            if panel.isVisible():
                panel.refresh(self.state)
        if self._header.show_connection(self.state.connection):
            bar = self.menuBar()
            assert bar is not None
            bar.adjustSize()
            bar.setCornerWidget(self._header)
            self._update_controls()

    # -- actions ------------------------------------------------------------------------------

    def _update_controls(self) -> None:
        """Enable the actions that are possible now, and update their names."""
        playback, run = self.state.playback, self.state.run
        there = self.state.connected and self.state.stopped is None and run is not None
        paused = playback is not None and playback.paused
        self._actions["pause"].setText("&Resume" if paused else "&Pause")
        for name in ("pause", "slower", "faster"):
            self._actions[name].setEnabled(there and playback is not None)
        for name in ("calibrate", "end"):
            self._actions[name].setEnabled(there and name in self.state.takes)
        self._actions["mark"].setEnabled(there)
        self._session.mark_text.setEnabled(there)
        self._actions["folder"].setEnabled(self._session_folder() is not None)
        self._session.show_playback(playback if there else None)
        self._update_titles()

    def _update_titles(self) -> None:
        name = session_name(self.state, hide_viewer=self._session.hide_viewer)
        self.setWindowTitle(f"{name} – gazelive" if name else "gazelive")
        self._docks.set_session(name)

    def _pause_or_resume(self) -> None:
        paused = self.state.playback is not None and self.state.playback.paused
        self._link.send({"command": "resume" if paused else "pause"})

    def _set_speed(self, speed: float | None) -> None:
        self._link.send({"command": "speed", "speed": speed})

    def _change_speed(self, step: int) -> None:
        speed = None if self.state.playback is None else self.state.playback.speed
        self._set_speed(next_speed(speed, step))

    def _mark_typed(self) -> None:
        self._session.mark()

    def _quit(self) -> None:
        self.close()

    def _show_save_menu(self) -> None:
        self._session.buttons["save"].showMenu()

    def _mark(self, text: str) -> None:
        self._link.send({"command": "mark", "text": text})
        self._log_info(f"Marker: {text}" if text else "Marker")

    def _calibrate(self) -> None:
        self._link.send({"command": "calibrate"})
        self._log_info("Asked for a calibration before the next image")

    def _end_session(self) -> None:
        """End the session if the user confirms it."""
        box = QMessageBox(self)
        box.setWindowTitle(self.windowTitle())
        box.setFont(self.font())
        box.setText("Stop the session now?")
        box.setInformativeText("Everything recorded so far is saved.")
        box.setStandardButtons(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        ending = box.addButton("&Stop session", QMessageBox.ButtonRole.AcceptRole)
        assert ending is not None
        ending.clicked.connect(lambda: self._link.send({"command": "end"}))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _log_info(self, text: str) -> None:
        self.state.log.add("info", text, self.state.elapsed_s)

    def hide_viewer(self) -> None:
        """Hide the viewer's name, like the menu action."""
        self._actions["hide_viewer"].setChecked(True)
        self._hide_viewer()

    def _hide_viewer(self) -> None:
        self._session.hide_viewer = self._actions["hide_viewer"].isChecked()
        self._session.refresh(self.state)
        self._update_titles()

    def _session_folder(self) -> Path | None:
        folder = None if self.state.run is None else self.state.run.folder
        return Path(folder) if folder is not None and Path(folder).is_dir() else None

    def _open_folder(self) -> None:
        folder = self._session_folder()
        if folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _save_figure(self, widget: QWidget) -> None:
        folder = self._session_folder() or Path.home()
        name = "dashboard" if widget is self else str(getattr(widget, "key", "panel"))
        chosen, kind = QFileDialog.getSaveFileName(
            self, "Save figure", str(folder / f"{name}.png"), "PNG (*.png);;SVG (*.svg)"
        )
        if not chosen:
            return
        path = Path(chosen)
        if not path.suffix:
            path = path.with_suffix(".svg" if kind.startswith("SVG") else ".png")
        try:
            save_figure(widget, path)
        except GazeliveError as error:
            self.state.log.add("error", str(error), self.state.elapsed_s)
        else:
            self._log_info(f"Saved {path}")

    def _show_keys(self) -> None:
        box = QMessageBox(self)
        box.setWindowTitle("Keyboard shortcuts")
        box.setTextFormat(Qt.TextFormat.RichText)
        box.setFont(self.font())
        box.setText(keys_table([panel.title for panel in self.panels.values()]))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _image_file(self, name: str) -> Path | None:
        folders = list(self._image_folders)
        if self.state.run is not None and self.state.run.folder is not None:
            folders.append(Path(self.state.run.folder))
        return find_image(name, folders)

    # -- look and layout ----------------------------------------------------------------------

    def _toggle_theme(self) -> None:
        self._theme_choice = "light" if theme_for(self._theme_choice).name == "dark" else "dark"
        self._update_look()

    def _set_zoom(self, zoom: float) -> None:
        self._zoom = min(max(zoom, 0.7), 2.0)
        self._update_look()

    def _toggle_full_screen(self) -> None:
        if self._actions["full_screen"].isChecked():
            self.showFullScreen()
        else:
            self.showNormal()

    def _float_panel(self) -> None:
        self._docks.float_or_dock()

    def _reset_layout(self) -> None:
        self._has_own_layout, self._is_rearranged = False, True
        self._docks.arrange()

    def _update_look(self) -> None:
        scale = text_scale(self.width(), self.height()) * self._zoom
        look = Look(theme_for(self._theme_choice), scale)
        if look == self._look:
            return
        self._look = look
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, look.theme)
        self.setStyleSheet(style_sheet(look.theme, look.scale))
        self.setFont(scaled_font(look.scale))
        bar = self.menuBar()
        assert bar is not None
        bar.setFont(scaled_font(look.scale))
        self._docks.set_look(look)
        self._header.set_look(look)
        for panel in self.panels.values():
            panel.scale_spacing(look.scale)
            panel.set_look(look)
            panel.refresh(self.state)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Keep the default layout in proportion, and the text at a size that fits."""
        super().resizeEvent(event)
        if self._look is None:
            return  # still under construction
        self._update_look()
        if not self._has_own_layout:
            self._docks.resize()

    def event(self, event: QEvent | None) -> bool:
        """Take it for the user's own layout if the edges of panels were dragged."""
        kind = None if event is None else event.type()
        if kind == QEvent.Type.MouseButtonPress:
            self._pressed_on = self._docks.sizes()
        handled = super().event(event)
        if kind == QEvent.Type.MouseButtonRelease and self._pressed_on != self._docks.sizes():
            self._arranged()
        return handled

    def _arranged(self) -> None:
        self._has_own_layout = self._is_rearranged = True

    def changeEvent(self, event: QEvent | None) -> None:  # noqa: N802
        """Keep the check mark of full screen up to date, however the state changed."""
        super().changeEvent(event)
        if event is not None and event.type() == QEvent.Type.WindowStateChange:
            self._actions["full_screen"].setChecked(self.isFullScreen())

    def closeEvent(self, event: QCloseEvent | None) -> None:  # noqa: N802
        """Save the preferences and close the connection."""
        self._timer.stop()
        preferences = self._preferences
        if not self._is_placed:
            preferences.geometry = self.saveGeometry()
        if self._is_rearranged:
            preferences.layout = self.saveState(LAYOUT_VERSION) if self._has_own_layout else None
        preferences.theme = self._theme_choice
        preferences.zoom = self._zoom
        preferences.hide_viewer = self._session.hide_viewer
        preferences.against = self._over_time.against
        preferences.save()
        self._link.close()
        super().closeEvent(event)
