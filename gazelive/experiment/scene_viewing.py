"""Scene viewing as Makowski et al. (2020) recorded it: cross, image, blank. Copy and edit it.

    python scene_viewing.py --viewer anna --session 1

does the same as

    gazelive record scene_viewing.toml --viewer anna --session 1

What can be told in numbers and words is in `scene_viewing.toml`; here is what happens when.
"""

from gazelive.experiment.run import main
from gazelive.experiment.session import Session


def scene_viewing(session: Session) -> None:
    """Show every image once, after a cross, to somebody who memorises them."""
    session.instruct()
    session.calibrate()
    for trial in session.trials():  # with breaks, calibrations and drift checks as scheduled
        with session.recording(trial):  # keys may skip, repeat, recalibrate, pause or abort
            session.fixate(trial)  # the cross, until gaze has rested on it
            session.show_image(trial)
            session.blank()
    session.recognise()
    session.farewell()


if __name__ == "__main__":
    main(scene_viewing)
