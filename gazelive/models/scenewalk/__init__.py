"""SceneWalk: a dynamic model of fixation selection."""
