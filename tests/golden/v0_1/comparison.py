"""Compare outputs with those of 0.1: keys, numbers and codes are equal; sentences may differ.

On the machine that made the goldens, numbers and texts are equal bit for bit. On any other (another
processor, another version of numpy or numba) numbers are equal to 1e-12 of their size, except:

- gazelive on samples computes in float32, and viewers are enrolled by an optimiser: 1e-5;
- training anything else fits SceneWalk by an optimiser that stops where the last bits decide, and
  takes eigenvectors of covariances of less than full rank, whose basis is arbitrary: the arrays of
  a model have the same names, types and shapes, and its other numbers are equal to 1e-2. Whether a
  fresh model says the same is seen where it identifies;
- what a fresh SceneWalk counts or fits on its 18 held-out scanpaths may differ as if two of them
  were decided otherwise (`OF_FEW_SCANPATHS`; each of three processors decides one otherwise).

Measured by other kernels of OpenBLAS and numpy on one machine (OPENBLAS_CORETYPE=Nehalem,
NPY_DISABLE_CPU_FEATURES=AVX2 …): 4e-6 was the largest difference of the first kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from v0_1.cases import Precision
from v0_1.outputs import NUMBER

IGNORED = {
    "gazelive",  # its version
    "Version",  # the same in BIDS
    "started_at",
    "finished_at",
    "id",  # of a session, random
    "latency_ms",
    "played_s",
    "elapsed_s",
    "bids/README",
}
"""Keys whose values belong to one run or one version, and a file that is all prose."""

TEXT = {
    "calibration",  # of a model: how its probabilities were calibrated
    "changes",
    "fitted_to",
    "left_out",
    "notes",
    "problems",
    "protocol",
    "reason",
    "said_to_be",
    "source",  # of a model's threshold; that of its provenance is a path
    "stop_reason",
    "warnings",
    # of BIDS
    "Description",
    "Levels",
    "LongName",
    "Origin",
    # of an experiment's configuration
    "break_text",
    "farewell",
    "instructions",
}
"""Keys of sentences, whose words may change. A text without a space is a code and may not."""

OF_ONE_MACHINE = {"sha256", "base_id", "bytes", "n_bytes"}
"""Keys of checksums over bits, and of sizes of files with numbers in full length."""


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of numbers; 0 is bit for bit."""

    relative: float
    absolute: float
    ignored: frozenset[str] = frozenset(OF_ONE_MACHINE)
    below: dict[str, Tolerance] = field(default_factory=dict)
    """Keys below which another tolerance holds."""


EXACT = Tolerance(0.0, 0.0, frozenset())
OF_FEW_SCANPATHS = {
    "accuracy": Tolerance(0.0, 2 / 18 + 1e-9),
    "accuracy_by_images": Tolerance(0.0, 2 / 18 + 1e-9),
    "factor": Tolerance(0.25, 0.0),
    "middles": Tolerance(0.05, 0.0),
}
ELSEWHERE: dict[Precision, Tolerance] = {
    "double": Tolerance(1e-12, 1e-12),
    "single": Tolerance(1e-5, 1e-5),
    "fitted": Tolerance(1e-2, 1e-2, frozenset(OF_ONE_MACHINE | {"numbers"})),
    "scenewalk": Tolerance(1e-2, 1e-2, frozenset(OF_ONE_MACHINE | {"numbers"}), OF_FEW_SCANPATHS),
}


def tolerance(same_machine: bool, precision: Precision) -> Tolerance:
    """Return the one that holds for a case."""
    return EXACT if same_machine else ELSEWHERE[precision]


def differences(expected: Any, found: Any, allowed: Tolerance, path: str = "") -> list[str]:
    """Return a line for each place where two outputs differ: where, expected, found."""
    if isinstance(expected, dict) and isinstance(found, dict):
        lines = [f"{path}: key {key!r} is missing" for key in expected.keys() - found.keys()]
        lines += [f"{path}: key {key!r} is new" for key in found.keys() - expected.keys()]
        for key in sorted(expected.keys() & found.keys()):
            lines += _of_key(key, expected[key], found[key], allowed, f"{path}/{key}")
        return sorted(lines)
    if isinstance(expected, list) and isinstance(found, list):
        lines = []
        if len(expected) != len(found):
            lines = [f"{path}: {len(expected)} items expected, {len(found)} found"]
        for i, (a, b) in enumerate(zip(expected, found, strict=False)):
            lines += differences(a, b, allowed, f"{path}[{i}]")
        return lines
    if _equal(expected, found, allowed):
        return []
    return [f"{path}: expected {expected!r}, found {found!r}"]


def _of_key(key: str, expected: Any, found: Any, allowed: Tolerance, path: str) -> list[str]:
    if key in IGNORED or key in allowed.ignored:
        return []
    allowed = allowed.below.get(key, allowed)
    if key in TEXT:
        expected, found = _without_words(expected), _without_words(found)
    if isinstance(expected, str) and _is_absolute(expected) and isinstance(found, str):
        return [] if _is_absolute(found) else [f"{path}: expected a whole path, found {found!r}"]
    return differences(expected, found, allowed, path)


def _without_words(value: Any) -> Any:
    """Return the same with one word for every sentence, so that only their presence counts."""
    if isinstance(value, dict):
        return {key: _without_words(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_words(item) for item in value]
    return "(a sentence)" if isinstance(value, str) and " " in value else value


def _is_absolute(value: str) -> bool:
    return value.startswith(("/", "file:///")) or value[1:3] == ":\\"


def _equal(expected: Any, found: Any, allowed: Tolerance) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, int | float) and isinstance(found, int | float):
        if type(expected) is not type(found) and allowed == EXACT:
            return False
        return _near(expected, found, allowed)
    if isinstance(expected, str) and isinstance(found, str) and allowed != EXACT:
        return _near_texts(expected, found, allowed)
    return bool(expected == found)


def _near(expected: float, found: float, allowed: Tolerance) -> bool:
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    return expected == found or math.isclose(
        expected, found, rel_tol=allowed.relative, abs_tol=allowed.absolute
    )


def _near_texts(expected: str, found: str, allowed: Tolerance) -> bool:
    """Return whether the words are equal and the numbers within the tolerance."""
    if expected == found:
        return True
    if NUMBER.split(expected) != NUMBER.split(found):
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(found), strict=True)
    return all(_near(float(a), float(b), allowed) for a, b in pairs)
