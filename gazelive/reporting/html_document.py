"""Frame of all reports: one self-contained HTML page that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""Content security policy: the page loads only what it contains."""


def html_page(title: str, sections: Iterable[str]) -> str:
    """Return the page of some sections."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


STYLE = """
:root { color-scheme: light; font-size: 15px; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 68rem; background: #fff;
  color: #1b1f24; font: 1rem/1.45 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .7rem; padding-bottom: .25rem;
  border-bottom: 1px solid #d9dde3; }
p { margin: .4rem 0; }
.faint { color: #59626e; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 1rem 0; }
.facts dt { color: #59626e; }
.facts dd { margin: 0; }
.tiles { display: flex; flex-wrap: wrap; gap: .7rem; margin: 1.1rem 0; }
.tile { flex: 1 1 7rem; border: 1px solid #d9dde3; border-radius: .5rem; padding: .55rem .8rem; }
.tile b { display: block; font-size: 1.2rem; font-weight: 600; white-space: nowrap; }
.tile span { color: #59626e; font-size: .85rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th { text-align: left; color: #59626e; font-weight: 600; border-bottom: 1px solid #b9c0ca; }
th, td { padding: .22rem .6rem; vertical-align: top; }
td { border-bottom: 1px solid #eef0f3; }
.name { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th.number { white-space: normal; vertical-align: bottom; }
tr.look td { background: #fff4e0; }
figure { margin: .6rem 0 1rem; break-inside: avoid; }
figure img { display: block; max-width: 100%; height: auto; }
figure.wide img { width: 100%; }
figure.half img { width: 56%; }
figcaption { color: #59626e; font-size: .85rem; margin-top: .25rem; }
.scanpaths { display: grid; gap: .9rem;
  grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }
.scanpaths figure { margin: 0; }
.scanpaths img { width: 100%; border-radius: .3rem; }
ul.notes { padding-left: 1.1rem; }
ul.notes li { margin: .15rem 0; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: #0b62a4; }
pre { background: #f5f6f8; border: 1px solid #d9dde3; border-radius: .4rem; padding: .8rem;
  font-size: .8rem; overflow-x: auto; white-space: pre-wrap; }
footer { margin-top: 3rem; color: #59626e; font-size: .82rem; border-top: 1px solid #d9dde3;
  padding-top: .6rem; }
@media print {
  @page { margin: 14mm; }
  :root { font-size: 11px; }
  body { max-width: none; padding: 0; }
  h2 { break-after: avoid; margin-top: 1.4rem; }
  tr, .tile { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; }
  .scanpaths { grid-template-columns: repeat(3, 1fr); gap: .5rem; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
