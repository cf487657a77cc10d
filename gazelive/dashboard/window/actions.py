"""Actions with their shortcuts: one list for menus, buttons and help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Literal

from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QMainWindow, QMenu, QMenuBar

MenuName = Literal["&Session", "&View", "&Help"]


@dataclass(frozen=True)
class ActionSpec:
    """An action as the user sees it."""

    name: str
    menu: MenuName
    text: str
    shortcut: str
    checkable: bool = False


SPECS = (
    ActionSpec("pause", "&Session", "&Pause", "Ctrl+P"),
    ActionSpec("slower", "&Session", "Slo&wer", "Ctrl+["),
    ActionSpec("faster", "&Session", "&Faster", "Ctrl+]"),
    ActionSpec("mark", "&Session", "Add &marker", "Ctrl+M"),
    ActionSpec("calibrate", "&Session", "Re&calibrate", "Ctrl+R"),
    ActionSpec("end", "&Session", "S&top session…", "Ctrl+E"),
    ActionSpec("folder", "&Session", "&Open folder", "Ctrl+O"),
    ActionSpec("hide_viewer", "&Session", "&Hide viewer", "Ctrl+H", checkable=True),
    ActionSpec("quit", "&Session", "&Quit", "Ctrl+Q"),
    ActionSpec("dark", "&View", "&Light or dark theme", "Ctrl+D"),
    ActionSpec("larger", "&View", "La&rger text", "Ctrl++"),
    ActionSpec("smaller", "&View", "S&maller text", "Ctrl+-"),
    ActionSpec("usual", "&View", "&Normal text size", "Ctrl+0"),
    ActionSpec("full_screen", "&View", "&Full screen", "F11", checkable=True),
    ActionSpec("float", "&View", "Float or &dock the panel", "Ctrl+Shift+F"),
    ActionSpec("reset", "&View", "Reset panel la&yout", "Ctrl+Shift+R"),
    ActionSpec("keys", "&Help", "&Keyboard shortcuts", "F1"),
)
SAVE_SHORTCUT = "Ctrl+S"


def make_actions(
    window: QMainWindow, handlers: dict[str, Callable[[], None]]
) -> dict[str, QAction]:
    """Return the actions by name, each calling its handler."""
    actions = {}
    for spec in SPECS:
        action = QAction(spec.text, window)
        action.setShortcut(QKeySequence(spec.shortcut))
        action.setCheckable(spec.checkable)
        words = spec.text.replace("&", "")
        action.setToolTip(f"{words} ({spec.shortcut})")
        action.triggered.connect(lambda _checked, name=spec.name: handlers[name]())
        window.addAction(action)
        actions[spec.name] = action
    return actions


def fill_menus(bar: QMenuBar, actions: dict[str, QAction], save: QMenu, panels: QMenu) -> None:
    """Put the actions and the menus for saving and for panels into the menu bar."""
    menus: dict[str, QMenu] = {}
    for spec in SPECS:
        if spec.menu not in menus:
            menu = bar.addMenu(spec.menu)
            assert menu is not None
            menus[spec.menu] = menu
        menus[spec.menu].addAction(actions[spec.name])
    menus["&Session"].insertMenu(actions["folder"], save)
    menus["&Session"].insertSeparator(actions["quit"])
    menus["&View"].insertMenu(actions["dark"], panels)
    menus["&View"].insertSeparator(actions["dark"])


def keys_table(panel_titles: list[str]) -> str:
    """Return the shortcuts as an HTML table with two columns: actions, and panels."""
    keys = [(spec.shortcut, spec.text.replace("&", "")) for spec in SPECS]
    keys.insert(6, (SAVE_SHORTCUT, "Save a figure"))
    panels = [(f"Ctrl+{n}", f"Go to {title}") for n, title in enumerate(panel_titles, 1)]
    ways = [
        ("Tab", "Next control (Shift+Tab: previous)"),
        ("Alt", "With an underlined letter: open a menu"),
        ("Enter", "In the marker text: add the marker"),
    ]
    columns = (_rows(keys), _rows([*panels, ("", ""), *ways]))
    cells = "".join(
        f"<td valign='top'><table cellpadding='2'>{rows}</table></td>" for rows in columns
    )
    return f"<table cellspacing='12'><tr>{cells}</tr></table>"


def _rows(keys: list[tuple[str, str]]) -> str:
    return "".join(
        f"<tr><td><b>{_unbroken(key)}</b>&nbsp;&nbsp;</td><td>{_unbroken(what)}</td></tr>"
        for key, what in keys
    )


def _unbroken(text: str) -> str:
    return escape(text).replace(" ", "&nbsp;")
