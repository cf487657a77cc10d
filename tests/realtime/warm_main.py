"""Prints which kernels are compiled or loaded after the warm-up; there should be none."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def kernels() -> dict[str, int]:
    """Return how many versions of each kernel there are."""
    from numba.core.dispatcher import Dispatcher

    gc.unfreeze()
    found = [one for one in gc.get_objects() if isinstance(one, Dispatcher)]
    return {
        f"{one.py_func.__module__}.{one.py_func.__name__}": len(one.signatures) for one in found
    }


def main() -> None:
    from gazelive.gaze.stream import Message
    from gazelive.live.engine.model import EngineModel, warm_up
    from tests.support.recordings import make_block, make_recording
    from tests.support.streams import MODEL, Cuts, run

    warm_up(EngineModel(MODEL))
    warm = kernels()
    cuts = Cuts(tuple(k / 37 for k in range(38)))
    for eyes in ("L", "R", "LR"):
        for rate_hz in (250.0, 1000.0, 2000.0):
            blocks = [
                make_block(seed, seconds, 1_000_000 + 10_000_000 * seed, rate_hz=rate_hz, eyes=eyes)
                for seed, seconds in enumerate((0.01, 0.2, 0.5, 1.0, 4.0))
            ]
            messages = [
                Message(block.start_us + 3000 * k, text)
                for block in blocks
                for k, text in enumerate(("TRIALID 1", "image_onset", "TRIAL_RESULT"))
            ]
            recording = make_recording(blocks, messages)
            run(recording, cuts)
            run(make_recording(blocks, []), cuts)
            lost = [replace(block, samples=block.samples[::3]) for block in blocks]
            run(make_recording(lost, []), cuts)
    after = kernels()
    for name in sorted(after):
        if after[name] != warm.get(name):
            print(name, warm.get(name), after[name])


if __name__ == "__main__":
    main()
