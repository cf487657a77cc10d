"""The scenes, one file each; `compose(rng)` of a file returns its scene."""
