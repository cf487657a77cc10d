"""Simulated viewer in front of a screen: show stimuli, advance time, get gaze samples.

The caller (the simulated device live, the corpus writer at full speed) sets what is on the screen
and requests samples. The viewer notices a change after a reaction time, which ends the current
fixation; then they fixate a cross, or explore an image. On a blank screen the eyes wander a little.
The result depends on the person, the session and what was shown at which sample, not on how many
samples are requested at a time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gazelive.gaze import Eye, Eyes, Samples, ScreenGeometry
from gazelive.models import ImageGrid
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.people import random_stream, session_traits
from gazelive.simulation.scanpath.scanpaths import (
    SHORTEST_FIXATION_S,
    Exploration,
    LookingHabits,
    NextFixation,
)
from gazelive.simulation.truth import SimulatedTrace, trace_to_samples
from gazelive.stimuli import SaliencyMap

CROSS_SCATTER_DEG = 0.25
"""Standard deviation of fixation positions on a cross, per axis."""
CROSS_PATIENCE = 4.0
"""Fixations on a cross last this many times longer than in an image."""
WANDER_DEG = 1.5
"""Standard deviation of a step on a blank screen, per axis."""
WANDER_PATIENCE = 1.5
SCREEN_SHARE = 0.9
"""Wandering eyes stay within this part of the screen."""

RectPx = tuple[float, float, float, float]
"""First pixel column, first row, width and height."""


class _Scene(Protocol):
    """The scene that a viewer sees; chooses the next fixation."""

    def next_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> NextFixation: ...


class ViewerSimulation:
    """One person in one session; starts at the centre of a blank screen."""

    def __init__(
        self,
        viewer_id: str,
        *,
        seed: int,
        session: int,
        sampling_rate_hz: float,
        eyes: Eyes,
        screen: ScreenGeometry,
        start_us: int = 0,
    ) -> None:
        traits = session_traits(viewer_id, seed=seed, session=session)
        movement, self._rng, self._reaction_rng = random_stream(
            seed, viewer_id, session, "gaze"
        ).spawn(3)
        self._habits = traits.habits
        self._oculomotor = traits.oculomotor
        self._screen = screen
        x_deg, y_deg = screen.px_to_deg((screen.width_px - 1) / 2, (screen.height_px - 1) / 2)
        self._eye = Oculomotor(
            traits.oculomotor,
            sampling_rate_hz=sampling_rate_hz,
            eyes=eyes,
            rng=movement,
            x_deg=float(x_deg),
            y_deg=float(y_deg),
            start_us=start_us,
        )
        self._rate_hz = sampling_rate_hz
        self._n_given = 0
        self._n_made = 0
        self._scene: _Scene = _Blank(self._habits, self._rng, screen)
        self._noticed = 0
        """Sample at which the scene appeared."""
        self._fixation_start = 0
        self._fixation_end = self._samples(self._habits.draw_duration_s(0, 1.0, self._rng))

    def show_image(self, saliency: SaliencyMap, rect_px: RectPx) -> None:
        """Show an image instead of the previous scene."""
        left_px, top_px, width_px, height_px = rect_px
        grid = ImageGrid.on_screen(
            self._screen,
            left_px=left_px,
            top_px=top_px,
            width_px=width_px,
            height_px=height_px,
            shape=saliency.density.shape,
        )
        self._change(Exploration(self._habits, saliency.density, grid, self._rng))

    def show_cross(self, x_px: float, y_px: float) -> None:
        """Show a fixation cross instead of the previous scene."""
        x_deg, y_deg = self._screen.px_to_deg(x_px, y_px)
        self._change(_Cross(self._habits, self._rng, float(x_deg), float(y_deg)))

    def hide(self) -> None:
        """Clear the screen; this triggers no saccade."""
        self._scene = _Blank(self._habits, self._rng, self._screen)

    def advance(self, n_samples: int) -> tuple[Samples, SimulatedTrace]:
        """Simulate `n_samples`; return them, and the trace with the true events that ended."""
        end = self._n_given + n_samples
        while self._n_made < end:
            until = min(self._fixation_end, end)
            if until > self._n_made:
                self._eye.fixate(until - self._n_made)
                self._n_made = until
            else:
                self._move_on()
        self._n_given = end
        trace = self._eye.take(n_samples)
        return trace_to_samples(trace, self._screen), trace

    def calibration_offset_deg(self, eye: Eye) -> tuple[float, float]:
        """Return the calibration error: measured minus true gaze, to the right and down."""
        traits = self._oculomotor
        if eye == "L":
            return traits.left_offset_x_deg, traits.left_offset_y_deg
        return traits.right_offset_x_deg, traits.right_offset_y_deg

    def _move_on(self) -> None:
        """Make the saccade that ends a fixation, and plan the fixation after it."""
        x_deg, y_deg = self._eye.position_deg
        # an image that appeared during the fixation was seen only for its rest
        seen = self._n_made - max(self._fixation_start, self._noticed)
        following = self._scene.next_fixation(x_deg, y_deg, seen / self._rate_hz)
        n_pending = self._eye.n_pending
        self._eye.saccade_to(following.x_deg, following.y_deg)
        self._n_made += self._eye.n_pending - n_pending
        self._fixation_start = self._n_made
        self._fixation_end = self._n_made + self._samples(following.duration_s)

    def _change(self, scene: _Scene) -> None:
        """Make the viewer notice a new scene: the current fixation ends with the reaction."""
        self._scene = scene
        self._noticed = self._n_given
        reaction = self._samples(self._habits.draw_reaction_s(self._reaction_rng))
        # a running saccade lands first, and no fixation is shorter than the minimum
        earliest = self._fixation_start + self._samples(SHORTEST_FIXATION_S)
        self._fixation_end = max(self._n_given + reaction, earliest)

    def _samples(self, seconds: float) -> int:
        return max(1, round(seconds * self._rate_hz))


class _Cross:
    """A fixation cross: long fixations with small errors."""

    def __init__(
        self, habits: LookingHabits, rng: np.random.Generator, x_deg: float, y_deg: float
    ) -> None:
        self._habits = habits
        self._rng = rng
        self._x_deg = x_deg
        self._y_deg = y_deg

    def next_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> NextFixation:
        """Return a position on the cross."""
        error_x, error_y = (CROSS_SCATTER_DEG * self._rng.standard_normal(2)).tolist()
        return NextFixation(
            self._x_deg + error_x,
            self._y_deg + error_y,
            self._habits.draw_duration_s(0, CROSS_PATIENCE, self._rng),
        )


class _Blank:
    """A blank screen: the eyes stay about where they are."""

    def __init__(
        self, habits: LookingHabits, rng: np.random.Generator, screen: ScreenGeometry
    ) -> None:
        self._habits = habits
        self._rng = rng
        margin = (1 - SCREEN_SHARE) / 2
        edges = np.array([margin, 1 - margin])
        self._x_limits, self._y_limits = (
            limits.tolist()
            for limits in screen.px_to_deg(edges * screen.width_px, edges * screen.height_px)
        )

    def next_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> NextFixation:
        """Return a position nearby."""
        step_x, step_y = (WANDER_DEG * self._rng.standard_normal(2)).tolist()
        return NextFixation(
            min(max(x_deg + step_x, self._x_limits[0]), self._x_limits[1]),
            min(max(y_deg + step_y, self._y_limits[0]), self._y_limits[1]),
            self._habits.draw_duration_s(0, WANDER_PATIENCE, self._rng),
        )
