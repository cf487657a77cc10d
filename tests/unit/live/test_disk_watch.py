from gazelive.live.engine.disk_watch import EVERY_S, DiskWatch

from ...support.manual_clock import ManualClock


def test_each_limit_is_warned_of_once(tmp_path):
    journal, clock = tmp_path / "gaze.journal", ManualClock()
    free = 0
    watch = DiskWatch(journal, clock, lambda _folder: free)
    said = []
    a_minute = 36_000 * 60  # bytes at 1000 Hz
    for minutes in (100, 40, 29, 28, 11, 9, 8, 2, 1):
        free = minutes * a_minute
        with journal.open("ab") as file:
            file.write(bytes(int(a_minute * EVERY_S / 60)))
        notice = watch.check()
        said.append(None if notice is None else notice.text.split(" minutes")[0])
        assert watch.check() is None, "not before the time"
        clock.advance_s(EVERY_S)
    start = "the disk will be full in"
    expected = [None, None, f"{start} 29", None, None, f"{start} 9", None, f"{start} 2", None]
    assert said == expected


def test_a_session_that_does_not_grow_or_is_gone_says_nothing(tmp_path):
    journal, clock = tmp_path / "gaze.journal", ManualClock()
    watch = DiskWatch(journal, clock, lambda _folder: 0)
    for present in (False, True, True, False):
        journal.unlink(missing_ok=True)
        if present:
            journal.write_bytes(b"x")
        assert watch.check() is None
        clock.advance_s(EVERY_S)
