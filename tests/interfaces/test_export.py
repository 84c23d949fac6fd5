"""Names that bite (field case C53): exported harmless, read back as they were."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paika.adapters.table_reader.reader import FileTableReader
from paika.domain.harmless import as_it_was, harmless
from paika.domain.task_draft import TaskDraft
from paika.domain.task_form import read_form
from paika.interfaces.export import csv_bytes, csv_text

NAMES = (Path(__file__).parents[1] / "cases/C53/names.txt").read_text("utf-8").splitlines()
ACTIVE = ("=", "+", "-", "@", "\t", "＝")


@pytest.mark.parametrize("name", NAMES)
def test_no_exported_name_is_a_formula_and_all_come_back(name):
    data = csv_bytes(["任务名", "卡数"], [[name, 1]])
    _, cells = csv.reader(io.StringIO(data.decode("utf-8-sig")))
    assert not cells[0].lstrip().startswith(ACTIVE)
    assert not cells[0].startswith("\t")
    assert FileTableReader().read(data, "export.csv").rows == ((name, "1"),)


def test_the_names_hold_what_the_case_is_about():
    assert sum(harmless(name) != name for name in NAMES) >= 9
    assert "-3.5" in NAMES


def test_a_number_in_a_number_column_stays_a_number():
    text = csv_text(["name", "x"], [["-3.5", -3.5], [None, 7], ["a", True]])
    assert text == '"name","x"\r\n"\'-3.5",-3.5\r\n"",7\r\n"a","true"\r\n'


def test_instants_are_iso():
    assert "2026-12-01T09:00:00+00:00" in csv_text(["at"], [[datetime(2026, 12, 1, 9, tzinfo=UTC)]])


@example("'=1")
@example("''\t")
@given(st.text(alphabet=st.one_of(st.sampled_from("'=+-@\t ＝\n\u200b"), st.characters(exclude_categories=["Cs"]))))
def test_harmless_is_undone_exactly(text):
    assert as_it_was(harmless(text)) == text


@given(st.text(alphabet="'=+-@\t\r\n ＝＋－＠a\u200b\xa0"))
def test_nothing_harmless_begins_like_a_formula(text):
    cell = harmless(text)
    assert not cell[:1] or cell[0] not in "=+-@\t\r\n＝＋－＠"
    assert not cell.strip(" \xa0\u200b").startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "\t=1+1"])
@pytest.mark.parametrize("field", ["name", "team", "note", "kind"])
def test_every_name_stays_text_in_the_form(name, field):
    draft = read_form({"name": "a", "command": "x", field: name}, "UTC")
    assert isinstance(draft, TaskDraft)
    assert getattr(draft, field) == name
