"""Quality messages of a device reach the documents."""

from gazelive.gaze.documents import Quality
from gazelive.gaze.quality_messages import quality_message

from ...support.recordings import make_block, make_recording
from ...support.streams import Cuts, run

BLOCK = make_block(0, 2.0, 1_000_000)


def test_lost_data_and_another_rate_become_quality_documents():
    messages = (
        quality_message(999_000, "rate", "1000 Hz was asked for"),
        quality_message(1_700_000, "lost_samples", "the link lost data"),
        quality_message(3_500_000, "message", "cut in the EDF"),
    )
    for cuts in (Cuts(), Cuts((0.1, 0.35, 0.9))):
        documents = run(make_recording([BLOCK], messages), cuts)
        told = [(d.kind, d.text) for d in documents if isinstance(d, Quality)]
        assert told == [
            ("rate", "1000 Hz was asked for"),
            ("lost_samples", "the link lost data"),
            ("message", "cut in the EDF"),
        ]
