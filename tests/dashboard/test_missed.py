from gazelive.dashboard.missed import Missed

from .sent import posterior, run


def test_who_comes_late_asks_when_the_engine_has_everything():
    missed = Missed()
    assert not missed.asks_for_snapshot, "nobody has said anything"
    missed.tell("catching up")
    missed.hear([posterior()])
    assert not missed.asks_for_snapshot
    missed.tell("live")
    assert missed.asks_for_snapshot
    missed.fill()
    assert not missed.asks_for_snapshot


def test_who_heard_the_beginning_asks_for_nothing_until_the_engine_is_lost():
    missed = Missed()
    missed.tell("waiting")
    missed.hear([run(), posterior()])
    missed.tell("live")
    assert not missed.asks_for_snapshot
    missed.lose_engine()
    assert missed.engine_state is None
    missed.tell("finished")
    assert missed.asks_for_snapshot
