"""The live engine: chunks in, documents out; and the process that runs it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
