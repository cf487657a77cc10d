"""Samples, chunks, screen geometry, events, and the documents that travel."""
