"""CSV for spreadsheets: numbers stay numbers, and no text is ever a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date

from paika.domain.harmless import harmless

Cell = str | int | float | bool | date | None


def csv_text(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Comma-separated text with CRLF line ends; None is an empty cell, instants are ISO 8601."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([harmless(header) for header in headers])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return out.getvalue()


def csv_bytes(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """The same in UTF-8 with the mark by which spreadsheets know it."""
    return csv_text(headers, rows).encode("utf-8-sig", "replace")


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    return harmless(value if isinstance(value, str) else value.isoformat())
