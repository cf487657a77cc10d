"""Scene viewing as in Makowski et al. (2020): cross, image, blank. Copy and edit this script.

    python scene_viewing.py --viewer anna --session 1

is the same as

    gazelive record scene_viewing.toml --viewer anna --session 1

Numbers and texts are in `scene_viewing.toml`; this script defines the order of events.
"""

from gazelive.experiment.run import main
from gazelive.experiment.session import Session


def scene_viewing(session: Session) -> None:
    """Show every image once, each after a fixation cross."""
    session.instruct()
    session.calibrate()
    for trial in session.trials():  # with breaks, calibrations and drift checks as scheduled
        with session.recording(trial):  # keys may skip, repeat, recalibrate, pause or abort
            session.fixate(trial)  # the cross, until it is fixated
            session.show_image(trial)
            session.blank()
    session.recognise()
    session.farewell()


if __name__ == "__main__":
    main(scene_viewing)
