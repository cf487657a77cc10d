"""The dialogue's own process: reads an `DialogInput` from its input, writes what was answered.

Run by `dialogue.py` as `python -m gazelive.experiment.process.dialogue_window`.
"""

from __future__ import annotations

import sys
from typing import Literal, get_args

import msgspec
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFont, QIcon
from PyQt6.QtWidgets import (
    QApplication,
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.dialogue import DialogInput, session_problem, viewer_problem

Mode = Literal["enrol", "identify"]
MODE_TITLES: dict[Mode, tuple[str, str]] = {
    "enrol": ("Enrol", "Record a viewer that is known, to learn from."),
    "identify": ("Identify", "Find out who is looking; the id may stay empty."),
}
EYE_TITLES: dict[Literal["L", "R", "LR"], str] = {"R": "Right", "L": "Left", "LR": "Both"}
WIDTH_PX = 460
DIM, PROBLEM = "color: palette(placeholder-text);", "color: #c5221f;"


class ParticipantDialogue(QDialog):
    """Mode, viewer, session and eye; the start button needs valid entries."""

    def __init__(self, asking: DialogInput) -> None:
        super().__init__()
        self._taken = asking.taken
        self._session_is_proposed = True
        self.setWindowTitle("gazelive: new session")
        self.setMinimumWidth(WIDTH_PX)

        self.modes = {mode: QRadioButton(title) for mode, (title, _) in MODE_TITLES.items()}
        self._mode_text = _label(DIM)
        self.viewer = QLineEdit(asking.defaults.viewer or "")
        self.viewer.setClearButtonEnabled(True)
        known = QCompleter(sorted(name for name in asking.taken.numbers if name), self)
        known.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.viewer.setCompleter(known)
        self.session = QSpinBox()
        self.session.setRange(1, 9999)
        self.session.setValue(asking.defaults.session)
        self._session_text = _label(DIM)
        self.eye = QComboBox()
        for eye, title in EYE_TITLES.items():
            self.eye.addItem(title, eye)
        self.eye.setCurrentIndex(self.eye.findData(asking.defaults.eyes))
        self.problem = _label(PROBLEM)
        self.problem.setMinimumHeight(2 * self.fontMetrics().height())
        self.problem.setAlignment(Qt.AlignmentFlag.AlignTop)

        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        start = buttons.button(kinds.Ok)
        assert start is not None
        self.start = start
        self.start.setText("Start")
        for button in buttons.buttons():
            button.setIcon(QIcon())  # some desktops add gaudy ones
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self._lay_out(buttons)

        self.modes[asking.defaults.mode].setChecked(True)
        for choice in self.modes.values():
            choice.toggled.connect(self._viewer_changed)
        self.viewer.textChanged.connect(self._viewer_changed)
        self.session.valueChanged.connect(self._session_changed)
        self._viewer_changed()
        self.viewer.setFocus()

    @property
    def answer(self) -> Participant:
        """Content of the fields."""
        return Participant(
            viewer=self.viewer.text().strip() or None,
            session=self.session.value(),
            eyes=self.eye.currentData(),
            mode=self._mode,
        )

    @property
    def _mode(self) -> Mode:
        return next(mode for mode in get_args(Mode) if self.modes[mode].isChecked())

    def _lay_out(self, buttons: QWidget) -> None:
        title = QLabel("Who takes part?")
        font = QFont(title.font())
        font.setPointSizeF(font.pointSizeF() * 1.5)
        font.setBold(True)
        title.setFont(font)
        modes = QHBoxLayout()
        modes.setSpacing(20)
        for choice in self.modes.values():
            modes.addWidget(choice)
        modes.addStretch()
        session = QHBoxLayout()
        session.setSpacing(12)
        self.session.setFixedWidth(90)
        session.addWidget(self.session)
        session.addWidget(self._session_text, 1)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setHorizontalSpacing(18)
        form.setVerticalSpacing(10)
        form.addRow("Mode", modes)
        form.addRow("", self._mode_text)
        form.addRow("Viewer id", self.viewer)
        form.addRow("Session", session)
        self.eye.setFixedWidth(90)
        form.addRow("Eye", self.eye)
        form.addRow("", self.problem)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(26, 22, 26, 20)
        whole.setSpacing(16)
        whole.addWidget(title)
        whole.addLayout(form)
        whole.addWidget(buttons)

    def _viewer_changed(self) -> None:
        """Propose the viewer's next session, unless the number was chosen by hand."""
        if self._session_is_proposed:
            self.session.blockSignals(True)
            self.session.setValue(self._taken.next_free(self.viewer.text().strip()))
            self.session.blockSignals(False)
        self._check()

    def _session_changed(self) -> None:
        self._session_is_proposed = False
        self._check()

    def _check(self) -> None:
        viewer = self.viewer.text().strip()
        self._mode_text.setText(MODE_TITLES[self._mode][1])
        optional = self._mode == "identify"
        self.viewer.setPlaceholderText("unknown" if optional else "such as v01")
        before = len(self._taken.of(viewer)) if viewer else 0
        self._session_text.setText("" if before == 0 else f"{before} recorded so far")
        wrong_name = viewer_problem(viewer, self._mode)
        problem = wrong_name or session_problem(viewer, self.session.value(), self._taken)
        # an empty field is no mistake yet: the start button is only disabled
        self.problem.setText("" if problem is None or (wrong_name and not viewer) else problem)
        self.start.setEnabled(problem is None)


def _label(style: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setStyleSheet(style)
    return label


def main() -> None:
    """Ask, and write the answer (null where it was cancelled)."""
    asking = msgspec.json.decode(sys.stdin.buffer.read(), type=DialogInput)
    application = QApplication(sys.argv[:1])
    application.setStyle("Fusion")
    dialogue = ParticipantDialogue(asking)
    accepted = dialogue.exec() == QDialog.DialogCode.Accepted
    sys.stdout.buffer.write(msgspec.json.encode(dialogue.answer if accepted else None))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
