"""The paper's study on any corpus: splits, tasks, measures, figures and the report.

Data flow: `reading` (scanpaths of a corpus, cached) → `splits` → `tasks` (fit one method on one
split, probe the other part; pure and cached) → `tables` (measures) → `figures` and `report`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
