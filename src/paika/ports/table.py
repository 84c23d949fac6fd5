"""The table reader: rows out of the files that labs keep their lists in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from paika.domain.problem import Kind, Problem


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


@dataclass(eq=False)
class UnreadableTable(Problem):
    """The file is no list that could be read. `cause` is one word of: empty, binary, encoding, csv, workbook,

    password, yaml, shape; `line` is where, if known.
    """

    code: ClassVar[str] = "table.unreadable"
    kind: ClassVar[Kind] = Kind.INVALID
    filename: str
    cause: str
    line: int | None = None


@dataclass(eq=False)
class TableTooBig(Problem):
    """More than may come in at once. `what` is bytes, rows or columns."""

    code: ClassVar[str] = "table.too_big"
    kind: ClassVar[Kind] = Kind.INVALID
    filename: str
    what: str
    size: int
    limit: int
