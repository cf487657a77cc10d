"""Triggers: saccades, fixations, areas and blinks, found in the thread that owns the device."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
