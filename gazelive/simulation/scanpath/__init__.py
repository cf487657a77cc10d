"""Simulated scanpaths."""
