"""CSV text: which encoding, which separator, which line."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator

from paika.domain.harmless import as_it_was
from paika.ports.table import TableTooBig, UnreadableTable

SEPARATORS = (",", "\t", ";", "，")
SNIFFED_ROWS = 30
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

Row = tuple[int, tuple[object, ...]]


def read_csv(data: bytes, filename: str, max_rows: int) -> tuple[list[Row], str]:
    """Rows with the line each begins on, and the encoding. Raises UnreadableTable, TableTooBig."""
    text, encoding = decoded(data, filename)
    separator = separator_of(text)
    try:
        return list(_rows(text, separator, filename, max_rows, strict=True)), encoding
    except csv.Error as fault:
        if "unexpected end" in str(fault):  # an open quote would swallow all rows after it without a word
            raise UnreadableTable("file", filename, "quote") from None
    try:
        return list(_rows(text, separator, filename, max_rows, strict=False)), encoding
    except csv.Error:
        raise UnreadableTable("file", filename, "csv") from None


def _rows(text: str, separator: str, filename: str, max_rows: int, *, strict: bool) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=strict)
    line = 1
    for count, row in enumerate(reader):
        if count > max_rows:
            raise TableTooBig("file", filename, "rows", count, max_rows)
        yield line, tuple(as_it_was(cell) for cell in row)
        line = reader.line_num + 1


def decoded(data: bytes, filename: str) -> tuple[str, str]:
    """The text and its encoding: by its mark, else UTF-8 if it is valid, else GB18030 (GBK) if it is valid."""
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    for encoding in (marked,) if marked else ("utf-8", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            raise UnreadableTable("file", filename, "binary")
        return text, encoding
    raise UnreadableTable("file", filename, "encoding")


def separator_of(text: str) -> str:
    """The separator that gives most of the first rows one and the same width above 1; ',' if none does."""

    def score(separator: str) -> tuple[int, int]:
        widths: Counter[int] = Counter()
        try:
            for _, row in zip(range(SNIFFED_ROWS), csv.reader(io.StringIO(text), delimiter=separator), strict=False):
                if len(row) > 1:
                    widths[len(row)] += 1
        except csv.Error:
            return (0, 0)
        width, rows = widths.most_common(1)[0] if widths else (0, 0)
        return (rows, width)

    return max(SEPARATORS, key=lambda separator: (score(separator), -SEPARATORS.index(separator)))
