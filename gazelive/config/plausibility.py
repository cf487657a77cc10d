"""Settings that are possible one by one and yet cannot be meant: units, geometry, names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gazelive.config.schema import ExperimentConfig

DEVICES = ("eyelink", "simulated", "replay:FILE")
REPLAY = "replay:"
LEAST_PX = 100
PIXEL_MM = (0.03, 10.0)
"""From the finest telephone to a projector's wall."""
PIXEL_ASPECT = (0.8, 1.25)
"""A pixel's width by its height; on a flat panel it is 1, and a ruler errs by a few per cent."""
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?")
KEY_NAMES = (
    *("space", "return", "escape", "tab", "backspace", "delete", "insert"),
    *("left", "right", "up", "down", "home", "end", "pageup", "pagedown"),
    *("lshift", "rshift", "lctrl", "rctrl", "lalt", "ralt"),
    *("comma", "period", "minus", "equal", "slash", "backslash", "semicolon", "apostrophe"),
    *(f"f{n}" for n in range(1, 13)),
    *(f"num_{n}" for n in range(10)),
)
OTHER_NAMES = {"esc": "escape", "enter": "return", "spacebar": "space", "del": "delete"}


class Range(NamedTuple):
    """What a number can be, and what it probably was if it is outside."""

    low: float
    high: float
    unit: str
    other_unit: str
    factor: float
    """How many of `unit` one of `other_unit` is."""


MM = ("mm", "cm", 10.0)
SECONDS = ("s", "ms", 0.001)
RANGES = {
    "screen.width_mm": Range(80, 10_000, *MM),
    "screen.height_mm": Range(60, 10_000, *MM),
    "screen.eye_distance_mm": Range(150, 5000, *MM),
    "screen.refresh_rate_hz": Range(20, 1000, "Hz", "kHz", 1000.0),
    "trial.image_s": Range(0.05, 600, *SECONDS),
    "trial.blank_s": Range(0, 60, *SECONDS),
    "trial.cross_size_deg": Range(0.05, 10, "degrees", "pixels", 1 / 35),
    "gate.radius_deg": Range(0.1, 15, "degrees", "pixels", 1 / 35),
    "gate.dwell_s": Range(0.001, 10, *SECONDS),
    "gate.timeout_s": Range(0.1, 300, *SECONDS),
}


class Doubt(NamedTuple):
    """What cannot be, and the keys that say so; the first is the one to mend."""

    keys: tuple[str, ...]
    reason: str


def doubts(config: ExperimentConfig) -> Iterator[Doubt]:
    """Yield everything that cannot be meant; what follows from something earlier comes later."""
    for check in CHECKS:
        yield from check(config)


def _ranges(config: ExperimentConfig) -> Iterator[Doubt]:
    for key, allowed in RANGES.items():
        table, name = key.split(".")
        value = getattr(getattr(config, table), name)
        if allowed.low <= value <= allowed.high:
            continue
        reason = (
            f"{value:g} {allowed.unit} cannot be: it must be from {allowed.low:g} to "
            f"{allowed.high:g} {allowed.unit}"
        )
        meant = value * allowed.factor
        if allowed.low <= meant <= allowed.high:
            reason += f"; is that {allowed.other_unit}? Then write {meant:.3g}"
        yield Doubt((key,), reason)


def _pixels(config: ExperimentConfig) -> Iterator[Doubt]:
    screen = config.screen
    width_mm, height_mm = screen.width_mm / screen.width_px, screen.height_mm / screen.height_px
    for side, size_px, pixel_mm in (
        ("width", screen.width_px, width_mm),
        ("height", screen.height_px, height_mm),
    ):
        if size_px < LEAST_PX:
            yield Doubt((f"screen.{side}_px",), f"no screen has only {size_px} pixels across")
        elif not PIXEL_MM[0] <= pixel_mm <= PIXEL_MM[1]:
            yield Doubt(
                (f"screen.{side}_mm", f"screen.{side}_px"),
                f"a pixel would be {pixel_mm:.2g} mm: check the screen's size in mm and in px",
            )
    aspect = width_mm / height_mm
    if not PIXEL_ASPECT[0] <= aspect <= PIXEL_ASPECT[1]:
        yield Doubt(
            ("screen.height_mm", "screen.width_mm", "screen.width_px", "screen.height_px"),
            f"a pixel would be {width_mm:.3f} × {height_mm:.3f} mm, which is not square: check the "
            "screen's size in mm and in px, and that it runs at its native resolution",
        )


def _image_fits(config: ExperimentConfig) -> Iterator[Doubt]:
    for side in ("width_px", "height_px"):
        image, screen = getattr(config.stimuli, side), getattr(config.screen, side)
        if image > screen:
            yield Doubt(
                (f"stimuli.{side}", f"screen.{side}"),
                f"{image} is more than the screen has: write {screen} or less",
            )


def _gate(config: ExperimentConfig) -> Iterator[Doubt]:
    gate = config.gate
    if gate.dwell_s >= gate.timeout_s:
        yield Doubt(
            ("gate.dwell_s", "gate.timeout_s"),
            f"{gate.dwell_s:g} s on the cross can never be seen within gate.timeout_s = "
            f"{gate.timeout_s:g}",
        )


def _device(config: ExperimentConfig) -> Iterator[Doubt]:
    device = config.tracker.device
    if device in ("eyelink", "simulated"):
        return
    if device.startswith(REPLAY):
        if not device.removeprefix(REPLAY).strip():
            yield Doubt(("tracker.device",), 'names no file: write "replay:recording.edf"')
        return
    near = difflib.get_close_matches(device.casefold(), ("eyelink", "simulated", "replay"), 1)
    meant = {"replay": "replay:FILE"}.get(near[0], near[0]) if near else ""
    hint = f'; did you mean "{meant}"?' if meant else ""
    choice = ", ".join(f'"{name}"' for name in DEVICES[:-1]) + f' or "{DEVICES[-1]}"'
    yield Doubt(("tracker.device",), f'must be {choice}, not "{device}"{hint}')


def _address(config: ExperimentConfig) -> Iterator[Doubt]:
    address = config.tracker.address
    if not HOST.fullmatch(address):
        yield Doubt(
            ("tracker.address",),
            f'"{address}" is no address: write that of the EyeLink\'s Host PC, usually "100.1.1.1"',
        )


def _paths(config: ExperimentConfig) -> Iterator[Doubt]:
    for key, path in (
        ("script", config.script),
        ("tracker.device", config.tracker.device),
        ("stimuli.folder", config.stimuli.folder),
        ("identify.model", config.identify.model),
        ("output.folder", config.output.folder),
    ):
        if path is None:
            continue
        if not path.strip():
            yield Doubt((key,), "is empty")
        elif not path.isprintable():
            yield Doubt(
                (key,), "has a tab or a line break in it: write / between folders, also on Windows"
            )


def _early_stop(config: ExperimentConfig) -> Iterator[Doubt]:
    identify = config.identify
    if identify.stop_at is not None and identify.stop_after_images > config.stimuli.n_images:
        yield Doubt(
            ("identify.stop_after_images", "stimuli.n_images"),
            f"{identify.stop_after_images} is more than the {config.stimuli.n_images} images of "
            "stimuli.n_images, so that nothing would ever stop early",
        )


def _key_names(config: ExperimentConfig) -> Iterator[Doubt]:
    used: dict[str, str] = {}
    for action in config.keys.__struct_fields__:
        key, name = f"keys.{action}", getattr(config.keys, action)
        if not (name in KEY_NAMES or re.fullmatch("[a-z0-9]", name)):
            yield Doubt((key,), f'no key is called "{name}"{_meant_key(name)}')
        elif name in used:
            yield Doubt((key, used[name]), f'"{name}" is also the key of {used[name]}')
        else:
            used[name] = key


def _meant_key(name: str) -> str:
    lower = name.casefold().strip()
    if re.fullmatch("[a-z0-9]", lower):
        return f'; did you mean "{lower}"?'
    near = difflib.get_close_matches(lower, KEY_NAMES, 1)
    meant = OTHER_NAMES.get(lower) or (near[0] if near else "")
    return f'; did you mean "{meant}"?' if meant else ""


Check = Callable[[ExperimentConfig], Iterator[Doubt]]
CHECKS: tuple[Check, ...] = (
    _ranges,
    _pixels,
    _image_fits,
    _gate,
    _device,
    _address,
    _paths,
    _early_stop,
    _key_names,
)
