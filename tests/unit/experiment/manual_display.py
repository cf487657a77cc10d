"""A display without a window: time passes with its flips, keys come when a test says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gazelive.experiment.display.display import Key, Scene
from gazelive.gaze.screen import PAPER_SCREEN

from ...support.manual_clock import ManualClock

FRAME_S = 1 / 60


class ManualDisplay:
    """Every flip takes a frame; `each_flip` is where a test lets other things happen."""

    def __init__(self, clock: ManualClock) -> None:
        self.screen = PAPER_SCREEN
        self.frame_s = FRAME_S
        self.is_synced = True
        self.clock = clock
        self.scene: Scene | None = None
        self.shown: list[tuple[float, Scene]] = []
        """Each scene, and when it came on the screen."""
        self.prepared: list[Scene] = []
        self.each_flip: Callable[[], None] = lambda: None
        self.press_at: list[tuple[Callable[[ManualDisplay], bool], Key]] = []
        """Keys, each pressed in the first frame in which its condition holds."""
        self._pressed: list[Key] = []
        self.closed = False

    def prepare(self, scene: Scene) -> None:
        self.prepared.append(scene)

    def show(self, scene: Scene) -> None:
        self.scene = scene

    def flip(self) -> float:
        self.clock.advance_s(self.frame_s)
        at_s = self.clock.now_s()
        assert self.scene is not None
        if not self.shown or self.shown[-1][1] != self.scene:
            self.shown.append((at_s, self.scene))
        self.each_flip()
        for press in list(self.press_at):
            if press[0](self):
                self._pressed.append(press[1])
                self.press_at.remove(press)
        return at_s

    def pressed(self) -> tuple[Key, ...]:
        pressed = tuple(self._pressed)
        self._pressed.clear()
        return pressed

    def come_to_front(self) -> None:
        pass

    def save_screenshot(self, path: Path) -> None:
        path.write_bytes(b"")

    def calibration_graphics(self) -> Callable[[Any], Any]:
        raise AssertionError("a simulated tracker draws nothing")

    def close(self) -> None:
        self.closed = True
