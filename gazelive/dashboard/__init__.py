"""Dashboard: a Qt window with live posteriors, gaze, traces and data quality."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
