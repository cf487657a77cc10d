"""Splits of a corpus into a part to train on and a part to test on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from gazelive.errors import ConfigError
from gazelive.gaze import Flags
from gazelive.identification import TrainingSet


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """What is trained on and what is tested on."""

    kind: Literal["images", "sessions"] = "images"
    n_splits: int = 5
    """Random halves of the images."""
    seconds: tuple[float, ...] = ()
    """Lengths of probes, besides the numbers of images."""
    max_images: int | None = None
    """Most images of either half."""
    disjoint_images: bool = False
    """`sessions`: True if the images of training are not tested."""


@dataclass(frozen=True, eq=False)
class Split:
    """One way to divide the scanpaths."""

    name: str
    """Number of the split, or `1→2` for sessions."""
    training: Flags
    test: Flags
    """(scanpaths,) each; no scanpath is in both."""


def splits_of(data: TrainingSet, protocol: Protocol) -> list[Split]:
    """Return the splits of a protocol, or raise `ConfigError` where the data have none."""
    along_images = protocol.kind == "images" or protocol.disjoint_images
    if protocol.max_images is not None and not along_images:
        raise ConfigError("needs a split along images: add --disjoint-images", key="--max-images")
    make = _images if protocol.kind == "images" else _sessions
    return list(make(data, protocol))


def _images(data: TrainingSet, protocol: Protocol) -> Iterator[Split]:
    """Yield random halves of the images: no image is in both."""
    for number in range(protocol.n_splits):
        first, second = _image_halves(data, number, protocol.max_images)
        yield Split(str(number), first, second)


def _sessions(data: TrainingSet, protocol: Protocol) -> Iterator[Split]:
    """Yield one split per session to train on; the viewers' other sessions are tested."""
    sessions = np.array(data.sessions)
    names = sorted(set(data.sessions))
    if len(names) < 2:
        raise ConfigError(
            f"there is one session only ({', '.join(names)}): use --protocol images",
            key="--protocol",
        )
    for name in names:
        own = sessions == name
        both = np.isin(data.viewers, data.viewers[own]) & np.isin(data.viewers, data.viewers[~own])
        rest = next(other for other in names if other != name) if len(names) == 2 else "others"
        direction = f"{name}→{rest}"
        if not protocol.disjoint_images:
            yield Split(direction, own & both, ~own & both)
            continue
        for number in range(protocol.n_splits):
            first, second = _image_halves(data, number, protocol.max_images)
            yield Split(f"{direction} {number}", own & both & first, ~own & both & second)


def _image_halves(data: TrainingSet, seed: int, most: int | None) -> tuple[Flags, Flags]:
    """Return the scanpaths on either half of the images."""
    images = _image_names(data)
    if len(images) < 2:
        raise ConfigError(
            f"a split along images needs at least two, and the recordings name {len(images)}: use "
            "--protocol sessions, or say how the messages mark trials (--trials)",
            key="--protocol",
        )
    order = np.random.default_rng(seed).permutation(images)
    half = min(len(images) // 2, most or len(images))
    names = np.array([path.image or "" for path in data.scanpaths])
    return np.isin(names, order[:half]), np.isin(names, order[-half:])


def _image_names(data: TrainingSet) -> list[str]:
    return sorted({path.image for path in data.scanpaths if path.image is not None})


def gallery_halves(n_viewers: int, n_galleries: int) -> list[Flags]:
    """Return random halves of the viewers to enrol; the others are strangers."""
    halves = []
    for seed in range(n_galleries):
        enrolled = np.zeros(n_viewers, bool)
        enrolled[np.random.default_rng(seed).permutation(n_viewers)[: n_viewers // 2]] = True
        halves.append(enrolled)
    return halves
