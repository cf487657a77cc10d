"""A trained identifier blown up to any number of viewers."""

from __future__ import annotations

import numpy as np

from gazelive.identification import Identifier
from gazelive.identification.contract import State


def with_viewers(identifier: Identifier, n_viewers: int) -> Identifier:
    """Return the identifier with its viewers repeated, a little changed."""
    rng = np.random.default_rng(2)
    state = identifier.state()
    repeated = np.arange(n_viewers) % len(identifier.viewer_ids)
    arrays = dict(state.arrays)
    for name, axis in state.viewer_axis.items():
        many = np.take(arrays[name], repeated, axis)
        changed = many * (1 + 0.01 * rng.normal(size=many.shape))
        arrays[name] = changed.astype(many.dtype)
    content = {key: value for key, value in state.content.items() if key != "machine"}
    names = tuple(f"v{i:05}" for i in range(n_viewers))
    return type(identifier).from_state(identifier.method, names, State(content, arrays))
