"""Which features spoke for and against the leader.

Evidence is a sum over the entries of a score, so it can be told apart by feature: what each added
to the leader's log odds against the other viewers, weighted by how close they came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from gazelive.features.scanpath import Scanpath
from gazelive.identification.contract import Identifier
from gazelive.identification.embedding import EmbeddingIdentifier
from gazelive.identification.gazelive_samples import tempered_windows
from gazelive.identification.linear import LinearIdentifier
from gazelive.identification.machines import Linear
from gazelive.identification.representation import Representation
from gazelive.identification.scenewalk_identifier import SceneWalkIdentifier
from gazelive.identification.units import n_units
from gazelive.models.scenewalk import SceneWalkParameters

Floats = npt.NDArray[np.float64]

N_TOLD = 12
PARAMETER_NAMES = SceneWalkParameters.__struct_fields__
THE_REST = "everything else"
CONSTANT = "constant of the viewer's machine"
_WHEN = {"movement_": "saccade", "after_": "just after", "texture_": "fixation before"}


def explain_probe(
    identifier: Identifier, scanpaths: Sequence[Scanpath], leader: int | None = None
) -> list[tuple[str, float]]:
    """Return features with their evidence (natural-log odds for the leader), strongest first.

    The sum is the leader's log odds against the others, without the prior; what is weakest comes
    last, together. The leader is who has most evidence, unless a prior made it another. Empty
    where a method's evidence is no sum over features (`scenewalk`).
    """
    if isinstance(identifier, LinearIdentifier):
        named = _for_leader(*_explain_linear(identifier, scanpaths), leader)
    elif isinstance(identifier, EmbeddingIdentifier):
        named = _for_leader(*_explain_embedding(identifier, scanpaths), leader)
    elif isinstance(identifier, SceneWalkIdentifier) and identifier.machine is not None:
        named = _for_leader(*_explain_scenewalk(identifier, identifier.machine, scanpaths), leader)
    else:
        return []
    strongest = sorted(named.items(), key=lambda item: -abs(item[1]))
    told, rest = strongest[:N_TOLD], strongest[N_TOLD:]
    if rest:
        told.append((THE_REST, sum(value for _, value in rest)))
    return told


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
    _add(contributions, CONSTANT, units * identifier.constant)
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
    """Return what each feature's part of the mean embedding adds to τ·cosine, and the sum."""
    embedding = identifier.embedding
    windows = tempered_windows(scanpaths, embedding.block)
    centred = windows.scores.astype(np.float64) - embedding.mean
    mean_score = windows.weight @ centred
    projection = embedding.projection.astype(np.float64)
    length = float(np.linalg.norm(mean_score @ projection))
    if not length > 0:
        return {}, np.zeros(len(identifier.viewer_ids))
    machines = projection @ identifier.directions.T.astype(np.float64)
    said = identifier.temperature * (mean_score / length)[:, None] * machines
    contributions: dict[str, Floats] = {}
    for name, part in zip(Representation((embedding.block,)).dimension_names(), said, strict=True):
        _add(contributions, _plain_name(name), part)
    return contributions, said.sum(axis=0)


def _explain_scenewalk(
    identifier: SceneWalkIdentifier, machine: Linear, scanpaths: Sequence[Scanpath]
) -> tuple[dict[str, Floats], Floats]:
    """Return exactly what the slope by each parameter added for each viewer, and the sum."""
    seen = [viewing for path in scanpaths if (viewing := identifier.scene.viewing(path)).n_scored]
    if not seen:
        return {}, np.zeros(len(identifier.viewer_ids))
    scale = identifier.evidence_scale(len(seen))
    score = np.sum([identifier.pooled.fisher_score(viewing) for viewing in seen], axis=0)
    said = scale * score[:, None] * machine.weights
    names = [name.removesuffix("_hz").removesuffix("_deg") for name in PARAMETER_NAMES]
    contributions = {n.replace("_", " "): part for n, part in zip(names, said, strict=True)}
    contributions[CONSTANT] = scale * len(seen) * machine.bias
    return contributions, sum(contributions.values(), np.zeros(len(machine.bias)))


def _plain_name(name: str) -> str:
    """Return a column's name as a person reads it: `saccade: vigor y`."""
    for prefix, when in _WHEN.items():
        if name.startswith(prefix):
            return f"{when}: {name.removeprefix(prefix)}".replace("_", " ")
    return name


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
