"""Generative models of gaze: where people look, how long, and how they move there."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
