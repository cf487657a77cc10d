"""Model files: one file with a manifest, the identifier and its training scanpaths.

The *base* of a model is everything that the viewers share (densities, whitening, calibration);
`base_id` is its checksum. Models with the same base can be merged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive import __version__
from gazelive.detection import (
    DETECTOR_REVISION,
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
)
from gazelive.errors import GazeliveError, IncompatibleModelError, ModelFormatError
from gazelive.features import COLUMN_NAMES
from gazelive.gaze import MainSequence
from gazelive.identification.contract import Arrays, Identifier, State, Terms
from gazelive.identification.expectation import Expectation
from gazelive.identification.fitted import Accuracy, Fitted
from gazelive.identification.registry import identifier_class
from gazelive.identification.training_data import SourceKind, TrainingSet
from gazelive.models import read_arrays, write_arrays
from gazelive.recordings import TrialPatterns

FORMAT_VERSION = 1
RATE_REACH = 2.0
"""Probes may be sampled up to this many times faster or slower than the training recordings."""


_MAKES_NO_SENSE = (
    GazeliveError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
)
"""What parts of a file raise that are not as they must be."""


class DetectorChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Saccade detector of the training recordings."""

    method: Method = "settled"
    parameters: DetectorParameters | None = None
    """None for Engbert-Kliegl, which has its own."""
    engbert_kliegl: EngbertKlieglParameters | None = None
    revision: int = 1
    """`DETECTOR_REVISION` of the training."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """A reason to train the model again, if the detector has changed since."""
        if self.method == "engbert-kliegl" or self.revision == DETECTOR_REVISION:
            return ()
        return (
            "the model was trained with an earlier detector, and saccades are found differently "
            "since: it still works, but train it again for its full accuracy",
        )


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of a model."""

    source: str
    sessions: tuple[str, ...] = ()
    n_scanpaths: int = 0
    n_saccades: int = 0
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    false_acceptance_rate: float = 0.01
    texture: bool = True
    shipped: bool = True
    """False if nothing that was learned from other people's recordings was used."""
    stimuli: bool = False
    """True if saliency was computed from image files."""
    trial_patterns: dict[str, str] = {}
    """Patterns of trial messages that differ from the defaults (`TrialPatterns`)."""
    changes: tuple[str, ...] = ()
    """Later changes: viewers enrolled, forgotten, merged."""

    def __post_init__(self) -> None:
        if not 0 < self.false_acceptance_rate < 1:
            raise ValueError("the false-acceptance rate is not between 0 and 1")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Manifest of a model file."""

    format_version: int
    gazelive: str
    method: str
    kind: SourceKind
    viewer_ids: tuple[str, ...]
    columns: tuple[str, ...]
    """The feature schema: the columns of scanpath rows."""
    rate_range_hz: tuple[float, float] | None
    detector: DetectorChoice | None
    vigor_rate_deg: float | None
    calibration: str
    accuracy: Accuracy | None
    main_sequence: MainSequence | None
    provenance: Provenance
    base_id: str
    identifier: dict[str, Any]
    machine: dict[str, Any] | None
    scanpaths: dict[str, Any]
    accuracy_by_images: dict[str, Accuracy] = {}
    expectation: Expectation | None = None

    def __post_init__(self) -> None:
        ids = self.viewer_ids
        if not ids or not all(ids) or len(set(ids)) < len(ids):
            raise ValueError("the viewers have no names of their own")
        if (self.kind == "samples") == (self.rate_range_hz is None):
            raise ValueError("a model of recordings, and no other, has a range of rates")
        if (
            self.rate_range_hz is not None
            and not 0 < self.rate_range_hz[0] <= self.rate_range_hz[1]
        ):
            raise ValueError("the range of rates is empty")
        if self.vigor_rate_deg is not None and not self.vigor_rate_deg > 0:
            raise ValueError("the rate of the vigor is not above 0")
        band = self.main_sequence
        if band is not None and len({len(column) for column in msgspec.structs.astuple(band)}) > 1:
            raise ValueError("the columns of the main sequence have different lengths")

    def check_rate(self, sampling_rate_hz: float) -> None:
        """Raise `IncompatibleModelError` where the model is not for that rate."""
        _check_rate(self.kind, self.rate_range_hz, sampling_rate_hz)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """Everything in a model file."""

    fitted: Fitted
    training: TrainingSet
    detector: DetectorChoice | None
    provenance: Provenance
    rate_range_hz: tuple[float, float] | None
    main_sequence: MainSequence | None
    base_id: str = ""
    expectation: Expectation | None = None
    """What to expect; None after a change of the viewers, and of models of 0.1."""

    @property
    def identifier(self) -> Identifier:
        """The enrolled viewers and the method."""
        return self.fitted.identifier

    def complete(self, terms: Terms) -> Terms:
        """Return the terms with the training's false-acceptance rate if they state none."""
        if terms.false_acceptance_rate is not None:
            return terms
        return replace(terms, false_acceptance_rate=self.provenance.false_acceptance_rate)

    @property
    def kind(self) -> SourceKind:
        """Kind of the training data, and of the probes it accepts."""
        return self.training.kind

    def check_rate(self, sampling_rate_hz: float) -> None:
        """Raise `IncompatibleModelError` for recordings of another kind or rate."""
        _check_rate(self.kind, self.rate_range_hz, sampling_rate_hz)


def _check_rate(
    kind: SourceKind, rate_range_hz: tuple[float, float] | None, sampling_rate_hz: float
) -> None:
    if kind == "fixations":
        raise IncompatibleModelError(
            "the model was trained on a fixation table and accepts only such tables: train one "
            "on recordings"
        )
    assert rate_range_hz is not None
    lowest, highest = rate_range_hz
    if not lowest <= sampling_rate_hz <= highest:
        raise IncompatibleModelError(
            f"the model accepts recordings of {lowest:g} to {highest:g} Hz, and this one has "
            f"{sampling_rate_hz:g} Hz: train a model at that rate"
        )


def new_model(
    fitted: Fitted, training: TrainingSet, detector: DetectorChoice | None, provenance: Provenance
) -> TrainedModel:
    """Return the model of a new training."""
    rates = [p.sampling_rate_hz for p in training.scanpaths if p.sampling_rate_hz is not None]
    rate_range = (min(rates) / RATE_REACH, max(rates) * RATE_REACH) if rates else None
    sequence = population_main_sequence(training)
    return TrainedModel(
        fitted,
        training,
        detector,
        provenance,
        rate_range,
        sequence,
        base_id(fitted.identifier, training.kind),
    )


def save_model(model: TrainedModel, path: Path) -> None:
    """Write the model, whole or not at all."""
    fitted = model.fitted
    state = fitted.identifier.state()
    stored = {_stored_name(name): array for name, array in state.arrays.items()}
    of_scanpaths, arrays = model.training.to_arrays()
    stored |= {f"scanpaths/{name}": array for name, array in arrays.items()}
    of_identifier = dict(state.content)
    of_machine = of_identifier.pop("machine", None)
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        gazelive=__version__,
        method=fitted.identifier.method,
        kind=model.kind,
        viewer_ids=fitted.identifier.viewer_ids,
        columns=COLUMN_NAMES,
        rate_range_hz=model.rate_range_hz,
        detector=model.detector,
        vigor_rate_deg=fitted.vigor_rate_deg,
        calibration=fitted.calibration,
        accuracy=fitted.accuracy,
        main_sequence=model.main_sequence,
        provenance=model.provenance,
        base_id=model.base_id,
        identifier=of_identifier,
        machine=of_machine,
        scanpaths=of_scanpaths,
        accuracy_by_images=fitted.accuracy_by_images,
        expectation=model.expectation,
    )
    write_arrays(path, msgspec.to_builtins(manifest), stored)


def load_model(path: Path) -> TrainedModel:
    """Read a model, or raise a `ModelError` that names the file and gives the reason.

    The checksum finds damage, not intent: each part is checked where it is taken from the file
    (`gazelive.models.StoredArrays`), so that no model that loads can fail when it scores.
    """
    manifest, arrays = _read(path)
    try:
        return _model_of(manifest, arrays)
    except _MAKES_NO_SENSE as error:
        raise _inconsistent(path, error) from error


def read_model_manifest(path: Path) -> Manifest:
    """Return the manifest of a model file, after the same checks but without its arrays.

    For processes that start another one which loads the model.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[Manifest, Arrays]:
    content, arrays = read_arrays(path)
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelFormatError(
            f"{path}: is a model of version {version}, and this gazelive reads version "
            f"{FORMAT_VERSION}: train it again"
        )
    try:
        manifest = msgspec.convert(content, Manifest)
    except _MAKES_NO_SENSE as error:
        raise _inconsistent(path, error) from error
    if manifest.columns != COLUMN_NAMES:
        raise ModelFormatError(
            f"{path}: was made by gazelive {manifest.gazelive} with other features than this "
            "version has: train it again"
        )
    return manifest, arrays


def _inconsistent(path: Path, error: Exception) -> ModelFormatError:
    reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
    return ModelFormatError(f"{path}: is inconsistent ({reason}): train it again")


def trial_patterns_of(model: TrainedModel | Manifest) -> TrialPatterns:
    """Return the trial patterns of the training recordings."""
    return msgspec.convert(model.provenance.trial_patterns, TrialPatterns)


def _model_of(manifest: Manifest, arrays: Mapping[str, npt.NDArray[Any]]) -> TrainedModel:
    def part(prefix: str) -> Arrays:
        return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}

    content = dict(manifest.identifier)
    if manifest.machine is not None:
        content["machine"] = manifest.machine
    kept = part("identifier/") | {n: a for n, a in arrays.items() if n.startswith("machine/")}
    make = identifier_class(manifest.method, manifest.kind, str(content.get("kind")))
    identifier = make.from_state(manifest.method, manifest.viewer_ids, State(content, kept))
    return TrainedModel(
        Fitted(
            identifier,
            manifest.calibration,
            manifest.accuracy,
            manifest.vigor_rate_deg,
            accuracy_by_images=manifest.accuracy_by_images,
        ),
        TrainingSet.from_arrays(manifest.scanpaths, part("scanpaths/"), manifest.viewer_ids),
        manifest.detector,
        manifest.provenance,
        manifest.rate_range_hz,
        manifest.main_sequence,
        manifest.base_id,
        manifest.expectation,
    )


def _stored_name(name: str) -> str:
    """Return an array's name in the file."""
    return name if name.startswith("machine/") else f"identifier/{name}"


def base_id(identifier: Identifier, kind: SourceKind) -> str:
    """Return the checksum of everything that the viewers share."""
    state = identifier.state()
    content = {**state.content, "method": identifier.method, "source": kind}
    content.pop("machine", None)
    digest = hashlib.blake2b(digest_size=8)
    digest.update(msgspec.json.encode(content, order="sorted"))
    for name, array in sorted(state.base().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


MAIN_SEQUENCE_AMPLITUDES_DEG = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25)


def population_main_sequence(training: TrainingSet) -> MainSequence | None:
    """Return the band of peak velocities around each amplitude; None without recordings."""
    from gazelive.features import Column

    rows = training.rows()
    amplitude = rows[:, Column.AMPLITUDE_DEG].astype(np.float64)
    velocity = rows[:, Column.PEAK_VELOCITY_DEG_S].astype(np.float64)
    known = np.isfinite(amplitude) & np.isfinite(velocity)
    bands = []
    for centre in MAIN_SEQUENCE_AMPLITUDES_DEG:
        near = known & (np.abs(np.log(np.maximum(amplitude, 1e-9) / centre)) < 0.2)
        if near.sum() >= 20:
            bands.append((float(centre), *np.percentile(velocity[near], (5, 50, 95)).tolist()))
    if not bands:
        return None
    amplitudes, low, median, high = zip(*bands, strict=True)
    return MainSequence(
        amplitude_deg=amplitudes, low_deg_s=low, median_deg_s=median, high_deg_s=high
    )
