# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: one HTML file with the table and the pictures, which needs nothing else."""

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tdconf.bench import plot, table
from tdconf.bench.result import Result
from tdconf.bench.table import Row

FILE = "report.html"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>tdconf bench</title>
<style>
  body {{ font-family: sans-serif; margin: 2em; }}
  table {{ border-collapse: collapse; }}
  td, th {{ padding: 0.2em 0.8em; border-bottom: 1px solid #ccc; text-align: right; }}
  td:first-child, td:nth-child(2), th:first-child, th:nth-child(2) {{ text-align: left; }}
  tr.missed td {{ background: #fdd; }}
  img {{ max-width: 100%; }}
</style>
<h1>tdconf bench</h1>
<p>{where}</p>
<p>{summary}. A ratio is the median, over the rounds, of the ratio of two times of the same round.
The floor moves the same bytes with calls of c10d alone.</p>
<table>
{rows}
</table>
{pictures}
</html>
"""


def write(path: Path, result: Result, found: Sequence[Row]) -> None:
    """Writes the report of a result; `found` are the rows of its table."""
    page = _PAGE.format(
        where=escape(_where(result)),
        summary=escape(table.summary(found)),
        rows="\n".join([_line(table.HEAD, "th", ""), *map(_row, found)]),
        pictures="\n".join(
            f'<h2>{escape(name.replace("_", " "))}</h2>\n<img alt="{escape(name)}" '
            f'src="data:image/png;base64,{base64.b64encode(png).decode()}">'
            for name, png in plot.pictures(result).items()
        ),
    )
    path.write_text(page, encoding="utf-8")


def _where(result: Result) -> str:
    host = result.context.get("host_class", {})
    versions = result.context.get("versions", {})
    parts = [
        str(result.context.get("date", "")),
        f"{host.get('cpu')}, {host.get('cores')} cores",
        *(
            f"{column}: {', '.join(f'{name} {value}' for name, value in own.items())}"
            for column, own in versions.items()
        ),
    ]
    return "; ".join(part for part in parts if part)


def _row(row: Row) -> str:
    return _line(table.cells(row), "td", ' class="missed"' if row.held is False else "")


def _line(cells: Sequence[str], tag: str, attribute: str) -> str:
    inside = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{attribute}>{inside}</tr>"
