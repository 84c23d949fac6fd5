"""Pages about what comes in are true: the reference is made from the table, and the examples work."""

from __future__ import annotations

import re
from pathlib import Path

from paika.adapters.table_reader.reader import FileTableReader
from paika.adapters.task_yaml.reader import read_task_list_yaml
from paika.interfaces.form_page import task_form_page
from paika.services.import_tasks import preview_import, preview_rows

DOCS = Path(__file__).parents[2] / "docs"
HOWTO = (DOCS / "howto/import-your-list.md").read_text("utf-8")
ZONE = "Asia/Shanghai"


def example(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", HOWTO, re.S)
    assert found is not None
    return found[1]


def test_the_reference_page_is_made_from_the_table():
    written = (DOCS / "reference/task-form.md").read_text("utf-8")
    assert written == task_form_page(), "run: python -m paika.interfaces.form_page > docs/reference/task-form.md"


def test_the_csv_example_gives_what_the_page_says():
    report = preview_import(FileTableReader().read(example("csv").encode("gb18030"), "list.csv"), ZONE)
    assert [row.draft.name for row in report.accepted] == ["清洗", "预训练"]
    assert [(p.line, p.column, p.problem.code) for p in report.problems] == [(5, "卡数", "value.fraction_of_card")]
    assert [column.heading for column in report.columns if not column.field] == ["会议室"]
    assert [mark.dataset for mark in report.marks] == ["coco"]


def test_the_yaml_example_is_accepted_whole():
    report = preview_rows(read_task_list_yaml(example("yaml").encode()), ZONE)
    assert report.problems == ()
    assert [row.draft.name for row in report.accepted] == ["prep", "train"]
    assert report.accepted[1].draft.team == "vision"
