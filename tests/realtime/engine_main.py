"""Runs an engine with the tests' identifier; its one argument is a JSON object."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> None:
    from gazelive.system.process import limit_to_one_thread

    limit_to_one_thread()
    from gazelive.live.engine.model import EngineModel
    from gazelive.live.engine.runner import Engine
    from gazelive.live.pipeline.pipeline import RunningModel
    from gazelive.live.settings import LiveSettings
    from tests.support.amplitude_identifier import AmplitudeIdentifier

    options = json.loads(sys.argv[1])
    n_viewers = options.get("n_viewers", 5)
    model = EngineModel(RunningModel("test", AmplitudeIdentifier.of(n_viewers)))
    settings = LiveSettings(
        folder=Path(options["folder"]),
        address=options["address"],
        stays=options.get("stays", False),
    )
    Engine(settings, load=lambda _path: model).run()


if __name__ == "__main__":
    main()
