"""Widths: nothing is wider than its line, and nothing is lost."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from paika.interfaces.cli.fold import NEVER_FIRST, fold
from paika.interfaces.cli.sheet import Column, Row, Sheet, cut, widths_of

SIGNS = st.text(st.sampled_from("ab 卡时，。（）é-1"), max_size=60)


@given(SIGNS, st.integers(2, 40))
def test_lines_fit_and_only_blanks_are_lost(text, width):
    lines = fold(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@given(SIGNS, st.integers(2, 40))
def test_what_fits_stays_one_line(text, width):
    if cell_len(text) <= width:
        assert fold(text, width) == [text.rstrip(" ")]


def test_no_line_begins_with_a_comma_where_it_can_be_helped():
    lines = fold("没备好数据的任务不占卡，也不占额度；备好之后标记就绪，就能参加下一轮。", 20)
    assert len(lines) > 2
    assert not any(line[0] in NEVER_FIRST for line in lines)


def test_words_stay_whole():
    assert fold("run paika why t-12 again", 12) == ["run paika", "why t-12", "again"]


@given(SIGNS, st.integers(1, 30))
def test_cutting_fits_and_says_so(text, width):
    short = cut(text, width)
    assert cell_len(short) <= width
    assert short == text or short.endswith("…")


def written(width: int, columns: list[Column], rows: list[Row]) -> list[str]:
    out = io.StringIO()
    sheet = Sheet(console=Console(file=out, width=width, highlight=False, markup=False, emoji=False))
    sheet.table(columns, rows)
    return out.getvalue().splitlines()


@given(st.lists(st.tuples(SIGNS, SIGNS, SIGNS), min_size=1, max_size=5), st.integers(24, 80))
def test_tables_fit(rows, width):
    columns = [Column("名称", loose=True), Column("n", right=True), Column("注", loose=True)]
    lines = written(width, columns, [Row(row, below="卡" * 60) for row in rows])
    assert all(cell_len(line) <= width for line in lines)


def test_columns_stand_below_each_other_whatever_the_script():
    lines = written(40, [Column("任务"), Column("n", right=True)], [Row(("训练", "1")), Row(("train", "22"))])
    assert [cell_len(line) for line in lines] == [9, 9, 9]
    assert lines[1] == "训练    1"


def test_loose_columns_give_way_first():
    columns = [Column("id"), Column("name", loose=True)]
    assert widths_of(columns, [["t-123456789", "x" * 40]], 30) == [11, 17]


def test_names_never_act_on_a_terminal():
    lines = written(60, [Column("name")], [Row(("\x1b[31mred\u202e\x9b1m[bold]:smile:",))])
    assert lines[1] == "⟦U+001B⟧[31mred⟦U+202E⟧⟦U+009B⟧1m[bold]:smile:"


@pytest.mark.parametrize("width", [20, 33, 80])
def test_facts_fit(width):
    out = io.StringIO()
    sheet = Sheet(console=Console(file=out, width=width, highlight=False, markup=False))
    sheet.facts(("负责人", "张三" * 30), ("empty", ""), ("note", "a b " * 30))
    lines = out.getvalue().splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert not any("empty" in line for line in lines)
    assert "".join(lines).count("张三") >= 20
