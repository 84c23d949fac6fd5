"""Lists as labs keep them, made here with the libraries and encodings that labs use."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from datetime import date, datetime, time, timedelta

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.adapters.table_reader.reader import FileTableReader
from paika.ports.table import Table, TableTooBig, UnreadableTable

LIST = '任务名,命令,卡数\r\n预训练,"python a.py --x 1,2",8\r\n\r\n评测,"多\n行",１\r\n'


def read(data: bytes, name: str = "list.csv", **limits: int) -> Table:
    return FileTableReader(**limits).read(data, name)


@pytest.mark.parametrize(
    ("encoding", "told"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("gbk", "gb18030"), ("gb18030", "gb18030"), ("utf-16", "utf-16")],
)
def test_encodings_of_the_region(encoding, told):
    table = read(LIST.encode(encoding))
    assert table.headers == ("任务名", "命令", "卡数")
    assert table.rows == (("预训练", "python a.py --x 1,2", "8"), ("评测", "多\n行", "１"))
    assert table.lines == (2, 4)
    assert table.encoding == told


@pytest.mark.parametrize("separator", [",", "\t", ";", "，"])
def test_separators_are_found(separator):
    text = f"算力需求表\n任务名{separator}命令{separator}卡数\na{separator}python x y{separator}1\n"
    table = read(text.encode())
    assert table.headers == ("算力需求表",)
    assert table.rows[0] == ("任务名", "命令", "卡数")
    assert table.lines == (2, 3)


def test_commas_inside_a_tab_separated_list_do_not_split_it():
    table = read(b"name\tcommand\na\tx 1,2,3\nb\ty 1,2,3\n")
    assert table.rows == (("a", "x 1,2,3"), ("b", "y 1,2,3"))


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "empty"),
        (b" \r\n,,\r\n", None),
        (b"a,b\n1,\x00\n", "binary"),
        (b"\xff\xff\xff\x80", "encoding"),
        (b'a,b\n1,"open\n2,3\n', "quote"),
        (b"PK\x03\x04 no workbook", "workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 no workbook", "workbook"),
    ],
)
def test_what_cannot_be_read_says_why(data, cause):
    if cause is None:
        assert read(data).headers == (" ",)
        return
    with pytest.raises(UnreadableTable) as caught:
        read(data)
    assert caught.value.cause == cause


def test_sloppy_quotes_cost_nothing_else():
    assert read(b'a,b\n"x"y,1\nz,2\n').rows == (("xy", "1"), ("z", "2"))


def test_limits():
    with pytest.raises(TableTooBig) as caught:
        read(b"a,b\n" * 100, max_bytes=100)
    assert (caught.value.what, caught.value.limit) == ("bytes", 100)
    with pytest.raises(TableTooBig) as caught:
        read(b"a,b\n" * 12, max_rows=10)
    assert caught.value.what == "rows"
    assert len(read(b"a,b\n" * 11, max_rows=10).rows) == 10
    with pytest.raises(TableTooBig) as caught:
        read(b"a,b,c\n", max_columns=2)
    assert caught.value.what == "columns"


def workbook(fill) -> bytes:
    book = openpyxl.Workbook()
    fill(book.active)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def lab_sheet(sheet) -> None:
    sheet.merge_cells("A1:E1")
    sheet["A1"] = "2026 年 12 月算力需求"
    sheet.append(["任务名", "卡数", "就绪度", "截止时间", "预计时长", "可抢占", "耗时"])
    sheet.append(["预训练", 8, 1, date(2026, 12, 1), time(8), True, timedelta(hours=30)])
    sheet.append([12, 1.5, 0.3, datetime(2026, 12, 1, 9), None, False, None])
    for row in (3, 4):
        sheet[f"C{row}"].number_format = "0%"


def test_a_workbook_with_a_title_line_percents_and_dates():
    table = read(workbook(lab_sheet), "list.xlsx")
    assert table.headers[0] == "2026 年 12 月算力需求"
    assert table.rows[0][:2] == ("任务名", "卡数")
    assert table.rows[1] == ("预训练", 8, "100%", date(2026, 12, 1), "08:00:00", True, "108000s")
    assert table.rows[2][:4] == (12, 1.5, "30%", datetime(2026, 12, 1, 9))
    assert table.lines == (2, 3, 4)


def test_a_custom_percent_format_is_seen():
    def fill(sheet):
        sheet.append(["a", "b"])
        sheet.append([0.125, 2])
        sheet["A2"].number_format = "0.0%"

    assert read(workbook(fill)).rows == (("12.5%", 2),)


@pytest.mark.parametrize(("cell", "what"), [("A1048576", "rows"), ("XFD1", "columns")])
def test_one_far_cell_is_refused_before_it_is_laid_out(cell, what):
    def fill(sheet):
        sheet["A1"] = "a"
        sheet[cell] = 1

    with pytest.raises(TableTooBig) as caught:
        read(workbook(fill))
    assert caught.value.what == what


def test_lines_are_counted_over_cells_of_several_lines():
    assert read(b'a,b\n1,"x\ny"\n2,z\n').lines == (2, 4)


def test_a_bomb_is_refused_before_it_is_unpacked():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/workbook.xml", b" " * (201 * 1024 * 1024))
    with pytest.raises(TableTooBig) as caught:
        read(data.getvalue())
    assert caught.value.what == "bytes"


def test_entities_are_refused():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as parts:
        parts.writestr("xl/workbook.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(UnreadableTable):
        read(data.getvalue())


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(data):
    for prefix in (b"", b"PK\x03\x04", b"\xef\xbb\xbf", b"\xff\xfe"):
        with suppress(UnreadableTable, TableTooBig):
            assert isinstance(read(prefix + data), Table)
