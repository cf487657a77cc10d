"""Observer of a script: notices and warnings on its console."""

from __future__ import annotations

import sys

from gazelive.experiment.process.owner import print_line
from gazelive.observer import Observer
from gazelive.wording import printable


class ScriptObserver(Observer):
    """Prints notices, unless quiet, and warnings."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet

    def say(self, text: str) -> None:
        """Print a notice."""
        if not self._quiet:
            print_line(text)

    def warn(self, text: str) -> None:
        """Print a warning."""
        super().warn(text)
        print(printable(f"warning: {text}"), file=sys.stderr, flush=True)
