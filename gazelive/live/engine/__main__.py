"""`python -m gazelive.live.engine JSON`: an engine started by another process of gazelive.

Its standard input is a pipe that ends with that process.
"""

from __future__ import annotations

import sys

from gazelive.errors import GazeliveError
from gazelive.live.engine.start import run_engine
from gazelive.live.settings import LiveSettings, decode_settings
from gazelive.system import log_to_stderr, parent_exit
from gazelive.wording import printable


def main() -> int:
    """Run the engine; print one sentence and return an exit code if it cannot."""
    log_to_stderr()
    settings = decode_settings(sys.argv[1], LiveSettings)
    try:
        run_engine(settings, lambda _text: None, parent_exit().is_set)
    except GazeliveError as error:
        print(printable(f"error: engine: {error}"), file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
