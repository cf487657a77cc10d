"""The demo's experiment where no window can be opened: the same, for a display without one."""

from gazelive.experiment import main, open_windowless
from gazelive.experiment.scene_viewing import scene_viewing

if __name__ == "__main__":
    main(scene_viewing, open_windowless)
