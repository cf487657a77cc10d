"""Live saccade detection and viewer identification for eye-tracking labs.

The commands are `gazelive --help`; from Python (`docs/python.md`)::

    import gazelive

    found = gazelive.detect("recording.asc")
    model = gazelive.Model.load("lab.model")
    [who] = model.identify("recording.asc")

Names are looked up in `gazelive.api` when they are first used: `import gazelive` imports no numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gazelive.api import (
        Detected,
        GazeliveError,
        GazeliveWarning,
        Identified,
        Model,
        Recording,
        ScreenGeometry,
        TrialPatterns,
        detect,
        from_columns,
        read,
        simulate,
        train,
    )

__version__ = "0.1.0"
__all__ = [
    "Detected",
    "GazeliveError",
    "GazeliveWarning",
    "Identified",
    "Model",
    "Recording",
    "ScreenGeometry",
    "TrialPatterns",
    "detect",
    "from_columns",
    "read",
    "simulate",
    "train",
]

if not TYPE_CHECKING:  # a type checker sees the names above, and no others

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in __all__:
            return getattr(import_module("gazelive.api"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
