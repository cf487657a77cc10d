"""What happens in every frame: the screen changes, keys are looked at, nothing is waited for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gazelive.config.schema import Keys
from gazelive.devices.protocol import HostRequest
from gazelive.experiment.display import Display, Key, Scene, Words
from gazelive.experiment.frames import FrameLog

ALONE_S = 1.0
"""How long a text stays where nobody is there to press a key."""

Outcome = Literal["shown", "skipped", "repeated", "aborted"]


class TrialInterruptedError(Exception):
    """The experimenter (or the gate) ended a trial; the session goes on."""

    def __init__(self, outcome: Outcome, then: Literal["", "calibrate", "pause"] = "") -> None:
        super().__init__(outcome)
        self.outcome: Outcome = outcome
        self.then = then


class SessionAbortedError(Exception):
    """The session ends in order, with everything saved; its text says why."""


class Stage:
    """The window, seen frame by frame."""

    def __init__(
        self,
        display: Display,
        keys: Keys,
        *,
        attended: bool,
        each_frame: Callable[[], None],
        host_request: Callable[[], HostRequest | None] = lambda: None,
        snapshots: Path | None = None,
    ) -> None:
        """Take a window; `each_frame` is called after every frame that is waited for; it may raise.

        Without somebody at the keyboard (`attended`), what waits for a key goes on by itself.
        `host_request` tells what was chosen at the tracker's own computer.
        `snapshots` is a folder for a picture of each kind of scene and each text; they cost frames.
        """
        self.display = display
        self.frames = FrameLog(display.frame_s)
        self._keys = keys
        self._attended = attended
        self._each_frame = each_frame
        self._host_request = host_request
        self._snapshots = snapshots
        self._pictured: set[tuple[str, str]] = set()

    def show(self, scene: Scene) -> float:
        """Show a scene; return when it came on the screen."""
        self.display.show(scene)
        shown_s = self._flip()  # nothing is heard before it is known what is on the screen
        if self._snapshots is not None:
            self._picture(scene, self._snapshots)
        return shown_s

    def _picture(self, scene: Scene, folder: Path) -> None:
        """Save a picture of the first scene of a kind, and of every text."""
        kind = type(scene).__name__.lower()
        what = scene.text if isinstance(scene, Words) else ""
        if (kind, what) not in self._pictured:
            self._pictured.add((kind, what))
            n = sum(kind == other for other, _ in self._pictured)
            folder.mkdir(parents=True, exist_ok=True)
            self.display.save_screenshot(folder / f"{kind}{f'-{n}' if n > 1 else ''}.png")

    def frame(self) -> float:
        """Show the next frame of the scene, do what keys ask for; return when it came."""
        at_s = self._flip()
        self._each_frame()
        for key in self.display.pressed():
            self._obey(key)
        match self._host_request():
            case "abort":
                raise SessionAbortedError("aborted at the tracker's computer")
            case "skip":
                raise TrialInterruptedError("skipped")
            case "repeat":
                raise TrialInterruptedError("repeated")
        return at_s

    def hold(self, until_s: float) -> None:
        """Go on showing the scene, so that the next one comes as near to `until_s` as it can."""
        while self.frame() + 1.5 * self.display.frame_s < until_s:
            pass

    def ask(
        self, scene: Scene, choices: tuple[Key, ...], *, alone_s: float | None = ALONE_S
    ) -> Key | None:
        """Show a scene until one of the keys is pressed; return it.

        Where nobody is there, return None after `alone_s` (None: somebody is).
        """
        self.display.pressed()  # what was pressed before was meant for something else
        shown_s = self.show(scene)
        while True:
            at_s = self._flip()
            self._each_frame()
            for key in self.display.pressed():
                if key in choices:
                    return key
                if key == self._keys.abort:
                    raise SessionAbortedError("aborted by the experimenter")
            if not self._attended and alone_s is not None and at_s - shown_s >= alone_s:
                return None

    def tell(self, text: str, *, then: str = "to go on") -> None:
        """Show a text until it was read."""
        hint = f"Press {self._keys.go_on.upper()} {then}"
        self.ask(Words(text, hint if self._attended else ""), (self._keys.go_on,))

    def _flip(self) -> float:
        at_s = self.display.flip()
        self.frames.add(at_s)
        return at_s

    def _obey(self, key: Key) -> None:
        keys = self._keys
        if key == keys.abort:
            raise SessionAbortedError("aborted by the experimenter")
        if key == keys.skip:
            raise TrialInterruptedError("skipped")
        if key == keys.repeat:
            raise TrialInterruptedError("repeated")
        if key == keys.recalibrate:
            raise TrialInterruptedError("repeated", "calibrate")
        if key == keys.pause:
            raise TrialInterruptedError("repeated", "pause")
