"""Scenes in a PsychoPy window: painted, kept as textures, and drawn pixel by pixel."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gazelive.experiment.display.display import Scene
from gazelive.experiment.display.psychopy_window import Window
from gazelive.experiment.display.scene_painting import Painter, Patch

KEPT_SCENES = 6
"""Number of prepared scenes kept; the least recently used are dropped."""


class SceneStimuli:
    """Draws scenes into the next frame of a window, which the caller flips."""

    def __init__(self, visual: Any, window: Window, painter: Painter) -> None:
        """`visual` is PsychoPy's module."""
        self._visual = visual
        self._window = window
        self._painter = painter
        self._stimuli: OrderedDict[Scene, list[Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._stimuli)

    def prepare(self, scene: Scene, *, shown: Scene | None = None) -> None:
        """Paint a scene and upload it to the graphics card; the one that is `shown` is kept."""
        if scene not in self._stimuli:
            stimuli = [self._stimulus(patch) for patch in self._painter.paint(scene)]
            for stimulus in stimuli:  # the first drawing of a texture is slow
                stimulus.draw()
            self._window.clearBuffer()
            self._stimuli[scene] = stimuli
        self._stimuli.move_to_end(scene)
        for old in list(self._stimuli)[:-KEPT_SCENES]:
            if old != shown:
                for stimulus in self._stimuli.pop(old):
                    stimulus.clearTextures()

    def draw(self, scene: Scene) -> None:
        """Draw a scene that was prepared; else nothing."""
        for stimulus in self._stimuli.get(scene, ()):
            stimulus.draw()

    def clear(self) -> None:
        """Forget all scenes."""
        self._stimuli.clear()

    def _stimulus(self, patch: Patch) -> Any:
        """Return a patch as a texture aligned to the window's pixels."""
        (width, height), (window_width, window_height) = patch.image.size, self._painter.window_px
        unit_px = pixels_per_unit(self._window)
        return self._visual.ImageStim(
            self._window,
            image=patch.image,
            units="pix",
            size=(width / unit_px, height / unit_px),
            pos=(
                (patch.left_px + width / 2 - window_width / 2) / unit_px,
                (window_height / 2 - patch.top_px - height / 2) / unit_px,
            ),
            interpolate=False,
            autoLog=False,
        )


def pixels_per_unit(window: Window) -> int:
    """Return the pixels in PsychoPy's unit `pix`: two on Apple's Retina screens."""
    return 2 if window.useRetina else 1
