from pathlib import Path

from gazelive.features import schema

DOCS = Path(__file__).parents[3] / "docs" / "features.md"


def test_every_name_is_used_once():
    names = [feature.name for features in schema.GROUPS.values() for feature in features]
    assert len(names) == len(set(names))


def test_the_docs_have_the_table_as_it_is():
    assert schema.markdown_table() in DOCS.read_text(encoding="utf-8")
