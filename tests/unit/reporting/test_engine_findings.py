"""Documents files from elsewhere: posteriors that make no sense are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gazelive.gaze.documents import ModelLoaded, Posterior, encode_line
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.reporting.engine_findings import read_findings

MODEL = ModelLoaded(model="m", method="markov", viewer_ids=("ann", "bob"))
GOOD = Posterior(
    tracker_time_us=1,
    leading=(1, 0),
    log_probabilities=(-0.1, -2.4),
    log_unknown=-3.0,
    n_saccades=4,
    n_images=1,
    seconds=2.0,
    settled=True,
)


@pytest.mark.parametrize(
    "change",
    [
        {"leading": (-3, 0)},
        {"leading": (2, 0)},
        {"leading": ()},
        {"log_probabilities": (-0.1,)},
        {"log_probabilities": (-0.1, 800.0)},
        {"log_unknown": 1e300},
    ],
    ids=str,
)
def test_a_posterior_that_makes_no_sense_is_left_out(
    change: dict[str, Any], tmp_path: Path
) -> None:
    crafted = msgspec.structs.replace(GOOD, **change)
    lines = map(encode_line, (MODEL, GOOD, crafted))
    (tmp_path / DOCUMENTS_NAME).write_bytes(b"".join(lines))
    findings = read_findings(tmp_path)
    assert findings is not None
    assert findings.summary.best == "bob"
    assert findings.course is not None
    assert len(findings.course.seconds) == 1
