from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE
from gazelive.recordings.sample_store import SampleStore


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3), st.floats(0, 1)), max_size=12),
)
def test_batches_come_out_as_they_went_in(batches: list[tuple[int, int, float]]) -> None:
    """However wrong the fraction is that was said to have been read."""
    rng = np.random.default_rng(0)
    store = SampleStore()
    samples, extras = [], []
    for n, n_extras, fraction_read in batches:
        rows = rng.integers(0, 2**32, (n, WORDS_PER_SAMPLE + n_extras), np.uint32)
        store.append(rows, fraction_read)
        samples.append(rows[:, :WORDS_PER_SAMPLE].tobytes())
        extras.append(rows[:, WORDS_PER_SAMPLE:].tobytes())
    stored, stored_extras = store.finish()
    assert stored.dtype == SAMPLE_DTYPE
    assert stored.tobytes() == b"".join(samples)
    assert stored_extras.tobytes() == b"".join(extras)
    assert (store.n_samples, store.n_extras) == (len(stored), len(stored_extras))
