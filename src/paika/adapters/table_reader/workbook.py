"""XLSX and XLS. Cells that are formatted as percent come as text such as '30%', so that 1 is not 100%."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from datetime import date, time, timedelta
from posixpath import join, normpath
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from paika.ports.table import TableTooBig, UnreadableTable

ZIP_MAGIC, OLE_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
MAX_UNPACKED = 200 * 1024 * 1024
_CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*)>")
_AT = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
_STYLE = re.compile(rb'\bs="([0-9]{1,6})"')
_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]*?\br="([0-9]{1,7})"')
_PERCENT_FORMATS = {9, 10}

Row = tuple[int, tuple[object, ...]]


def read_workbook(data: bytes, filename: str, max_rows: int, max_columns: int) -> list[Row]:
    """Rows of the first sheet with their numbers in it. Raises UnreadableTable, TableTooBig."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    percents = _looked_over(data, filename, max_rows, max_columns) if data.startswith(ZIP_MAGIC) else frozenset()
    try:
        with CalamineWorkbook.from_filelike(io.BytesIO(data)) as book:
            sheet = book.get_sheet_by_index(0)
            if sheet.total_height > max_rows + 1:
                raise TableTooBig("file", filename, "rows", sheet.total_height, max_rows)
            rows = sheet.to_python(skip_empty_area=False)
    except PasswordError:
        raise UnreadableTable("file", filename, "password") from None
    except (CalamineError, IndexError, OSError, ValueError):
        raise UnreadableTable("file", filename, "workbook") from None
    return [(number, _row(row, number, percents)) for number, row in enumerate(rows, start=1)]


def _row(row: Iterable[object], number: int, percents: frozenset[tuple[int, int]]) -> tuple[object, ...]:
    return tuple(_cell(value, (number, column) in percents) for column, value in enumerate(row, start=1))


def _cell(value: object, is_percent: bool) -> object:
    if isinstance(value, float) and is_percent:
        return f"{round(value * 100, 6):g}%"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, timedelta):
        return f"{round(value.total_seconds())}s"
    if isinstance(value, time):
        return value.isoformat("seconds")
    if value is None or isinstance(value, str | int | float | bool | date):
        return None if value == "" else value
    return str(value)


def _looked_over(data: bytes, filename: str, max_rows: int, max_columns: int) -> frozenset[tuple[int, int]]:
    """Refuse a workbook that would unpack to too much; the (row, column) of cells formatted as percent."""
    try:
        with ZipFile(io.BytesIO(data)) as parts:
            unpacked = sum(part.file_size for part in parts.infolist())
            if unpacked > MAX_UNPACKED:
                raise TableTooBig("file", filename, "bytes", unpacked, MAX_UNPACKED)
            sheet = parts.read(_first_sheet(parts))
            styles = _percent_styles(parts)
    except (BadZipFile, KeyError, IndexError, ElementTree.ParseError, NotImplementedError, RuntimeError, ValueError):
        raise UnreadableTable("file", filename, "workbook") from None
    return _percent_cells(sheet, styles, filename, max_rows, max_columns)


def _xml(parts: ZipFile, name: str) -> ElementTree.Element:
    text = parts.read(name)
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise ValueError("a workbook has no document type")
    return ElementTree.fromstring(text)  # noqa: S314 - no document type, so no entities


def _first_sheet(parts: ZipFile) -> str:
    sheets = [one for one in _xml(parts, "xl/workbook.xml").iter() if one.tag.endswith("}sheet")]
    target_id = next(value for key, value in sheets[0].attrib.items() if key.endswith("}id"))
    for link in _xml(parts, "xl/_rels/workbook.xml.rels"):
        if link.get("Id") == target_id:
            return normpath(join("xl", link.get("Target", ""))).lstrip("/")
    raise KeyError(target_id)


def _percent_styles(parts: ZipFile) -> frozenset[int]:
    if "xl/styles.xml" not in parts.namelist():
        return frozenset()
    formats, styles = set(_PERCENT_FORMATS), list[int]()
    for one in _xml(parts, "xl/styles.xml").iter():
        if one.tag.endswith("}numFmt") and "%" in one.get("formatCode", ""):
            formats.add(int(one.get("numFmtId", "-1")))
        elif one.tag.endswith("}cellXfs"):
            styles = [int(style.get("numFmtId", "0")) for style in one]
    return frozenset(at for at, number in enumerate(styles) if number in formats)


def _percent_cells(
    sheet: bytes, styles: frozenset[int], filename: str, max_rows: int, max_columns: int
) -> frozenset[tuple[int, int]]:
    """One far cell makes a reader lay out everything before it, so far cells are refused before reading."""
    found: set[tuple[int, int]] = set()
    last_row = max((int(number) for number in _ROW.findall(sheet)), default=0)
    last_column = 0
    for attributes in _CELL.findall(sheet):
        at, style = _AT.search(attributes), _STYLE.search(attributes)
        if at:
            row, column = int(at[2]), _column(at[1])
            last_row, last_column = max(last_row, row), max(last_column, column)
            if style and int(style[1]) in styles:
                found.add((row, column))
    if last_row > max_rows + 1:
        raise TableTooBig("file", filename, "rows", last_row, max_rows)
    if last_column > max_columns:
        raise TableTooBig("file", filename, "columns", last_column, max_columns)
    return frozenset(found)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
