"""Live saccade detection and viewer identification for eye-tracking labs.

The commands are `gazelive --help`; from Python (`docs/python.md`)::

    import gazelive

    found = gazelive.detect("recording.asc")
    model = gazelive.Model.load("lab.model")
    [who] = model.identify("recording.asc")

`__init__.pyi` lists the public names. They are imported when they are first used: `import gazelive`
itself imports no numpy.
"""

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
