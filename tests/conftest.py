"""Fixtures that all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers as hypothesis_providers

from gazelive.live.wire import addresses
from gazelive.system.process import limit_to_one_thread

from .leftovers import Leftovers

# Several workers share few cores: two BLAS threads each, which wait for each other by spinning,
# would make what is trained in tests twenty times slower.
limit_to_one_thread()

# Tests that were started in the background, and all that they start, would not hear Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Run files of tests are not those of the user; all workers share them, as they share the ports.
if "GAZELIVE_RUNS" not in os.environ:
    os.environ["GAZELIVE_RUNS"] = tempfile.mkdtemp(prefix="gazelive-runs-")
    atexit.register(shutil.rmtree, os.environ["GAZELIVE_RUNS"], ignore_errors=True)
os.environ.setdefault("HOME", tempfile.gettempdir())  # PsychoPy does not load without one

# The same examples in every run, however slow the machine: a failure is one of the code, not of
# chance. `--hypothesis-profile explore --randomly-seed $RANDOM` looks for new ones, in any order.
settings.register_profile(
    "same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile("explore", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")
# Hypothesis also tries numbers that it finds in the modules which happen to be loaded: those depend
# on the tests that ran before.
hypothesis_providers.is_local_module_file = lambda _path: False  # type: ignore[assignment]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files of the slowest tests, so that no worker is left with one at the end."""
    patience_s: dict[Path, float] = {}
    for item in items:
        timeout = item.get_closest_marker("timeout")
        allowed_s = timeout.args[0] if timeout else item.get_closest_marker("slow") is not None
        patience_s[item.path] = max(patience_s.get(item.path, 0), allowed_s)
    items.sort(key=lambda item: -patience_s[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give workers one file after the other, in our order.

    What a file's tests share is made once, and the slow files are not all in the large portion
    that the first worker would be given at the beginning.
    """
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False
    return LoadFileScheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _ports_of_this_worker() -> None:
    """Let tests that run side by side choose ports of their own, not each other's."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    all_ports = addresses.FREE_PORTS
    n_ports = len(all_ports) // n_workers
    addresses.FREE_PORTS = all_ports[int(worker) * n_ports :][:n_ports]


@pytest.fixture(autouse=True)
def _leaves_nothing_behind() -> Iterator[None]:
    """Fail the test that leaves threads, processes or sockets behind, and not its neighbour."""
    leftovers = Leftovers()
    yield
    assert leftovers.named() == []


SHARED_DATA = Path(os.environ.get("GAZELIVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real recordings that may not be copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real recordings are not here ({SHARED_DATA}; set GAZELIVE_DATA)")
    return SHARED_DATA


@pytest.fixture(scope="session")
def real_file(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Return what finds a real recording by its name.

    EDF files are those that the eyelinkio package brings for its own tests, and always here; ASC
    files are in `shared_data`, and a test without them is skipped.
    """
    spec = find_spec("eyelinkio")
    assert spec is not None
    assert spec.origin is not None
    edf_folder = Path(spec.origin).parent / "tests" / "data"

    def find(name: str) -> Path:
        if not name.endswith(".edf"):
            shared: Path = request.getfixturevalue("shared_data")
            return shared / "asc" / f"{name}.asc.gz"
        path = edf_folder / name
        assert path.is_file(), f"this eyelinkio has no {name}"
        return path

    return find


@pytest.fixture
def eye_steps() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (µs) and positions (°) at 1000 Hz of an eye that jumps 5° to and fro six times."""
    rng = np.random.default_rng(0)
    tau = np.linspace(0, 1, 40)
    path = 5 * (10 * tau**3 - 15 * tau**4 + 6 * tau**5)
    x = [np.zeros(300)]
    for k in range(6):
        going = path if k % 2 == 0 else 5 - path
        x += [going, np.full(300, going[-1])]
    x_deg = np.concatenate(x) + rng.normal(0, 0.01, sum(map(len, x)))
    return np.arange(len(x_deg)) * 1000, x_deg, rng.normal(0, 0.01, len(x_deg))
