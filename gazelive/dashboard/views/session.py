"""Panel `Session`: facts, buttons and notices."""

from __future__ import annotations

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QAction, QColor, QFontMetricsF, QResizeEvent
from PyQt6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gazelive.dashboard.state.connection import Playback
from gazelive.dashboard.state.notices import LoggedNotice
from gazelive.dashboard.state.session_facts import Facts, session_facts
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.panel import Look, Panel
from gazelive.dashboard.views.theme import scaled_font
from gazelive.wording import clock_time, speed_words

SPEEDS: tuple[float | None, ...] = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, None)
FASTEST = 1e12
"""Stands for as fast as possible in comparisons."""
NOTICE_SIGNS = {"info": "·", "warning": "▲", "error": "✖"}
LIVE, REPLAY = 0, 1
"""Pages of buttons."""
MOST_SHOWN = 150
MARK_LENGTH = 200


class SessionPanel(Panel):
    """Facts, buttons and the log."""

    key = "session"
    title = "Session"
    about = "Facts of the session, controls and notices"

    speed_chosen = pyqtSignal(object)
    """Speed relative to real time; None is as fast as possible."""
    mark_wanted = pyqtSignal(str)

    def __init__(self, actions: dict[str, QAction]) -> None:
        super().__init__()
        self.hide_viewer = False
        self._look: Look | None = None
        self._facts: Facts = {}
        self._drawn_log = -1
        self._labels: dict[str, tuple[QLabel, QLabel]] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self.buttons = {name: _button(action) for name, action in actions.items()}
        self.buttons["save"].setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.speed = QComboBox()
        self.speed.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.speed.setAccessibleName("Replay speed")
        self.speed.setToolTip("Replay speed (Ctrl+[ slower, Ctrl+] faster)")
        for speed in SPEEDS:
            self.speed.addItem(speed_words(speed), speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.speed.activated.connect(lambda _i: self.speed_chosen.emit(self.speed.currentData()))
        self.mark_text = QLineEdit()
        self.mark_text.setAccessibleName("Marker text")
        self.mark_text.setPlaceholderText("Marker text (optional)")
        self.mark_text.setMaxLength(MARK_LENGTH)
        self.mark_text.returnPressed.connect(self.mark)
        self._log = QListWidget()
        self._log.setAccessibleName("Notices")
        self._log.setWordWrap(True)
        self._log.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._log.setMinimumHeight(40)
        self._ways = QStackedWidget()
        """Buttons of a live session, or of a replay."""
        self._lay_out()

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        live, replay = QWidget(), QWidget()
        for page, widgets in (
            (live, (self.buttons["calibrate"], self.buttons["end"])),
            (replay, (self.buttons["pause"], self.speed)),
        ):
            row = QHBoxLayout(page)
            row.setContentsMargins(0, 0, 0, 0)
            for widget in widgets:
                row.addWidget(widget, 1)
            self._ways.addWidget(page)
        first.addWidget(self._ways, 2)
        first.addWidget(self.buttons["save"], 1)
        first.addWidget(self.buttons["folder"], 1)
        second.addWidget(self.mark_text, 1)
        second.addWidget(self.buttons["mark"])
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 8)
        column.setSpacing(5)
        column.addLayout(self._grid)
        column.addLayout(first)
        column.addLayout(second)
        column.addWidget(self._log, 1)

    def mark(self) -> None:
        """Request a marker with the typed text."""
        self.mark_wanted.emit(self.mark_text.text().strip())
        self.mark_text.clear()

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        font, small = scaled_font(look.scale), scaled_font(look.scale, 0.92)
        for widget in (*self.buttons.values(), self.speed, self.mark_text):
            widget.setFont(small)
        self._log.setFont(small)
        for name, value in self._labels.values():
            name.setFont(font)
            value.setFont(font)
        self._facts, self._drawn_log = {}, -1

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Shorten the facts to the new width."""
        super().resizeEvent(event)
        self._facts = {}

    def refresh(self, state: DashboardState) -> None:
        """Show facts and notices if they changed."""
        if self._look is None:
            return
        facts = session_facts(state, hide_viewer=self.hide_viewer)
        if facts != self._facts:
            self._show_facts(facts)
        if state.log.revision != self._drawn_log:
            self._drawn_log = state.log.revision
            self._show_log(list(state.log.lines)[-MOST_SHOWN:])

    def show_playback(self, playback: Playback | None) -> None:
        """Show the speed of the replay, and the buttons for a replay or a live session."""
        self._ways.setCurrentIndex(LIVE if playback is None else REPLAY)
        if playback is not None and not self.speed.hasFocus():
            index = self.speed.findData(playback.speed)
            if index < 0:  # set by a command or a program
                index = self._place_of(playback.speed)
                self.speed.insertItem(index, speed_words(playback.speed), playback.speed)
            self.speed.setCurrentIndex(index)

    def _place_of(self, speed: float | None) -> int:
        offered = [self.speed.itemData(index) for index in range(self.speed.count())]
        return sum(_as_number(one) < _as_number(speed) for one in offered)

    def _show_facts(self, facts: Facts) -> None:
        assert self._look is not None
        font = scaled_font(self._look.scale)
        for number, (name, text) in enumerate(facts.items()):
            if name not in self._labels:
                label, value = QLabel(name), QLabel()
                label.setObjectName("faint")
                value.setTextFormat(Qt.TextFormat.PlainText)
                value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
                label.setFont(font)
                value.setFont(font)
                self._grid.addWidget(label, number, 0)
                self._grid.addWidget(value, number, 1)
                self._labels[name] = label, value
            if self._facts.get(name) != text:
                label, value = self._labels[name]
                room = self.width() - 34 - self._name_width(facts)
                metrics = QFontMetricsF(font)
                value.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(room, 60)))
                value.setToolTip(text)
                value.setAccessibleName(f"{name}: {text}")
        self._facts = facts

    def _name_width(self, facts: Facts) -> float:
        assert self._look is not None
        metrics = QFontMetricsF(scaled_font(self._look.scale))
        return max(metrics.horizontalAdvance(name) for name in facts)

    def _show_log(self, lines: list[LoggedNotice]) -> None:
        assert self._look is not None
        theme = self._look.theme
        colours = {"info": theme.text, "warning": theme.fair, "error": theme.poor}
        self._log.clear()
        for line in lines:
            item = QListWidgetItem(notice_text(line))
            item.setForeground(QColor(colours[line.level]))
            self._log.addItem(item)
        self._log.scrollToBottom()


def next_speed(speed: float | None, step: int) -> float | None:
    """Return the next faster (`step` 1) or slower (-1) speed, if there is one."""
    further = [one for one in SPEEDS if step * (_as_number(one) - _as_number(speed)) > 0]
    if not further:
        return speed
    return further[0] if step > 0 else further[-1]


def _as_number(speed: float | None) -> float:
    return FASTEST if speed is None else speed


def notice_text(line: LoggedNotice) -> str:
    """Return a notice as a line: time, symbol, text and count."""
    time = "" if line.elapsed_s is None else f"{clock_time(line.elapsed_s)} "
    times = f" (×{line.times})" if line.times > 1 else ""
    return f"{time}{NOTICE_SIGNS[line.level]} {line.text}{times}"


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    button.setSizePolicy(QSizePolicy.Policy.MinimumExpanding, QSizePolicy.Policy.Fixed)
    button.setAccessibleName(action.text().replace("&", "").replace("▾", "").strip())
    return button
