"""Identification methods, one file per family, and the pieces that families share."""
