"""Detection of saccades, fixations and blinks, online or settled over a whole interval."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
