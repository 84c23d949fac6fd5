"""The table reader: rows out of the files that labs keep their lists in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet as read: headers as written, rows of cells, and the line each row stands on in the file.

    Cells are str, int, float, bool, datetime, date or None. `encoding` is what a text file was read as.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    lines: tuple[int, ...]
    encoding: str = ""


class TableReader(Protocol):
    """CSV (GBK or UTF-8, with or without BOM) and XLSX/XLS."""

    def read(self, data: bytes, filename: str) -> Table:
        """The first sheet. Raises UnreadableTable with what is wrong."""
        ...
