"""Posterior now: who it seems to be, how sure that is, and on how much evidence."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetricsF, QResizeEvent
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gazelive.dashboard.posteriors import Contender, Standing
from gazelive.dashboard.state import DashboardState
from gazelive.dashboard.theme import scaled_font
from gazelive.dashboard.views.panel import Hint, Look, Panel, over_each_other
from gazelive.dashboard.views.posterior_bars import PosteriorBars, contender_colour
from gazelive.dashboard.wording import counted, percent

RUNNING_WORDS = "may still change until this image is over"
SETTLED_WORDS = "all images so far are counted in full"


class PosteriorNow(Panel):
    """The leader in large letters, and a bar for each of the leading viewers."""

    key = "posterior_now"
    title = "Posterior now"
    about = "The most probable viewers and their probabilities"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn = -1
        self._leader: Contender | None = None
        self._percent, self._name = QLabel(), QLabel()
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._badge, self._words, self._evidence = QLabel(), QLabel(), QLabel()
        for label in (self._words, self._evidence):
            label.setObjectName("faint")
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._bars = PosteriorBars()
        self._content = QWidget()
        self._hint = Hint("", on_plot=False)
        self._lay_out()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(14)
        top.addWidget(self._percent)
        top.addWidget(self._name, 1)
        state = QHBoxLayout()
        state.setSpacing(8)
        state.addWidget(self._badge)
        state.addWidget(self._evidence, 1)
        column = QVBoxLayout(self._content)
        column.setContentsMargins(10, 4, 10, 8)
        column.setSpacing(4)
        column.addLayout(top)
        column.addLayout(state)
        column.addWidget(self._words)
        column.addSpacing(4)
        column.addWidget(self._bars, 1)
        layout = QGridLayout(self)
        layout.setContentsMargins(1, 1, 1, 1)
        over_each_other(layout, 0, self._content, self._hint)
        self._content.hide()

    def refresh(self, state: DashboardState) -> None:
        """Show the last posterior, or what is waited for."""
        if self._hint.isVisible():
            self._hint.setText(_what_is_missing(state))
        if self._look is None or state.posterior_revision == self._drawn:
            return
        self._drawn = state.posterior_revision
        standing = state.standing
        shown = standing is not None and standing.leader is not None
        self._content.setVisible(shown)
        self._hint.setVisible(not shown)
        self._bars.set_standing(standing, state.slots)
        if standing is not None and standing.leader is not None:
            self._leader = standing.leader
            colour = contender_colour(standing.leader, state.slots, self._look)
            self._percent.setText(percent(standing.leader.probability))
            self._percent.setStyleSheet(f"color: {colour};")
            self._show_evidence(standing)
            self._show_badge(standing.settled)
            self._fit_name()

    def set_look(self, look: Look) -> None:
        """Take on colours and sizes."""
        self._look = look
        self._drawn = -1
        self._percent.setFont(scaled_font(look.scale, 2.7, bold=True))
        self._name.setFont(scaled_font(look.scale, 1.35, bold=True))
        self._badge.setFont(scaled_font(look.scale, 0.92, bold=True))
        for label in (self._words, self._evidence):
            label.setFont(scaled_font(look.scale, 0.92))
        self._hint.set_look(look)
        self._bars.set_look(look)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Shorten a long name to what fits."""
        super().resizeEvent(event)
        self._fit_name()

    def _fit_name(self) -> None:
        if self._leader is None:
            return
        metrics = QFontMetricsF(self._name.font())
        width = max(self.width() - self._percent.sizeHint().width() - 34, 40)
        name = self._leader.name
        if self._leader.kind == "unknown" and metrics.horizontalAdvance(name) > width:
            name = name.split()[0]  # one word that can be read, not two halves
        middle = Qt.TextElideMode.ElideMiddle
        self._name.setText(metrics.elidedText(name, middle, width))
        self._name.setToolTip(self._leader.name)

    def _show_evidence(self, standing: Standing) -> None:
        parts = (
            counted(standing.n_saccades, "saccade"),
            counted(standing.n_images, "image"),
            f"{standing.seconds:.1f} s",
        )
        self._evidence.setText(" · ".join(parts))
        enrolled = "" if standing.n_enrolled is None else f" of {standing.n_enrolled:,} enrolled"
        self._evidence.setToolTip(f"Evidence so far: {', '.join(parts)}{enrolled}")
        leader = standing.leader
        assert leader is not None
        state = "settled" if standing.settled else "running"
        self.setAccessibleDescription(
            f"{leader.name} {percent(leader.probability)}, {state}, after {', '.join(parts)}"
        )

    def _show_badge(self, settled: bool) -> None:
        assert self._look is not None
        theme = self._look.theme
        self._badge.setText("SETTLED" if settled else "RUNNING")
        self._words.setText(SETTLED_WORDS if settled else RUNNING_WORDS)
        self._words.setToolTip(self._words.text())
        fill, ink, line = (
            (theme.accent, theme.on_accent, "solid")
            if settled
            else (theme.panel, theme.accent, "dashed")
        )
        self._badge.setStyleSheet(
            f"background: {fill}; color: {ink}; border: 2px {line} {theme.accent};"
            "border-radius: 4px; padding: 1px 7px;"
        )


def _what_is_missing(state: DashboardState) -> str:
    """Return why there is no posterior."""
    if state.run is None:
        return state.connection.text
    if state.model is None:
        return "No posterior: no model is loaded."
    return "No posterior yet: the first one comes with the first saccades."
