"""Identification of viewers: methods, model files, enrolment, explanation.

Other packages import from here. Names are looked up in their modules when they are first used:
`import gazelive.identification` imports neither numba nor scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
