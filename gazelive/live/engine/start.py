"""Start an engine in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing

from gazelive.live.settings import LiveSettings


def run_engine(
    settings: LiveSettings,
    say: Callable[[str], None],
    is_left_alone: Callable[[], bool] = lambda: False,
) -> str:
    """Run an engine to its end and return why it ended.

    `is_left_alone` is true once nothing is left that could ask the engine to stop.
    """
    from gazelive.system import limit_to_one_thread

    limit_to_one_thread()  # before the heavy imports
    from gazelive.live.engine.runner import Engine

    with ExitStack() as outlets:
        sinks, chunk_sinks = [], []
        if settings.lsl:
            from gazelive.live.lsl import GazeOutlet, PosteriorOutlet

            session = settings.folder.name
            chunk_sinks.append(outlets.enter_context(closing(GazeOutlet(session))))
            sinks.append(outlets.enter_context(closing(PosteriorOutlet(session))))
        engine = Engine(
            settings,
            sinks=sinks,
            chunk_sinks=chunk_sinks,
            is_left_alone=is_left_alone,
            say=say,
        )
        return engine.run()
