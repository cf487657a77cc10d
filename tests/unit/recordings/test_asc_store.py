from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from gazelive.gaze.samples import SAMPLE_DTYPE
from gazelive.recordings.asc.columns import WORDS_PER_SAMPLE
from gazelive.recordings.asc.store import AscStore


@given(
    batches=st.lists(
        st.tuples(st.integers(0, 40), st.integers(0, 3), st.floats(0, 1), st.booleans()),
        max_size=12,
    ),
    order=st.randoms(use_true_random=False),
)
def test_rows_come_out_as_they_went_in(
    batches: list[tuple[int, int, float, bool]], order: st.random_module
) -> None:
    """For any wrong estimate of the fraction read, and in any order."""
    rng = np.random.default_rng(0)
    store = AscStore()
    samples, extras, waiting = [], [], []
    for n, n_extras, fraction_read, writes_now in batches:
        rows = rng.integers(0, 2**32, (n, WORDS_PER_SAMPLE + n_extras), np.uint32)
        waiting.append((rows, store.place(*rows.shape)))
        samples.append(rows[:, :WORDS_PER_SAMPLE].tobytes())
        extras.append(rows[:, WORDS_PER_SAMPLE:].tobytes())
        if not store.has_room:
            store.make_room(fraction_read)
        if writes_now:
            order.shuffle(waiting)
            while waiting:
                store.write(*waiting.pop())
    while waiting:
        store.write(*waiting.pop())
    stored, stored_extras = store.finish()
    assert stored.dtype == SAMPLE_DTYPE
    assert stored.tobytes() == b"".join(samples)
    assert stored_extras.tobytes() == b"".join(extras)
    assert (store.n_samples, store.n_extras) == (len(stored), len(stored_extras))


def test_room_that_was_not_needed_is_given_back() -> None:
    store = AscStore()
    rows = np.zeros((1000, WORDS_PER_SAMPLE), np.uint32)
    place = store.place(*rows.shape)
    store.make_room(fraction_read=0.01)  # as if a hundred times as much were to come
    store.write(rows, place)
    samples, extras = store.finish()
    held = samples if samples.base is None else samples.base
    assert held.nbytes <= 1.06 * samples.nbytes
    assert len(extras) == 0
