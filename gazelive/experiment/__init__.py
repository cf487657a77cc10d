"""The experiment: trials, fixation gate, schedule, and the PsychoPy window that shows them."""
