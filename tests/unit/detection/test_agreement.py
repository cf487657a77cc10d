from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import cohen_kappa_score

from gazelive.detection.agreement import (
    SampleCounts,
    compare_events,
    count_samples,
    mask_of,
    match_events,
)
from gazelive.detection.events import runs_of

masks = st.lists(st.booleans(), min_size=1, max_size=80).map(lambda m: np.array(m, bool))


def events(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 2)


@given(mask=masks)
def test_runs_and_masks_are_inverse(mask: np.ndarray) -> None:
    np.testing.assert_array_equal(mask_of(runs_of(mask), len(mask)), mask)


@given(data=st.data(), reference=masks)
def test_kappa_is_cohens(data: st.DataObject, reference: np.ndarray) -> None:
    n = len(reference)
    found = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    kappa = count_samples(runs_of(found), runs_of(reference), np.ones(n, bool)).kappa
    if kappa is None:
        assert found.all() == reference.all()
        assert found.any() == reference.any()
    else:
        assert kappa == pytest.approx(cohen_kappa_score(found, reference))


@given(data=st.data(), reference=masks)
def test_matching_is_one_to_one_and_only_of_overlapping(
    data: st.DataObject, reference: np.ndarray
) -> None:
    n = len(reference)
    found = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    r, f = runs_of(reference), runs_of(found)
    pairs = match_events(r, f)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs)
    for i, j in pairs:
        assert max(r[i, 0], f[j, 0]) <= min(r[i, 1], f[j, 1])
    # nothing that overlaps is left over on both sides
    for i in set(range(len(r))) - {i for i, _ in pairs}:
        for j in set(range(len(f))) - {j for _, j in pairs}:
            assert r[i, 1] < f[j, 0] or f[j, 1] < r[i, 0]


def test_the_largest_overlap_wins() -> None:
    assert match_events(events((0, 9), (11, 30)), events((8, 28))) == [(1, 0)]


def test_errors_are_found_minus_reference_in_ms() -> None:
    agreement = compare_events(
        events((12, 21), (60, 70)), events((10, 22), (40, 44)), np.ones(100, bool), 500.0
    )
    assert agreement.onset_errors_ms.tolist() == [4.0]
    assert agreement.offset_errors_ms.tolist() == [-2.0]
    assert (agreement.n_matched, agreement.n_found, agreement.n_reference) == (1, 2, 2)
    assert agreement.precision == agreement.recall == agreement.f1 == 0.5
    assert agreement.counts == SampleCounts(10, 11, 8, 71)


def test_samples_that_cannot_be_compared_do_not_count() -> None:
    comparable = np.ones(20, bool)
    comparable[10:] = False
    counts = count_samples(events((0, 4), (12, 15)), events((0, 4)), comparable)
    assert counts == SampleCounts(5, 0, 0, 5)
    assert counts.kappa == 1.0


def test_no_events_at_all() -> None:
    agreement = compare_events(events(), events(), np.ones(10, bool), 500.0)
    assert agreement.kappa is None
    assert agreement.f1 == 0.0
    assert count_samples(events(), events(), np.empty(0, bool)).kappa is None


def test_counts_add_up_over_recordings() -> None:
    assert SampleCounts(1, 2, 3, 4) + SampleCounts(10, 20, 30, 40) == SampleCounts(11, 22, 33, 44)
