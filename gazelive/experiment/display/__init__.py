"""Displays: a PsychoPy window, or none for a simulated viewer."""
