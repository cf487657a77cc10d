"""Print what `import gazelive` gives on the golden inputs, as JSON."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import asdict

import gazelive

SINCE_0_1 = {"Study", "Tracker", "evaluate", "triggers"}
"""Public names that are new."""


def _table(table: object) -> dict[str, list[object]]:
    return {name: table[name].to_pylist() for name in table.column_names}  # type: ignore[index]


def main() -> None:
    recording = gazelive.read("both/v001_s1")
    block = recording.blocks[0]
    screen = gazelive.ScreenGeometry(
        width_px=1920, height_px=1080, width_mm=535, height_mm=301, eye_distance_mm=600
    )
    x_deg, y_deg = screen.px_to_deg(block.samples["right_x"], block.samples["right_y"])
    columns = gazelive.from_columns(
        {"t_ms": block.samples["tracker_time_us"] / 1000, "x_deg": x_deg, "y_deg": y_deg}
    )
    known = {
        f"v00{n}": [gazelive.read(f"corpus/v00{n}_s{session}.asc") for session in (1, 2)]
        for n in range(1, 4)
    }
    has_force = "force" in inspect.signature(gazelive.train).parameters  # not in 0.1
    force = {"force": True} if has_force else {}
    trained = gazelive.train(known, method="markov", screen=screen, **force)
    [who] = gazelive.Model.load("models/markov.model").identify("corpus/v005_s2.asc", screen=screen)
    [again] = trained.identify(gazelive.read("corpus/v002_s2.asc"), screen=screen)
    found = gazelive.detect(recording)
    json.dump(
        {
            "names": sorted(set(gazelive.__all__) - SINCE_0_1),
            "trials": [[trial.name, trial.image] for trial in recording.trials],
            "dtype": str(block.samples.dtype),
            "settings": found.settings,
            "saccades": _table(found.saccades),
            "fixations": _table(found.fixations),
            "microsaccades": _table(
                gazelive.detect(recording, parameters="microsaccades").saccades
            ),
            "columns": _table(gazelive.detect(columns, method="online").saccades),
            "identified": asdict(who),
            "trained": [trained.viewers, again.posterior],
        },
        sys.stdout,
        default=str,
    )


if __name__ == "__main__":
    main()
