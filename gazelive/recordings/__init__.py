"""Recordings on disk: ASC, EDF, tables, corpora and session folders."""
