"""Which features spoke for and against the leader.

Evidence is (nearly) a sum over the entries of a score, so it can be told apart by feature: what
each added to the leader's log odds against the other viewers, weighted by how close they came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.features.scanpath import Scanpath
from gazelive.identification.contract import Identifier
from gazelive.identification.embedding import EmbeddingIdentifier, OpenInterval, OpenWindow
from gazelive.identification.linear import LinearIdentifier
from gazelive.identification.representation import Representation
from gazelive.identification.units import n_units

Floats = npt.NDArray[np.float64]

N_TOLD = 12


def explain_probe(
    identifier: Identifier, scanpaths: Sequence[Scanpath], leader: int | None = None
) -> list[dict[str, object]]:
    """Return features with their evidence (natural-log odds for the leader), strongest first.

    The leader is who has most evidence, unless a prior made it another.
    """
    if isinstance(identifier, LinearIdentifier):
        named = _for_leader(*_explain_linear(identifier, scanpaths), leader)
    elif isinstance(identifier, EmbeddingIdentifier):
        named = _for_leader(*_explain_embedding(identifier, scanpaths), leader)
    else:
        return []
    strongest = sorted(named.items(), key=lambda item: -abs(item[1]))[:N_TOLD]
    return [{"feature": name, "evidence": value} for name, value in strongest]


def _explain_linear(
    identifier: LinearIdentifier, scanpaths: Sequence[Scanpath]
) -> tuple[dict[str, Floats], Floats]:
    """Return exactly what each feature added for each viewer, and the sum."""
    contributions: dict[str, Floats] = {}
    scanpaths = [path for path in scanpaths if identifier.evidence(path).any()]
    for weights in identifier.weights:
        features = weights.block.features
        for path in scanpaths:
            types, values = features.types(path.saccades), features.values(path.saccades)
            scores = weights.block.row_scores(path.saccades)
            n_types, n_features, _ = weights.block.cells.shape
            entries = weights.block.entries
            shaped = scores[:, : n_types * n_features * entries].reshape(
                len(scores), n_types, n_features, entries
            )
            for f, feature in enumerate(features.features):
                said = np.einsum("nte,tek->k", shaped[:, :, f], weights.values[:, f, :entries])
                known = np.isfinite(values[:, f]) & (types >= 0)
                if weights.values.shape[2] == 3:
                    said = said + weights.values[types[known], f, 2].sum(axis=0)
                _add(contributions, feature.name, said)
            if len(types[types >= 0]):
                name = Representation((weights.block,)).dimension_names()[-1]
                _add(contributions, name, weights.types[types[types >= 0]].sum(axis=0))
    units = sum(n_units(path.n_saccades) for path in scanpaths)
    _add(contributions, "how often each viewer is right", units * identifier.constant)
    if identifier.closing is not None and identifier.closing_weights is not None:
        for path in scanpaths:
            scores = identifier.closing.scores(path.n_saccades, path.seconds)
            _add(contributions, "saccades per image", scores @ identifier.closing_weights)
    scale = identifier.evidence_scale(units)
    contributions = {name: scale * said for name, said in contributions.items()}
    return contributions, sum(contributions.values(), np.zeros(len(identifier.viewer_ids)))


def _explain_embedding(
    identifier: EmbeddingIdentifier, scanpaths: Sequence[Scanpath]
) -> tuple[dict[str, Floats], Floats]:
    """Return what each feature's part of the embedding adds to the cosines, and the cosines."""
    embedding = identifier.embedding
    weighted = np.zeros(embedding.n_embedded)
    window = OpenWindow(embedding)
    tempered = np.zeros(embedding.block.n_dimensions)
    for path in scanpaths:
        interval = OpenInterval(embedding)
        window.clear()
        for row in path.saccades:
            interval.add(row)
            if embedding.takes(row):
                window.add(row)
        weighted += interval.weighted()
        if window.n:
            tempered += window.n * window.tempered().astype(np.float64)
    length = float(np.linalg.norm(tempered @ embedding.projection.astype(np.float64)))
    total = identifier.temperature * identifier.cosines(weighted)
    if not length > 0:
        return {}, total
    machines = embedding.projection.astype(np.float64) @ identifier.directions.T.astype(np.float64)
    contributions: dict[str, Floats] = {}
    names = Representation((embedding.block,)).dimension_names()
    for i, name in enumerate(names):
        said = identifier.temperature * tempered[i] / length * machines[i]
        _add(contributions, name, said)
    return contributions, total


def _add(contributions: dict[str, Floats], name: str, said: Floats) -> None:
    contributions[name] = contributions[name] + said if name in contributions else said


def _for_leader(
    contributions: dict[str, Floats], total: Floats, leader: int | None
) -> dict[str, float]:
    """Return each contribution as log odds for the leader against the rest."""
    if leader is None:
        leader = int(np.argmax(total))
    if len(total) < 2:
        return {name: float(said[0]) for name, said in contributions.items()}
    others = np.delete(np.arange(len(total)), leader)
    share = special.softmax(total[others])
    return {
        name: float(said[leader] - said[others] @ share) for name, said in contributions.items()
    }
