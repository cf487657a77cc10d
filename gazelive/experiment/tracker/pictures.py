"""Images of a script's trials: their files, their places on the screen, and their saliency."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from gazelive.errors import ConfigError
from gazelive.experiment.display.display import Picture
from gazelive.experiment.display.script_window import RectanglePx, ScriptWindow
from gazelive.experiment.protocol.plan import upright_size_px
from gazelive.gaze import ScreenGeometry
from gazelive.stimuli import SaliencyMap, generated_saliency, image_saliency


class Pictures:
    """Finds images, which a script names by a file or by a stimulus of its window."""

    def __init__(
        self, screen: ScreenGeometry, window: ScriptWindow | None, folder: Path | None
    ) -> None:
        """Look for files here, then in `folder`."""
        self._screen = screen
        self._window = window
        self._folders = [Path.cwd(), *([] if folder is None else [folder])]
        self.saliency_of = cache(_saliency_of)
        """Returns where people look in an image, by its path."""

    def of(self, image: Any, rectangle_px: RectanglePx | None) -> Picture:
        """Return an image with its rectangle on the screen."""
        if not isinstance(image, str | os.PathLike):
            if rectangle_px is None:
                rectangle_px = self._rectangle_of(image)
            image = _name_of(image)
        path = self._found(Path(image))
        return Picture(path, *map(float, rectangle_px or self._centred(path)))

    def _rectangle_of(self, stimulus: Any) -> RectanglePx:
        if self._window is None:
            raise ConfigError("a stimulus needs its window: give window too", key="image")
        return self._window.rectangle_px(stimulus)

    def _centred(self, path: Path) -> RectanglePx:
        """Return the rectangle of an image in its own size."""
        width_px, height_px = upright_size_px(path)
        left_px = (self._screen.width_px - width_px) / 2
        top_px = (self._screen.height_px - height_px) / 2
        return left_px, top_px, width_px, height_px

    def _found(self, path: Path) -> Path:
        """Return an image's file; a name that is none stays as it is."""
        found = (folder / path for folder in self._folders if (folder / path).is_file())
        return next(found, path)


def _name_of(stimulus: Any) -> str | os.PathLike[str]:
    """Return the file of a stimulus, else its name."""
    file = getattr(stimulus, "image", None)
    if isinstance(file, str | os.PathLike):
        return file
    return getattr(stimulus, "name", "") or type(stimulus).__name__


def _saliency_of(name: str) -> SaliencyMap:
    """Return where people look in an image; of one that is no file, something like it."""
    path = Path(name)
    return image_saliency(path) if path.is_file() else generated_saliency(name, seed=0)
