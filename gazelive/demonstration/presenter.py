"""What is shown to the simulated viewer: crosses and images, trial after trial, by the clock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from gazelive.clock import Clock
from gazelive.devices.protocol import CrossStimulus, ImageStimulus
from gazelive.devices.simulated import SimulatedDevice
from gazelive.simulation.lab_session import SCREEN, image_rect_px

CROSS_S, BLANK_S = 0.6, 0.3


class Presenter:
    """Shows what is due whenever it is asked; the viewer looks at it, and messages say so."""

    def __init__(
        self, device: SimulatedDevice, images: Sequence[str], seconds: float, clock: Clock
    ) -> None:
        self._device = device
        self._images = images
        self._seconds = seconds
        self._clock = clock
        self._due_s = clock.now_s()
        self._script = self._play()

    @property
    def duration_s(self) -> float:
        """How long all of it takes."""
        return len(self._images) * (CROSS_S + self._seconds + BLANK_S)

    def step(self) -> str | None:
        """Do what is due by now; return why it is over once it is."""
        while self._clock.now_s() >= self._due_s:
            wait_s = next(self._script, None)
            if wait_s is None:
                return "all images were shown"
            self._due_s += wait_s
        return None

    def _play(self) -> Iterator[float]:
        """Yield how long to wait after each step."""
        device, say = self._device, self._say
        left, top, width, height = image_rect_px()
        for number, image in enumerate(self._images, start=1):
            say(f"TRIALID {number}")
            x_px, y_px = SCREEN.width_px / 2, SCREEN.height_px / 2
            say(f"cross {x_px:.0f} {y_px:.0f}")
            device.show(CrossStimulus(x_px=x_px, y_px=y_px))
            yield CROSS_S
            say("image_onset")
            say(
                f"!V IMGLOAD CENTER {image} {SCREEN.width_px // 2} {SCREEN.height_px // 2} "
                f"{width:.0f} {height:.0f}"
            )
            device.show(
                ImageStimulus(
                    name=image, left_px=left, top_px=top, width_px=width, height_px=height
                )
            )
            yield self._seconds
            say("image_offset")
            device.hide()
            say("TRIAL_RESULT 0")
            yield BLANK_S

    def _say(self, text: str) -> None:
        self._device.send_message(text, self._clock.now_s())


def shown_images(folder: Path | None, n: int, skip: int) -> tuple[str, ...]:
    """Return the names of images for a session, others than those before `skip`."""
    from gazelive.simulation.image_pool import images_in

    if folder is None:
        return tuple(f"generated_{number:04d}" for number in range(skip, skip + n))
    names = [path.name for path in images_in(folder)]
    return tuple(names[(skip + i) % len(names)] for i in range(n))
