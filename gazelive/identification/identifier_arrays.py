"""Identifiers as a manifest and arrays, and back: what is kept scores the same to the bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelFormatError
from gazelive.features.feature_set import FeatureSet
from gazelive.identification.contract import Identifier
from gazelive.identification.embedding import Embedding, EmbeddingIdentifier
from gazelive.identification.linear import BlockWeights, Closing, LinearIdentifier
from gazelive.identification.machines import Linear
from gazelive.identification.open_set import MatchThreshold
from gazelive.identification.plda import Plda
from gazelive.identification.representation import Block, Representation
from gazelive.identification.scenewalk_identifier import Scene, SceneWalkIdentifier
from gazelive.models.saliency_choice import SaliencyBank
from gazelive.models.scenewalk import ImageGrid, SceneWalkParameters
from gazelive.models.scenewalk_model import SceneWalkModel

Arrays = dict[str, npt.NDArray[Any]]
Content = dict[str, Any]


def identifier_arrays(identifier: Identifier) -> tuple[Content, Arrays]:
    """Return what a manifest and what a file keep of an identifier."""
    if isinstance(identifier, LinearIdentifier):
        return _linear_arrays(identifier)
    if isinstance(identifier, EmbeddingIdentifier):
        return _embedding_arrays(identifier)
    if isinstance(identifier, SceneWalkIdentifier):
        return _scenewalk_arrays(identifier)
    raise ModelFormatError(f"an identifier of {type(identifier).__name__} cannot be kept")


def identifier_of_arrays(
    method: str,
    viewer_ids: tuple[str, ...],
    content: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> Identifier:
    """Return the identifier that was kept."""
    threshold = msgspec.convert(content["threshold"], MatchThreshold)
    if content["kind"] == "embedding":
        block = Block.from_arrays(FeatureSet.from_json(content["features"]), arrays)
        embedding = Embedding(
            block,
            arrays["mean"],
            arrays["projection"],
            int(content["step"]),
            float(content["least_amplitude_deg"]),
        )
        temperature = float(content["temperature"])
        return EmbeddingIdentifier(
            method, viewer_ids, embedding, arrays["directions"], temperature, threshold
        )
    if content["kind"] == "scenewalk":
        return _scenewalk_of(method, viewer_ids, content, arrays, threshold)
    if content["kind"] != "linear":
        raise ModelFormatError(f"an identifier of kind {content['kind']} is not known")
    representation = Representation.from_file(content["blocks"], arrays)
    weights = tuple(
        BlockWeights(block, arrays[f"weights{i}_values"], arrays[f"weights{i}_types"])
        for i, block in enumerate(representation.blocks)
    )
    closing = None
    if content["closing_seconds"] is not None:
        shortest, longest = content["closing_seconds"]
        closing = Closing(arrays["closing_mean"], arrays["closing_spread"], (shortest, longest))
    return LinearIdentifier(
        method,
        viewer_ids,
        weights,
        arrays["constant"],
        float(content["usual_saccades"]),
        threshold,
        Plda.from_arrays(arrays) if "plda_means" in arrays else None,
        closing,
        arrays.get("closing_weights"),
        float(content["correlation"]),
    )


def _linear_arrays(identifier: LinearIdentifier) -> tuple[Content, Arrays]:
    arrays: Arrays = {**identifier.representation.to_arrays(), "constant": identifier.constant}
    for i, weights in enumerate(identifier.weights):
        arrays[f"weights{i}_values"] = weights.values
        arrays[f"weights{i}_types"] = weights.types
    if identifier.plda is not None:
        arrays |= identifier.plda.to_arrays()
    closing = identifier.closing
    if closing is not None:
        arrays |= {"closing_mean": closing.mean, "closing_spread": closing.spread}
    if identifier.closing_weights is not None:
        arrays["closing_weights"] = identifier.closing_weights
    return {
        "kind": "linear",
        "blocks": identifier.representation.to_json(),
        "usual_saccades": identifier.usual_saccades,
        "correlation": identifier.correlation,
        "threshold": msgspec.to_builtins(identifier.threshold),
        "closing_seconds": None if closing is None else list(closing.seconds),
    }, arrays


def _embedding_arrays(identifier: EmbeddingIdentifier) -> tuple[Content, Arrays]:
    embedding = identifier.embedding
    arrays: Arrays = {
        **embedding.block.to_arrays(),
        "mean": embedding.mean,
        "projection": embedding.projection,
        "directions": identifier.directions,
    }
    return {
        "kind": "embedding",
        "features": embedding.block.features.to_json(),
        "step": embedding.step,
        "least_amplitude_deg": embedding.least_amplitude_deg,
        "temperature": identifier.temperature,
        "threshold": msgspec.to_builtins(identifier.threshold),
    }, arrays


def _scenewalk_arrays(identifier: SceneWalkIdentifier) -> tuple[Content, Arrays]:
    bank, of_bank = identifier.scene.bank.to_arrays()
    arrays: Arrays = {
        **bank,
        "x_edges_deg": identifier.scene.grid.x_edges_deg,
        "y_edges_deg": identifier.scene.grid.y_edges_deg,
        "pooled": identifier.pooled.natural.to_array(),
    }
    if identifier.own:
        arrays["own"] = np.array([model.natural.to_array() for model in identifier.own])
    if identifier.machine is not None:
        arrays["machine_weights"] = identifier.machine.weights
        arrays["machine_bias"] = identifier.machine.bias
    if identifier.plda is not None:
        arrays |= identifier.plda.to_arrays()
    return {
        "kind": "scenewalk",
        "bank": of_bank,
        "fitted_to": identifier.pooled.fitted_to,
        "temperature": identifier.temperature,
        "correlation": identifier.correlation,
        "threshold": msgspec.to_builtins(identifier.threshold),
    }, arrays


def _scenewalk_of(
    method: str,
    viewer_ids: tuple[str, ...],
    content: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    threshold: MatchThreshold,
) -> SceneWalkIdentifier:
    def model(values: npt.NDArray[Any]) -> SceneWalkModel:
        return SceneWalkModel(SceneWalkParameters.from_array(values), str(content["fitted_to"]))

    grid = ImageGrid(arrays["x_edges_deg"], arrays["y_edges_deg"])
    machine = None
    if "machine_weights" in arrays:
        machine = Linear(arrays["machine_weights"], arrays["machine_bias"])
    return SceneWalkIdentifier(
        method,
        viewer_ids,
        Scene(grid, SaliencyBank.from_arrays(arrays, content["bank"])),
        model(arrays["pooled"]),
        tuple(model(values) for values in arrays.get("own", ())),
        float(content["temperature"]),
        machine,
        threshold,
        Plda.from_arrays(arrays) if "plda_means" in arrays else None,
        float(content["correlation"]),
    )


def viewer_columns(identifier: Identifier) -> Arrays:
    """Return the arrays of an identifier that have one entry per viewer, viewers first."""
    if isinstance(identifier, EmbeddingIdentifier):
        return {"directions": identifier.directions}
    if isinstance(identifier, SceneWalkIdentifier):
        columns: Arrays = {}
        if identifier.own:
            columns["own"] = np.array([model.natural.to_array() for model in identifier.own])
        if identifier.machine is not None:
            columns["machine_weights"] = identifier.machine.weights.T
            columns["machine_bias"] = identifier.machine.bias
        return columns | _plda_columns(identifier.plda)
    assert isinstance(identifier, LinearIdentifier)
    columns = {"constant": identifier.constant}
    for i, weights in enumerate(identifier.weights):
        columns[f"weights{i}_values"] = np.moveaxis(weights.values, -1, 0)
        columns[f"weights{i}_types"] = weights.types.T
    if identifier.closing_weights is not None:
        columns["closing_weights"] = identifier.closing_weights.T
    return columns | _plda_columns(identifier.plda)


def with_viewer_columns(
    identifier: Identifier, viewer_ids: tuple[str, ...], columns: Arrays
) -> Identifier:
    """Return the identifier for other viewers, given all of their columns."""
    content, arrays = identifier_arrays(identifier)
    for name, column in columns.items():
        last = name.startswith("weights") or name in ("closing_weights", "machine_weights")
        arrays[name] = np.ascontiguousarray(np.moveaxis(column, 0, -1) if last else column)
    made = identifier_of_arrays(identifier.method, viewer_ids, content, arrays)
    if isinstance(identifier, SceneWalkIdentifier) and isinstance(made, SceneWalkIdentifier):
        return replace(made, scene=identifier.scene)  # with the images' files at hand, if they are
    return made


def _plda_columns(plda: Plda | None) -> Arrays:
    return {} if plda is None else {"plda_means": plda.means, "plda_variances": plda.variances}
