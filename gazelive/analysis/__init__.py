"""Analysis shared by the live path and offline work: time order, gaps, events and features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
