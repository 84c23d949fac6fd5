"""The table reader: picks the format by what the bytes are, not by the file's name."""

from __future__ import annotations

from paika.adapters.table_reader.csv_text import read_csv
from paika.adapters.table_reader.workbook import OLE_MAGIC, ZIP_MAGIC, read_workbook
from paika.ports.table import Table, TableTooBig, UnreadableTable

MAX_BYTES = 10 * 1024 * 1024
MAX_ROWS = 20_000
MAX_COLUMNS = 500


class FileTableReader:
    """Reads CSV, XLSX and XLS. `headers` is the first row that is not blank; every later row is kept."""

    def __init__(self, max_bytes: int = MAX_BYTES, max_rows: int = MAX_ROWS, max_columns: int = MAX_COLUMNS) -> None:
        self._max_bytes, self._max_rows, self._max_columns = max_bytes, max_rows, max_columns

    def read(self, data: bytes, filename: str) -> Table:
        """The first sheet. Raises UnreadableTable, TableTooBig."""
        if len(data) > self._max_bytes:
            raise TableTooBig("file", filename, "bytes", len(data), self._max_bytes)
        if data.startswith((ZIP_MAGIC, OLE_MAGIC)):
            rows, encoding = read_workbook(data, filename, self._max_rows, self._max_columns), ""
        else:
            rows, encoding = read_csv(data, filename, self._max_rows)
        kept = [(line, row) for line, row in rows if any(cell not in (None, "") for cell in row)]
        if not kept:
            raise UnreadableTable("file", filename, "empty")
        widest = max(len(row) for _, row in kept)
        if widest > self._max_columns:
            raise TableTooBig("file", filename, "columns", widest, self._max_columns)
        return Table(
            headers=tuple("" if cell is None else str(cell) for cell in kept[0][1]),
            rows=tuple(row for _, row in kept[1:]),
            lines=tuple(line for line, _ in kept[1:]),
            encoding=encoding,
        )
