"""The engine's process."""
