"""A whole interval at once: online kernels, review of each saccade, smooth pursuit."""
