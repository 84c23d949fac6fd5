"""Lists come in: one bad row costs one row, named with line, column and value."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import openpyxl
import pytest

from paika.adapters.in_memory.store import InMemoryStore
from paika.adapters.table_reader.reader import FileTableReader
from paika.adapters.task_yaml.reader import read_task_list_yaml
from paika.domain.access import Actor, Scope
from paika.domain.dataset import Dataset, Readiness
from paika.domain.dataset_form import Mark
from paika.domain.person import Person, Role
from paika.domain.problem import Problem
from paika.domain.records import Records
from paika.domain.task_draft import TaskDraft
from paika.domain.team import Team
from paika.services.import_report import ImportReport, NoHeaderRow
from paika.services.import_tasks import import_tasks, preview_import, preview_rows
from paika.services.submit_task import prepare, submit_tasks

ZONE = "Asia/Shanghai"
T0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
LI = Actor("li", Role.MEMBER, (Scope.SUBMIT,), teams=("vision",))


class Noon:
    def now(self) -> datetime:
        return T0


def report_of(text: str, encoding: str = "utf-8", **more) -> ImportReport:
    return preview_import(FileTableReader().read(text.encode(encoding), "list.csv"), ZONE, **more)


def told(report: ImportReport) -> list[tuple[int, str, str, str | None]]:
    return [(p.line, p.column, p.problem.code, getattr(p.problem, "value", None)) for p in report.problems]


LAB = """2026 年 12 月算力需求表,,,,,,
（请在 11 月 30 日前填写）,,,,,,
任务名称,命令,卡数,显存(GB),预计时长(小时),数据集,就绪度,依赖,会议室
清洗,python clean.py,１,,2,coco,30%,,A101
预训练,torchrun train.py,８,80,48,,,清洗,A101
坏卡数,python a.py,-1,,1,,,,
坏两处,python a.py,1.5,80XB,1,,,,
等坏的,python b.py,1,,1,,,坏卡数,
等等坏的,python b.py,1,,1,,,等坏的：结束,
,,,,,,,,
预训练,torchrun train.py,８,80,48,,,清洗,A101
清洗,python clean2.py,1,,1,,,,
逗号没加引号,python a.py --lr 1,2,1,,1,,,,,多出来的
"""


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-8-sig"])
def test_one_bad_row_costs_one_row_and_is_named(encoding):
    report = report_of(LAB, encoding)
    assert [row.draft.name for row in report.accepted] == ["清洗", "预训练", "清洗"]
    assert [row.line for row in report.accepted] == [4, 5, 12]
    assert told(report) == [
        (6, "卡数", "value.bad", "-1"),
        (7, "卡数", "value.fraction_of_card", "1.5"),
        (7, "显存(GB)", "value.bad", "80XB"),
        (8, "依赖", "import.parent_row_bad", None),
        (9, "依赖", "import.parent_row_bad", None),
        (11, "", "import.duplicate_row", None),
        (13, "", "import.spare_cells", "多出来的"),
    ]
    assert report.rows == 9
    assert report.header_line == 3


def test_columns_are_shown_with_what_they_fill_and_what_is_left_out():
    columns = {column.heading: column.field for column in report_of(LAB).columns}
    assert columns["显存(GB)"] == "vram"
    assert columns["就绪度"] == "data_percent"
    assert columns["会议室"] == ""


def test_values_are_those_of_the_form():
    train = report_of(LAB).accepted[1].draft
    assert (train.demand.cards, train.demand.vram_mib) == (8, 81920)
    assert train.estimate is not None
    assert train.estimate.likely_s == 48 * 3600
    assert train.after[0].task == "清洗"


def test_a_readiness_column_marks_the_dataset():
    report = report_of(LAB)
    assert [(mark.line, mark.dataset, mark.mark) for mark in report.marks] == [
        (4, "coco", Mark(Readiness.PREPARING, 30))
    ]


def test_a_readiness_must_say_of_what_and_agree():
    report = report_of(
        '任务名,命令,数据集,就绪度\na,x,coco,30%\nb,x,coco,40%\nc,x,,50%\nd,x,"a,b",50%\ne,x,coco,0.3\nf,x,coco,30\n'
    )
    assert told(report) == [
        (3, "就绪度", "import.readiness_differs", None),
        (4, "数据集", "import.readiness_of_what", None),
        (5, "数据集", "import.readiness_of_what", None),
        (6, "就绪度", "value.bad", "0.3"),
    ]
    assert [row.draft.name for row in report.accepted] == ["a", "f"]


def test_same_names_are_noted():
    report = report_of(LAB, open_names=["预训练"])
    assert [(note.line, note.problem.code, getattr(note.problem, "first_line", None)) for note in report.notes] == [
        (5, "import.same_name", 0),
        (12, "import.same_name", 4),
    ]


def test_a_list_without_headings_is_refused():
    with pytest.raises(NoHeaderRow) as caught:
        report_of("a,b\n1,2\n")
    assert caught.value.looked_at == ("a", "b")
    assert "任务名" in caught.value.known


def test_a_second_column_for_one_field_is_left_out_and_said():
    report = report_of("任务名,命令,备注,说明\na,x,first,second\n")
    assert [(c.heading, c.field, c.nearest) for c in report.columns][-1] == ("说明", "", ("note",))
    assert report.accepted[0].draft.note == "first"


def test_a_workbook_reads_as_the_csv_does():
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["算力需求"])
    sheet.append(["任务名", "命令", "卡数", "截止时间", "数据集", "就绪度"])
    sheet.append(["a", "python a.py", 8, datetime(2026, 12, 1, 9), "coco", 1])
    sheet["F3"].number_format = "0%"
    data = io.BytesIO()
    book.save(data)
    from_book = preview_import(FileTableReader().read(data.getvalue(), "list.xlsx"), ZONE)
    from_text = report_of("任务名,命令,卡数,截止时间,数据集,就绪度\na,python a.py,8,2026-12-01 09:00,coco,100%\n")
    assert from_book.drafts == from_text.drafts
    assert from_book.marks[0].mark == from_text.marks[0].mark == Mark(Readiness.READY, 100)


def test_yaml_gives_the_same_drafts():
    rows = read_task_list_yaml(
        (
            "- {任务名: a, 命令: python a.py, 卡数: ８}\n- {name: b, command: x, after: [a]}\n- {nmae: c, command: x}\n"
        ).encode()
    )
    report = preview_rows(rows, ZONE)
    assert [row.draft.name for row in report.accepted] == ["a", "b"]
    assert report.drafts[:1] == report_of("任务名,命令,卡数\na,python a.py,8\n").drafts
    assert {(line, code) for line, _, code, _ in told(report)} == {(3, "field.missing"), (3, "field.unknown")}


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore(
        Records(
            people={"li": Person("li", "李四", teams=("vision",))},
            teams={"vision": Team("vision", "视觉")},
            datasets={"coco": Dataset("coco", "coco")},
        )
    )


def checked(store: InMemoryStore, text: str) -> ImportReport:
    return report_of(text, check=lambda drafts: prepare(store.read(), LI, drafts, T0, store.task))


def test_what_the_records_refuse_costs_its_row_too(store):
    text = (
        "任务名,命令,数据集,依赖,团队,级别\n"
        "a,x,coco,,,\nb,x,cocoo,,,\nc,x,,b,,\nd,x,,,nlp,\ne,x,,,,核心\nf,x,,g,,\ng,x,,f,,\nh,x,,a,,\n"
    )
    report = checked(store, text)
    assert [row.draft.name for row in report.accepted] == ["a", "h"]
    assert {(line, column, code) for line, column, code, _ in told(report)} == {
        (3, "数据集", "noun.unknown"),
        (4, "依赖", "import.parent_row_bad"),
        (5, "团队", "noun.unknown"),
        (6, "", "access.forbidden"),
        (7, "依赖", "task.dependency_loop"),
        (8, "依赖", "task.dependency_loop"),
    }
    assert store.read().version == 0


def test_importing_submits_what_was_accepted(store):
    report = checked(store, "任务名,命令,依赖\na,x,\nb,x,a\nc,x,zzz\n")
    tasks = import_tasks(report, lambda drafts: submit_tasks(store, Noon(), LI, drafts))
    assert tasks is not None
    assert [task.name for task in tasks] == ["a", "b"]
    assert tasks[1].after[0].task == tasks[0].id
    assert import_tasks(report_of("任务名,命令,卡数\na,x,-1\n"), lambda _: 1) is None


def test_a_refusal_that_is_nobody_s_fault_goes_on():
    def check(drafts: object) -> None:
        raise Problem(field=None)

    with pytest.raises(Problem):
        report_of("任务名,命令\na,x\nb,x\n", check=check)


def test_drafts_are_values():
    assert isinstance(hash(report_of(LAB).drafts[0]), int)
    assert isinstance(report_of(LAB).drafts[0], TaskDraft)


def test_a_list_says_which_tasks_save_their_work() -> None:
    report = report_of("任务名,命令,可抢占,停前存档\na,true,是,是\nb,true,是,\nc,true,是,/data/ckpt\n")
    assert [(row.draft.name, row.draft.checkpoint) for row in report.accepted] == [("a", True), ("b", False)]
    assert told(report) == [(4, "停前存档", "value.bad", "/data/ckpt")]
    rows = read_task_list_yaml(b"- {name: a, command: 'true', checkpoint: yes}", "l.yaml")
    assert [draft.checkpoint for draft in preview_rows(rows, ZONE).drafts] == [True]
