from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.recording import Block, Trial
from gazelive.recordings.trials import TrialPatterns, find_trials, trials_of

STREAM = StreamDescription(device="test", sampling_rate_hz=1000, eyes="L")


def block(start_us: int, end_us: int) -> Block:
    return Block(STREAM, empty_samples(0), start_us, end_us)


def messages(*pairs: tuple[int, str]) -> list[Message]:
    return [Message(time_us, text) for time_us, text in pairs]


def test_a_trial_of_the_vendors_protocol() -> None:
    trials = find_trials(
        messages(
            (10, "TRIALID 7"),
            (20, "image_onset"),
            (21, "!V CLEAR 0 0 0"),
            (22, "!V IMGLOAD CENTER ../images/the lake.jpg 512 384 800 600"),
            (90, "image_offset"),
            (95, "!V TRIAL_VAR condition free view"),
            (96, "!V TRIAL_VAR empty"),
            (99, "TRIAL_RESULT 0"),
        ),
        [block(15, 97)],
    )
    assert trials == (
        Trial(
            name="7",
            start_us=10,
            end_us=99,
            block=0,
            image="../images/the lake.jpg",
            image_onset_us=20,
            image_offset_us=90,
            variables={"condition": "free view", "empty": ""},
            result="0",
        ),
    )


def test_a_trial_of_opensesame() -> None:
    (trial,) = find_trials(
        messages((1, "start_trial 3"), (2, "var colour dark red"), (5, "stop_trial")), []
    )
    assert trial == Trial(name="3", start_us=1, end_us=5, variables={"colour": "dark red"})


def test_without_a_name_the_ordinal_number() -> None:
    trials = find_trials(messages((1, "TRIALID"), (2, "TRIAL_RESULT"), (3, "TRIALID x")), [])
    assert [trial.name for trial in trials] == ["0", "x"]


def test_an_unstopped_trial_ends_where_the_next_starts_or_its_block_ends() -> None:
    blocks = [block(100, 200), block(300, 400)]
    trials = find_trials(
        messages(
            (90, "TRIALID a"),  # before its block, and the next starts inside it
            (150, "TRIALID b"),  # inside, until the block's end
            (250, "TRIALID c"),
            (500, "TRIALID d"),  # after the last block: until the last message
            (510, "good bye"),
        ),
        blocks,
    )
    assert [(trial.name, trial.end_us, trial.block) for trial in trials] == [
        ("a", 150, 0),
        ("b", 200, 0),
        ("c", 400, 1),
        ("d", 510, None),
    ]


def test_the_block_that_most_of_the_trial_lies_in() -> None:
    blocks = [block(0, 100), block(110, 400), block(500, 600)]
    (trial,) = find_trials(messages((90, "TRIALID 1"), (510, "TRIAL_RESULT 0")), blocks)
    assert trial.block == 1


def test_messages_count_in_the_order_of_their_true_times() -> None:
    # the onset was sent after the trial with an offset into it
    late_onset = [
        *messages((10, "TRIALID 1"), (50, "TRIAL_RESULT 0"), (60, "TRIALID 2")),
        Message(20, "image_onset"),
    ]
    first, second = find_trials(late_onset, [])
    assert first.image_onset_us == 20
    assert second.image_onset_us is None


@pytest.mark.parametrize(
    ("onset", "offset"),
    [
        ("SYNCTIME", "BLANK_SCREEN"),
        ("DISPLAY ON", "DISPLAY OFF"),
        ("display_on", "display_off"),
        ("IMAGE_ONSET scene", "IMAGE_OFFSET scene"),
        ("stimulus_onset", "stimulus_offset"),
    ],
)
def test_known_names_of_onset_and_offset(onset: str, offset: str) -> None:
    (trial,) = find_trials(
        messages((1, "TRIALID 1"), (2, offset), (3, onset), (4, onset), (5, offset), (6, offset)),
        [],
    )
    assert (trial.image_onset_us, trial.image_offset_us) == (3, 5)


@pytest.mark.parametrize("text", ["SYNCTIMES", "DISPLAY ONCE", "image_onsets", "no SYNCTIME"])
def test_other_words_are_no_onset(text: str) -> None:
    (trial,) = find_trials(messages((1, "TRIALID 1"), (2, text)), [])
    assert trial.image_onset_us is None


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("!V IMGLOAD FILL scene.png", "scene.png"),
        ("!V IMGLOAD TOP_LEFT a/b c.png 0 0", "a/b c.png"),
        ("!V IMGLOAD CENTER img.png 512 384", "img.png"),
        ("!V IMGLOAD CENTER img.png 512.5 384.5 800 600", "img.png"),
        ("!V IMGLOAD FILL 12.png", "12.png"),
    ],
)
def test_image_names(text: str, image: str) -> None:
    (trial,) = find_trials(messages((1, "TRIALID 1"), (2, text)), [])
    assert trial.image == image


def test_of_several_images_the_one_that_is_named_at_the_onset() -> None:
    (trial,) = find_trials(
        messages(
            (1, "TRIALID 1"),
            (2, "!V IMGLOAD FILL cross.png"),
            (3, "SYNCTIME"),
            (4, "!V IMGLOAD FILL scene.png"),
            (5, "!V IMGLOAD FILL mask.png"),
        ),
        [],
    )
    assert trial.image == "scene.png"


def test_an_image_that_is_gone_keeps_the_name_it_had() -> None:
    shown = ((1, "TRIALID 1"), (3, "SYNCTIME"), (4, "image_offset"))
    (named_late,) = find_trials(
        messages(*shown, (5, "!V IMGLOAD FILL a.png"), (6, "!V IMGLOAD FILL b.png")), []
    )
    (named_before,) = find_trials(
        messages((0, "x"), *shown[:1], (2, "!V IMGLOAD FILL a.png"), *shown[1:]), []
    )
    (named_twice,) = find_trials(
        messages(*shown[:1], (2, "!V IMGLOAD FILL a.png"), *shown[1:], (5, "!V IMGLOAD FILL b")), []
    )
    assert [t.image for t in (named_late, named_before, named_twice)] == ["a.png"] * 3


def test_the_block_in_which_the_image_was_seen() -> None:
    blocks = [block(0, 100), block(110, 400)]
    texts = ((10, "TRIALID 1"), (20, "image_onset"), (90, "image_offset"), (390, "TRIAL_RESULT"))
    (trial,) = find_trials(messages(*texts), blocks)
    assert trial.block == 0
    (unseen,) = find_trials(
        messages(
            (10, "TRIALID 1"), (103, "image_onset"), (107, "image_offset"), (108, "TRIAL_RESULT")
        ),
        blocks,
    )
    assert unseen.block == 0  # between the blocks: the trial's own


def test_an_unstopped_trial_lasts_at_least_as_long_as_its_image() -> None:
    shown = messages((0, "TRIALID 1"), (10, "SYNCTIME"), (40, "image_offset"))
    (trial,) = find_trials(shown, [block(0, 5), block(8, 50)])
    assert (trial.end_us, trial.block) == (50, 1)


def test_own_patterns() -> None:
    patterns = TrialPatterns(start=r"BEGIN_(?P<name>\w+)", stop="FINISH", image_onset="SHOW")
    (trial,) = find_trials(
        messages((1, "TRIALID 1"), (2, "BEGIN_scene4"), (3, "SHOW"), (9, "FINISH early")),
        [],
        patterns,
    )
    assert trial == Trial(name="scene4", start_us=2, end_us=9, image_onset_us=3, result="early")


def test_a_wrong_pattern_is_named() -> None:
    with pytest.raises(ConfigError, match=r"stop: .*regular expression"):
        find_trials([], [], TrialPatterns(stop="("))


texts = st.sampled_from(
    ["TRIALID 1", "TRIAL_RESULT 0", "SYNCTIME", "image_offset", "!V IMGLOAD FILL a.png", "x"]
)


@given(
    st.lists(st.tuples(st.integers(0, 1000), texts), max_size=20),
    st.lists(st.integers(0, 1000), max_size=8, unique=True),
)
def test_laws(pairs: list[tuple[int, str]], edges: list[int]) -> None:
    edges.sort()
    blocks = [block(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    trials = find_trials(messages(*pairs), blocks)
    assert len(trials) == sum(text == "TRIALID 1" for _, text in pairs)
    for trial, following in itertools.pairwise(trials):
        assert trial.end_us <= following.start_us
    for trial in trials:
        assert trial.start_us <= trial.end_us
        if trial.image_onset_us is not None:
            assert trial.start_us <= trial.image_onset_us
        if trial.block is not None:
            owner = blocks[trial.block]
            assert owner.start_us <= trial.end_us
            assert owner.end_us >= trial.start_us
        else:
            assert not any(
                b.start_us <= trial.end_us and b.end_us >= trial.start_us for b in blocks
            )


def test_a_trial_that_ends_with_its_block_has_the_last_sample() -> None:
    samples = empty_samples(3)
    samples["tracker_time_us"] = 1000, 2000, 3000
    (trial,) = find_trials(messages((1500, "TRIALID 1")), [Block(STREAM, samples, 1000, 3000)])
    assert trial.end_us > 3000


class TestTrialsOfOneName:
    @staticmethod
    def names(*starts: str) -> list[str]:
        texts = [(k, f"TRIALID {start}".rstrip()) for k, start in enumerate(starts)]
        return [trial.name for trial in find_trials(messages(*texts), [])]

    def test_are_numbered(self) -> None:
        assert self.names("face", "face", "face") == ["face", "face (2)", "face (3)"]

    def test_names_that_return_are_kept(self) -> None:
        assert self.names("left", "right", "left", "left") == ["left", "right", "left", "left"]

    def test_one_is_not_numbered(self) -> None:
        assert self.names("face") == ["face"]


def test_patterns_that_find_nothing_leave_the_stored_trials() -> None:
    """A file of patterns may lie above sessions that gazelive recorded itself."""
    stored = find_trials(messages((1, "TRIALID a"), (2, "TRIAL_RESULT")), [])
    own = TrialPatterns(start="PIC")
    assert trials_of(messages((1, "TRIALID a")), [], stored, own) == stored
    (trial,) = trials_of(messages((1, "PIC b")), [], stored, own)
    assert trial.name == "b"
