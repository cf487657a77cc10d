"""Recordings on disk: ASC, EDF, tables, corpora and session folders."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
