from __future__ import annotations

from collections.abc import Callable

import pytest

from ...support import traces


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., traces.Trace]:
    return traces.make_trace
