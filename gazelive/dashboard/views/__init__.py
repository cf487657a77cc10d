"""Panels of the dashboard, one module each: each reads the state and repaints what changed."""
