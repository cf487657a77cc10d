"""Protocol of a session: plan, trials, fixation gate, calibration, log."""
