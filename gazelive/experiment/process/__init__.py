"""Processes and threads of a session."""
