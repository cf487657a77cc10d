"""Plausibility of settings that are valid one by one: units, geometry, names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gazelive.experiment.config.schema import ExperimentConfig

TRACKERS = ("eyelink", "simulated")
DEVICES = (*TRACKERS, "replay:FILE")
REPLAY = "replay:"
LEAST_PX = 100
PIXEL_MM = (0.03, 10.0)
"""Plausible pixel sizes: from the finest phone display to a projection on a wall."""
PIXEL_ASPECT = (0.8, 1.25)
"""Pixel width by height: 1 on a flat panel, within a few per cent of measurement error."""
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
    """Plausible range of a number, and the unit probably used by mistake."""

    low: float
    high: float
    unit: str
    other_unit: str
    factor: float
    """Size of `other_unit` in `unit`."""


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


class Implausibility(NamedTuple):
    """An implausible combination: the keys involved (fix the first one) and the reason."""

    keys: tuple[str, ...]
    reason: str


def implausibilities(config: ExperimentConfig) -> Iterator[Implausibility]:
    """Yield everything implausible; consequences come after their causes."""
    for check in CHECKS:
        yield from check(config)


def _ranges(config: ExperimentConfig) -> Iterator[Implausibility]:
    for key, allowed in RANGES.items():
        table, name = key.split(".")
        value = getattr(getattr(config, table), name)
        if allowed.low <= value <= allowed.high:
            continue
        reason = (
            f"{value:g} {allowed.unit} is out of range: it must be {allowed.low:g} to "
            f"{allowed.high:g} {allowed.unit}"
        )
        meant = value * allowed.factor
        if allowed.low <= meant <= allowed.high:
            reason += f"; if this is in {allowed.other_unit}, write {meant:.3g}"
        yield Implausibility((key,), reason)


def _pixels(config: ExperimentConfig) -> Iterator[Implausibility]:
    screen = config.screen
    width_mm, height_mm = screen.width_mm / screen.width_px, screen.height_mm / screen.height_px
    for side, size_px, pixel_mm in (
        ("width", screen.width_px, width_mm),
        ("height", screen.height_px, height_mm),
    ):
        if size_px < LEAST_PX:
            yield Implausibility(
                (f"screen.{side}_px",), f"{size_px} pixels are too few for a screen"
            )
        elif not PIXEL_MM[0] <= pixel_mm <= PIXEL_MM[1]:
            yield Implausibility(
                (f"screen.{side}_mm", f"screen.{side}_px"),
                f"a pixel would be {pixel_mm:.2g} mm: check the screen's size in mm and in px",
            )
    aspect = width_mm / height_mm
    if not PIXEL_ASPECT[0] <= aspect <= PIXEL_ASPECT[1]:
        yield Implausibility(
            ("screen.height_mm", "screen.width_mm", "screen.width_px", "screen.height_px"),
            f"a pixel would be {width_mm:.3f} × {height_mm:.3f} mm, which is not square: check the "
            "screen's size in mm and in px, and that it runs at its native resolution",
        )


def _image_fits(config: ExperimentConfig) -> Iterator[Implausibility]:
    for side in ("width_px", "height_px"):
        image, screen = getattr(config.stimuli, side), getattr(config.screen, side)
        if image > screen:
            yield Implausibility(
                (f"stimuli.{side}", f"screen.{side}"),
                f"{image} is more than the screen's {screen}: write {screen} or less",
            )


def _gate(config: ExperimentConfig) -> Iterator[Implausibility]:
    gate = config.gate
    if gate.dwell_s >= gate.timeout_s:
        yield Implausibility(
            ("gate.dwell_s", "gate.timeout_s"),
            f"a dwell of {gate.dwell_s:g} s is impossible within gate.timeout_s = "
            f"{gate.timeout_s:g}",
        )


def _device(config: ExperimentConfig) -> Iterator[Implausibility]:
    device = config.tracker.device
    if device in TRACKERS:
        return
    if device.startswith(REPLAY):
        if not device.removeprefix(REPLAY).strip():
            yield Implausibility(("tracker.device",), 'no file given: write "replay:recording.edf"')
        return
    near = difflib.get_close_matches(device.casefold(), (*TRACKERS, "replay"), 1)
    meant = {"replay": "replay:FILE"}.get(near[0], near[0]) if near else ""
    hint = f'; did you mean "{meant}"?' if meant else ""
    choice = ", ".join(f'"{name}"' for name in DEVICES[:-1]) + f' or "{DEVICES[-1]}"'
    yield Implausibility(("tracker.device",), f'must be {choice}, not "{device}"{hint}')


def _address(config: ExperimentConfig) -> Iterator[Implausibility]:
    address = config.tracker.address
    if not HOST.fullmatch(address):
        yield Implausibility(
            ("tracker.address",),
            f'"{address}" is not an address: write the EyeLink Host PC\'s, usually "100.1.1.1"',
        )


def _paths(config: ExperimentConfig) -> Iterator[Implausibility]:
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
            yield Implausibility((key,), "is empty")
        elif not path.isprintable():
            yield Implausibility(
                (key,), "contains a tab or line break: write / between folders, also on Windows"
            )


def _early_stop(config: ExperimentConfig) -> Iterator[Implausibility]:
    identify = config.identify
    if identify.stop_at is not None and identify.stop_after_images > config.stimuli.n_images:
        yield Implausibility(
            ("identify.stop_after_images", "stimuli.n_images"),
            f"{identify.stop_after_images} is more than stimuli.n_images = "
            f"{config.stimuli.n_images}: the session would never stop early",
        )


def _key_names(config: ExperimentConfig) -> Iterator[Implausibility]:
    used: dict[str, str] = {}
    for action in config.keys.__struct_fields__:
        key, name = f"keys.{action}", getattr(config.keys, action)
        if not (name in KEY_NAMES or re.fullmatch("[a-z0-9]", name)):
            yield Implausibility((key,), f'unknown key name "{name}"{_meant_key(name)}')
        elif name in used:
            yield Implausibility((key, used[name]), f'"{name}" is already used by {used[name]}')
        else:
            used[name] = key


def _meant_key(name: str) -> str:
    lower = name.casefold().strip()
    if re.fullmatch("[a-z0-9]", lower):
        return f'; did you mean "{lower}"?'
    near = difflib.get_close_matches(lower, KEY_NAMES, 1)
    meant = OTHER_NAMES.get(lower) or (near[0] if near else "")
    return f'; did you mean "{meant}"?' if meant else ""


Check = Callable[[ExperimentConfig], Iterator[Implausibility]]
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
