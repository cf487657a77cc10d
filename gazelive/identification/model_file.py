"""Trained models on disk: one file that says what it is, who is in it, and what it fits.

The *base* of a model is everything that does not belong to a single viewer (densities, whitening,
calibration); its id is the checksum of that. Viewers can be enrolled, forgotten and merged as
long as the base is the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive import __version__
from gazelive.detection import DetectorParameters, EngbertKlieglParameters, Method
from gazelive.errors import IncompatibleModelError, ModelFormatError
from gazelive.features.scanpath import COLUMN_NAMES
from gazelive.gaze.documents import MainSequence
from gazelive.identification.contract import Identifier
from gazelive.identification.fitted import Accuracy, Fitted, Machine, MachineKind
from gazelive.identification.identifier_arrays import (
    identifier_arrays,
    identifier_of_arrays,
    viewer_columns,
)
from gazelive.identification.machines import Linear
from gazelive.identification.scanpath_arrays import scanpath_arrays, scanpaths_of_arrays
from gazelive.identification.training_set import SourceKind, TrainingSet
from gazelive.models.storage import read_arrays, write_arrays
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

Arrays = dict[str, npt.NDArray[Any]]

FORMAT_VERSION = 1
RATE_REACH = 2.0
"""Probes may be sampled up to so many times faster or slower than what a model was made from."""


class DetectorChoice(msgspec.Struct, frozen=True, kw_only=True):
    """How the saccades were found that a model was made from."""

    method: Method = "settled"
    parameters: DetectorParameters | None = None
    """None for Engbert-Kliegl, which has its own."""
    engbert_kliegl: EngbertKlieglParameters | None = None


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was made from."""

    source: str
    sessions: tuple[str, ...] = ()
    n_scanpaths: int = 0
    n_saccades: int = 0
    seconds: float = 0.0
    left_out: tuple[str, ...] = ()
    false_acceptance_rate: float = 0.01
    texture: bool = True
    stimuli: bool = False
    """Whether saliency was computed from the images' files."""
    trial_patterns: dict[str, str] = {}
    """How trials were found in the messages, where it was not as usual (`TrialPatterns`)."""
    changes: tuple[str, ...] = ()
    """What was done to it since: viewers enrolled, forgotten, merged."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a model says of itself."""

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

    @property
    def identifier(self) -> Identifier:
        """Who is recognised, and how."""
        return self.fitted.identifier

    @property
    def kind(self) -> SourceKind:
        """What it was made from, and so what it takes."""
        return self.training.kind

    def check_rate(self, sampling_rate_hz: float) -> None:
        """Raise `IncompatibleModelError` where the model is not for that rate."""
        if self.kind == "fixations":
            raise IncompatibleModelError(
                "the model was made from a fixation table and takes only such tables: train one "
                "on recordings"
            )
        assert self.rate_range_hz is not None
        lowest, highest = self.rate_range_hz
        if not lowest <= sampling_rate_hz <= highest:
            raise IncompatibleModelError(
                f"the model takes recordings of {lowest:g} to {highest:g} Hz, and this one has "
                f"{sampling_rate_hz:g} Hz: train a model at that rate"
            )


def new_model(
    fitted: Fitted, training: TrainingSet, detector: DetectorChoice | None, provenance: Provenance
) -> TrainedModel:
    """Return the model of a fresh training."""
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
        _base_id(fitted.identifier),
    )


def save_model(model: TrainedModel, path: Path) -> None:
    """Write the model, whole or not at all."""
    fitted = model.fitted
    of_identifier, arrays = identifier_arrays(fitted.identifier)
    stored = {f"identifier/{name}": array for name, array in arrays.items()}
    of_machine = None
    if fitted.machine is not None:
        of_machine, arrays = _machine_arrays(fitted.machine)
        stored |= {f"machine/{name}": array for name, array in arrays.items()}
    of_scanpaths, arrays = scanpath_arrays(model.training)
    stored |= {f"scanpaths/{name}": array for name, array in arrays.items()}
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
    )
    write_arrays(path, msgspec.to_builtins(manifest), stored)


def load_model(path: Path) -> TrainedModel:
    """Read a model, or raise an error that says why it cannot be used."""
    content, arrays = read_arrays(path)
    version = content.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelFormatError(
            f"{path}: is a model of version {version}, and this gazelive takes version "
            f"{FORMAT_VERSION}: train it again"
        )
    try:
        manifest = msgspec.convert(content, Manifest)
        if manifest.columns != COLUMN_NAMES:
            raise ModelFormatError(
                f"{path}: was made by gazelive {manifest.gazelive} from other features than this "
                "one measures: train it again"
            )
        return _model_of(manifest, arrays)
    except (msgspec.ValidationError, KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelFormatError(
            f"{path}: what it holds does not fit together ({error}): train it again"
        ) from error


def own_patterns(patterns: TrialPatterns) -> dict[str, str]:
    """Return those patterns that are not the usual ones, as a model keeps them."""
    usual = msgspec.structs.asdict(DEFAULT_PATTERNS)
    return {n: p for n, p in msgspec.structs.asdict(patterns).items() if p != usual[n]}


def trial_patterns_of(model: TrainedModel) -> TrialPatterns:
    """Return how trials were found in what a model was made from."""
    return msgspec.convert(model.provenance.trial_patterns, TrialPatterns)


def _model_of(manifest: Manifest, arrays: Mapping[str, npt.NDArray[Any]]) -> TrainedModel:
    def part(prefix: str) -> Arrays:
        return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}

    identifier = identifier_of_arrays(
        manifest.method, manifest.viewer_ids, manifest.identifier, part("identifier/")
    )
    machine = None
    if manifest.machine is not None:
        machine = _machine_of(manifest.machine, part("machine/"))
    return TrainedModel(
        Fitted(
            identifier,
            manifest.calibration,
            manifest.accuracy,
            machine,
            manifest.vigor_rate_deg,
        ),
        scanpaths_of_arrays(manifest.scanpaths, part("scanpaths/"), manifest.viewer_ids),
        manifest.detector,
        manifest.provenance,
        manifest.rate_range_hz,
        manifest.main_sequence,
        manifest.base_id,
    )


def _machine_arrays(machine: Machine) -> tuple[dict[str, Any], Arrays]:
    return {"kind": machine.kind, "factor": machine.factor}, {
        "whitening": machine.whitening.weights,
        "whitening_bias": machine.whitening.bias,
        "scores": machine.scores,
        "viewers": machine.viewers,
        "logits": machine.logits.weights,
        "logits_bias": machine.logits.bias,
    }


def _machine_of(content: Mapping[str, Any], arrays: Arrays) -> Machine:
    return Machine(
        msgspec.convert(content["kind"], MachineKind),
        float(content["factor"]),
        Linear(arrays["whitening"], arrays["whitening_bias"]),
        arrays["scores"],
        arrays["viewers"],
        Linear(arrays["logits"], arrays["logits_bias"]),
    )


def _base_id(identifier: Identifier) -> str:
    """Return the checksum of what does not belong to single viewers."""
    content, arrays = identifier_arrays(identifier)
    own = viewer_columns(identifier)
    digest = hashlib.blake2b(digest_size=8)
    digest.update(msgspec.json.encode({**content, "method": identifier.method}, order="sorted"))
    for name in sorted(set(arrays) - set(own)):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


MAIN_SEQUENCE_AMPLITUDES_DEG = (0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25)


def population_main_sequence(training: TrainingSet) -> MainSequence | None:
    """Return the band of peak velocities around each amplitude; None without recordings."""
    from gazelive.features.scanpath import Column

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
