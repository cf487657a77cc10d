"""Runs an engine with the tests' identifier; its one argument is a JSON object."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    from gazelive.engine.threads import hold_to_one_thread

    hold_to_one_thread()
    from gazelive.engine.addresses import Addresses
    from gazelive.engine.engine_model import EngineModel
    from gazelive.engine.pipeline import RunningModel
    from gazelive.engine.runner import Engine, EngineSettings
    from tests.unit.engine.amplitude_identifier import AmplitudeIdentifier

    options = json.loads(sys.argv[1])
    n_viewers = options.get("n_viewers", 5)
    model = EngineModel(RunningModel("test", AmplitudeIdentifier.of(n_viewers)))
    settings = EngineSettings(
        Path(options["folder"]),
        Addresses.parse(options["address"]),
        stays=options.get("stays", False),
    )
    Engine(settings, load=lambda _path: model).run()


if __name__ == "__main__":
    main()
