"""Identifiers as a manifest and arrays, and back: what is kept scores the same to the bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelFormatError
from gazelive.features.feature_set import FeatureSet
from gazelive.identification.contract import Identifier
from gazelive.identification.embedding import Embedding, EmbeddingIdentifier
from gazelive.identification.linear import BlockWeights, Closing, LinearIdentifier
from gazelive.identification.open_set import MatchThreshold
from gazelive.identification.plda import Plda
from gazelive.identification.representation import Block, Representation

Arrays = dict[str, npt.NDArray[Any]]
Content = dict[str, Any]


def identifier_arrays(identifier: Identifier) -> tuple[Content, Arrays]:
    """Return what a manifest and what a file keep of an identifier."""
    if isinstance(identifier, LinearIdentifier):
        return _linear_arrays(identifier)
    if isinstance(identifier, EmbeddingIdentifier):
        return _embedding_arrays(identifier)
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


def viewer_columns(identifier: Identifier) -> Arrays:
    """Return the arrays of an identifier that have one entry per viewer, viewers first."""
    if isinstance(identifier, EmbeddingIdentifier):
        return {"directions": identifier.directions}
    assert isinstance(identifier, LinearIdentifier)
    columns: Arrays = {"constant": identifier.constant}
    for i, weights in enumerate(identifier.weights):
        columns[f"weights{i}_values"] = np.moveaxis(weights.values, -1, 0)
        columns[f"weights{i}_types"] = weights.types.T
    if identifier.closing_weights is not None:
        columns["closing_weights"] = identifier.closing_weights.T
    if identifier.plda is not None:
        columns |= {
            "plda_means": identifier.plda.means,
            "plda_variances": identifier.plda.variances,
        }
    return columns


def with_viewer_columns(
    identifier: Identifier, viewer_ids: tuple[str, ...], columns: Arrays
) -> Identifier:
    """Return the identifier for other viewers, given all of their columns."""
    content, arrays = identifier_arrays(identifier)
    for name, column in columns.items():
        last = name.startswith("weights") or name == "closing_weights"
        arrays[name] = np.ascontiguousarray(np.moveaxis(column, 0, -1) if last else column)
    return identifier_of_arrays(identifier.method, viewer_ids, content, arrays)
