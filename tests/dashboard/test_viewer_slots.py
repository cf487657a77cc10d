from hypothesis import given, strategies as st

from gazelive.dashboard.state.posteriors import N_SLOTS, ViewerSlots

leaders = st.lists(st.integers(0, 30), min_size=1, max_size=N_SLOTS, unique=True)


@given(st.lists(leaders, min_size=1, max_size=40))
def test_a_leader_keeps_its_slot(rounds):
    slots = ViewerSlots()
    before = {}
    for leading in rounds:
        slots.lead(leading)
        now = {position: slots.slot(position) for position in leading}
        assert None not in now.values()
        assert len(set(now.values())) == len(leading)
        for position in set(now) & set(before):
            assert now[position] == before[position]
        before = now


def test_more_leaders_than_slots_and_forgetting():
    slots = ViewerSlots()
    slots.lead(range(20))
    assert slots.slot(N_SLOTS - 1) is not None
    assert slots.slot(N_SLOTS) is None
    slots.clear()
    assert slots.slot(0) is None
