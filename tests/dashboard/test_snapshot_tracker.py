from gazelive.dashboard.state.snapshot_tracker import SnapshotTracker

from .sent import posterior, run


def test_a_late_dashboard_asks_once_the_engine_is_complete():
    missed = SnapshotTracker()
    assert not missed.needs_snapshot, "nobody has said anything"
    missed.set_engine_state("catching up")
    missed.observe([posterior()])
    assert not missed.needs_snapshot
    missed.set_engine_state("live")
    assert missed.needs_snapshot
    missed.mark_requested()
    assert not missed.needs_snapshot


def test_no_snapshot_is_needed_from_the_start_of_a_run():
    missed = SnapshotTracker()
    missed.set_engine_state("waiting")
    missed.observe([run(), posterior()])
    missed.set_engine_state("live")
    assert not missed.needs_snapshot
    missed.reset()
    assert missed.engine_state is None
    missed.set_engine_state("finished")
    assert missed.needs_snapshot
