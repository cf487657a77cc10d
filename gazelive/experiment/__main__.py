"""`python -m gazelive.experiment SCRIPT …`: run an experiment's script.

The script's folder is on the path, as with `python SCRIPT`, but after the standard library: what a
script imports from beside itself is found, and a `random.py` there does not replace Python's own.
"""

from __future__ import annotations

import runpy
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Run the script in the place of this module."""
    del sys.argv[0]
    script = sys.argv[0]
    packages = sysconfig.get_path("purelib")
    place = sys.path.index(packages) if packages in sys.path else len(sys.path)
    sys.path.insert(place, str(Path(script).parent))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
