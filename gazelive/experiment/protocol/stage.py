"""Stage: shows scenes frame by frame, reads keys, and never blocks a frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from gazelive.devices import HostRequest
from gazelive.experiment.config.schema import Keys
from gazelive.experiment.display.display import Display, Key, Scene, Words
from gazelive.experiment.display.frames import FrameLog

ALONE_S = 1.0
"""Duration of a text in an unattended session."""

Outcome = Literal["shown", "skipped", "repeated", "aborted"]


class TrialInterruptedError(Exception):
    """The experimenter or the gate ended a trial; the session continues."""

    def __init__(self, outcome: Outcome, then: Literal["", "calibrate", "pause"] = "") -> None:
        super().__init__(outcome)
        self.outcome: Outcome = outcome
        self.then = then


class SessionAbortedError(Exception):
    """The session ends early with everything saved; the text is the reason."""


class Stage:
    """The window, frame by frame."""

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
        """Use a window; `each_frame` is called after every frame waited for, and may raise.

        If not `attended`, scenes that wait for a key continue by themselves. `host_request`
        returns what was chosen on the tracker's Host PC. `snapshots` is a folder for a screenshot
        of each kind of scene and each text; screenshots cost frames.
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
        """Show a scene; return the time of its first frame."""
        self.display.show(scene)
        shown_s = self._flip()  # no events before the time of the flip is known
        if self._snapshots is not None:
            self._picture(scene, self._snapshots)
        return shown_s

    def _picture(self, scene: Scene, folder: Path) -> None:
        """Save a screenshot of the first scene of a kind, and of every text."""
        kind = type(scene).__name__.lower()
        what = scene.text if isinstance(scene, Words) else ""
        if (kind, what) not in self._pictured:
            self._pictured.add((kind, what))
            n = sum(kind == other for other, _ in self._pictured)
            folder.mkdir(parents=True, exist_ok=True)
            self.display.save_screenshot(folder / f"{kind}{f'-{n}' if n > 1 else ''}.png")

    def frame(self) -> float:
        """Show the next frame and handle keys; return the frame's time."""
        at_s = self._flip()
        self._each_frame()
        for key in self.display.pressed():
            self._handle_key(key)
        match self._host_request():
            case "abort":
                raise SessionAbortedError("aborted on the tracker's Host PC")
            case "skip":
                raise TrialInterruptedError("skipped")
            case "repeat":
                raise TrialInterruptedError("repeated")
        return at_s

    def hold(self, until_s: float) -> None:
        """Keep the scene until the next frame that is closest to `until_s`."""
        while self.frame() + 1.5 * self.display.frame_s < until_s:
            pass

    def ask(
        self, scene: Scene, choices: tuple[Key, ...], *, alone_s: float | None = ALONE_S
    ) -> Key | None:
        """Show a scene until one of the keys is pressed; return the key.

        Unattended, return None after `alone_s`; with `alone_s=None` always wait for a key.
        """
        self.display.pressed()  # drop earlier keys
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

    def show_text(self, text: str, *, then: str = "to continue") -> None:
        """Show a text until the continue key is pressed."""
        hint = f"Press {self._keys.go_on.upper()} {then}"
        self.ask(Words(text, hint if self._attended else ""), (self._keys.go_on,))

    def _flip(self) -> float:
        at_s = self.display.flip()
        self.frames.add(at_s)
        return at_s

    def _handle_key(self, key: Key) -> None:
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
