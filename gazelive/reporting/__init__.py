"""Afterwards: what was recorded and how good it is, in the terminal and as a page to archive."""
