"""The tables of `detect`: every column is explained."""

from pathlib import Path

import pytest

from gazelive.workflows.event_tables import FIXATION_COLUMNS, SACCADE_COLUMNS

DOCS = Path(__file__).parents[3] / "docs" / "features.md"


@pytest.mark.parametrize("column", dict.fromkeys((*SACCADE_COLUMNS, *FIXATION_COLUMNS)))
def test_the_docs_say_what_a_column_is(column):
    assert f"`{column}`" in DOCS.read_text(encoding="utf-8").split("## Kinematics")[0]
