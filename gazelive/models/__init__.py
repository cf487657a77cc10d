"""Generative models of gaze: where people look, how long, and how they move there."""
