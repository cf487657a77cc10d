"""The demo's experiment where no window can be opened: the same, for a display without one."""

from gazelive.experiment.run import main
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.experiment.windowless_display import open_windowless

if __name__ == "__main__":
    main(scene_viewing, open_windowless)
