"""The demo: a small simulated lab, from enrolling people to seeing who looks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
