"""Files of a study: tables, manifest, figures and the report."""

from __future__ import annotations

import json
from pathlib import Path

from gazelive.evaluation.figures import save_figures
from gazelive.evaluation.report import write_report
from gazelive.evaluation.tables import Study, write_csv
from gazelive.system import write_bytes

REPORT_NAME = "report.html"


def write_study(study: Study, folder: Path) -> None:
    """Write everything; a table without rows is left out."""
    for name, rows in study.tables().items():
        if rows:
            columns = list(dict.fromkeys(column for row in rows for column in row))
            write_csv(rows, columns, folder / f"{name}.csv")
    manifest = json.dumps(study.manifest, indent=2, ensure_ascii=False) + "\n"
    write_bytes(folder / "manifest.json", manifest.encode())
    figures = save_figures(study, folder)
    write_report(study, figures, folder / REPORT_NAME)
