"""Process that listens to a soak as a dashboard does, with the dashboard's state but no window.

Its one argument is the address of the run. It ends with the run, or if there is nothing for two
minutes. It prints lines of JSON: the delays of saccade onsets every five minutes of session time,
as time of receipt less the tracker's time, and at the end the number of documents of each kind.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
SILENCE_S, REPORT_EVERY_S = 120.0, 300.0


def summary(tracker_us: float, delays_s: list[float]) -> dict[str, float]:
    """Return quantiles of the delays since the last summary."""
    p50, p99, most = np.percentile(delays_s, [50, 99, 100]).tolist()
    return {"tracker_us": tracker_us, "n": len(delays_s), "p50_s": p50, "p99_s": p99, "max_s": most}


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import zmq

    from gazelive.dashboard.state.state import DashboardState
    from gazelive.gaze.documents import RunStopped, SaccadeOnset
    from gazelive.live import find_run
    from gazelive.live.wire.transport import DocumentSubscriber

    run = find_run(sys.argv[1])
    context = zmq.Context()
    subscriber = DocumentSubscriber(context, run.addresses.documents, prepare=run.watching.secure)
    state, kinds = DashboardState(), Counter[str]()
    delays_s: list[float] = []
    due_us = 0.0
    print("listening", flush=True)
    while (document := subscriber.receive(SILENCE_S)) is not None:
        state.apply(document)
        kinds[type(document).__name__] += 1
        if isinstance(document, SaccadeOnset):
            seen_us = document.onset_us + 1000 * document.detection_delay_ms
            delays_s.append(time.perf_counter() - seen_us / 1e6)
            if seen_us > due_us:
                print(json.dumps(summary(seen_us, delays_s)), flush=True)
                delays_s, due_us = [], seen_us + REPORT_EVERY_S * 1e6
        if isinstance(document, RunStopped):
            break
    subscriber.close()
    context.term()
    print(json.dumps({"kinds": kinds}))


if __name__ == "__main__":
    main()
