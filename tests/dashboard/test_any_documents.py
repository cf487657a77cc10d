"""Any document that decodes can be painted without an error."""

import pytest

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from hypothesis import HealthCheck, given, settings, strategies as st
from PyQt6.QtWidgets import QApplication

from ..support.list_feed import ListFeed
from .test_state import any_document


@pytest.fixture
def window(make_window):
    return make_window(ListFeed())


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(any_document(), min_size=1, max_size=25))
def test_no_document_breaks_a_panel(window, documents):
    window._link._feed.put(*documents)
    window.tick()
    QApplication.processEvents()
