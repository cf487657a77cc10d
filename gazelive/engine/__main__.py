"""`python -m gazelive.engine JSON`: an engine started by another process of gazelive."""

from __future__ import annotations

import sys

import msgspec

from gazelive.engine.options import EngineOptions, run_engine
from gazelive.errors import GazeliveError


def main() -> int:
    """Run the engine; one sentence and an exit code where it cannot."""
    options = msgspec.json.decode(sys.argv[1].encode(), type=EngineOptions)
    try:
        run_engine(options, lambda _text: None)
    except GazeliveError as error:
        print(f"error: engine: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
