"""Replace the goldens of the cases in `changes.RENEWED` by the outputs of the present code.

    python tests/golden/v0_1/renew.py

Run this only after a change that alters numbers on purpose, with the reason in `RENEWED` and in the
commit. All other goldens stay those of 0.1. `renewed_machine.json` names the machine of this run:
renewed goldens are compared bit for bit there, and those of 0.1 on the machine of `machine.json`.
A second run follows a first that compiled kernels, as in the test.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from v0_1 import outputs
from v0_1.cases import all_cases
from v0_1.changes import is_renewed
from v0_1.make import write_zip


def main() -> None:
    archive = outputs.HERE / "outputs.zip"
    with zipfile.ZipFile(archive) as kept:
        texts = {name: kept.read(name) for name in kept.namelist()}
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            work, results = Path(folder) / "work", Path(folder) / "results"
            work.mkdir()
            outputs.prepare(work, outputs.HERE)
            outputs.run(all_cases(), work, results)
            renewed = {  # several cases may share a golden: the last has all that the others have
                f"{case.golden}.json": outputs.result_of(case, work, results)
                for case in all_cases()
                if is_renewed(case.golden)
            }
    texts |= {name: json.dumps(found, sort_keys=True).encode() for name, found in renewed.items()}
    write_zip(archive, texts)
    machine = json.dumps(outputs.machine(), indent=1)
    (outputs.HERE / "renewed_machine.json").write_text(machine + "\n", "utf-8")
    print(f"{len(renewed)} of {len(texts)} goldens renewed")


if __name__ == "__main__":
    main()
