"""The form of a task gives the same answer at every door (field case C10)."""

from __future__ import annotations

import csv
import io
import json

import pytest

from paika.domain.problem import BadValue, FieldMissing, Problem, Several, UnknownField
from paika.domain.quantity import FractionOfCard, UnitMissing
from paika.domain.task import Share, Tier, When
from paika.domain.task_draft import (
    CardsNotEven,
    CommandOrScript,
    EstimateOrder,
    LimitBelowEstimate,
    NotWithShare,
    TaskDraft,
)
from paika.domain.task_form import FIELDS, FORM, form_of, read_form, schema
from paika.domain.written import ShellWord

ZONE = "Asia/Shanghai"
BASE = {"name": "train", "command": "python train.py"}


def ask(**raw: object) -> TaskDraft:
    return read_form({**BASE, **raw}, ZONE)


def refusals(raw: dict[str, object]) -> tuple[Problem, ...]:
    try:
        read_form(raw, ZONE)
    except Several as several:
        return several.problems
    return ()


def verdict(raw: dict[str, object]) -> object:
    """What a door answers: the draft, or code, field and allowed range of each problem."""
    try:
        return read_form(raw, ZONE)
    except Several as several:
        return tuple((p.code, p.field, getattr(p, "allowed", None)) for p in several.problems)


def as_json(field: str, value: object) -> dict[str, object]:
    text = json.dumps({**BASE, field: value})
    return dict(json.loads(text))


def as_option(field: str, value: object) -> dict[str, object]:
    written = {None: "", True: "true"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    return {**BASE, field: written}


def as_cell(field: str, value: object) -> dict[str, object]:
    sheet = io.StringIO()
    csv.writer(sheet).writerows([[*BASE, field], [*BASE.values(), as_option(field, value)[field]]])
    headers, cells = csv.reader(io.StringIO(sheet.getvalue()))
    return dict(zip(headers, cells, strict=True))


READ, NOT_GIVEN = "read", "not given"
C10 = [
    ("cards", 0, "value.bad"),
    ("cards", -1, "value.bad"),
    ("cards", 1.5, "value.fraction_of_card"),
    ("cards", 1e308, "value.bad"),
    ("cards", 9223372036854775807, "value.bad"),
    ("cards", "NaN", "value.bad"),
    ("cards", float("nan"), "value.bad"),
    ("cards", float("inf"), "value.bad"),
    ("cards", "８", READ),
    ("cards", " 4 ", READ),
    ("cards", 4.0, READ),
    ("cards", None, NOT_GIVEN),
    ("cards", True, "value.bad"),
    ("cards", "4 cards", "value.bad"),
    ("cards", "٣", "value.bad"),
    ("cards", "8²", "value.bad"),
    ("cards", "1_000", "value.bad"),
    ("limit", 0, "value.bad"),
    ("limit", "-5 minutes", "value.bad"),
    ("limit", "1,000,000,000 hours", "value.bad"),
    ("limit", "1000000000 hours", "value.bad"),
    ("limit", "∞", "value.bad"),
    ("limit", True, "value.bad"),
    ("limit", 1e308, "value.bad"),
    ("limit", "2 小时", READ),
    ("limit", "２ 小时", READ),
    ("limit", 7200, READ),
    ("vram", "80G", READ),
    ("vram", "80GiB", READ),
    ("vram", "80g", READ),
    ("vram", "８０Ｇ", READ),
    ("vram", -1, "value.bad"),
    ("vram", "0.5", "value.unit_missing"),
    ("vram", 80, "value.unit_missing"),
    ("vram", "9999999G", "value.bad"),
    ("priority", 10**12, "value.bad"),
    ("priority", 0, READ),
    ("priority", 100, READ),
    ("priority", 101, "value.bad"),
]


@pytest.mark.parametrize(("field", "value", "right"), C10)
@pytest.mark.parametrize("door", [as_json, as_option, as_cell])
def test_every_door_gives_the_same_answer(field, value, right, door):
    answer = verdict(door(field, value))
    if right == READ:
        assert isinstance(answer, TaskDraft)
        assert answer != ask()
    elif right == NOT_GIVEN:
        assert answer == ask()
    else:
        assert answer == ((right, field, FORM.by_key[field].allowed),)


@pytest.mark.parametrize(("field", "value", "right"), C10)
def test_the_doors_agree_on_the_value_itself(field, value, right):
    assert verdict(as_json(field, value)) == verdict(as_option(field, value)) == verdict(as_cell(field, value))


def test_units_are_fixed():
    assert {ask(vram=text).demand.vram_mib for text in ("80G", "80GiB", "80g", "80GB", "80 gib", "81920M")} == {81920}
    assert ask(vram_mib=81920).demand.vram_mib == 81920
    assert read_form({**BASE, "显存(GB)": 80}, ZONE).demand.vram_mib == 81920
    assert read_form({**BASE, "显存（ＧＢ）": "0.5"}, ZONE).demand.vram_mib == 512
    assert ask(vram="0.3G").demand.vram_mib == 308  # rounded up: the need is a lower bound


def test_plain_seconds_need_the_field_s_own_name_and_words_need_their_unit():
    assert ask(limit=7200).limit_s == ask(limit_h=2).limit_s == ask(limit="2h").limit_s == 7200
    assert read_form({**BASE, "时限（小时）": 2}, ZONE).limit_s == 7200
    (problem,) = refusals({**BASE, "时限": 2})
    assert isinstance(problem, UnitMissing)
    assert problem.field == "limit"


def test_lab_headings_are_read_at_every_door():
    draft = read_form(
        {
            "任务名称": "预训练",
            "命令": "torchrun train.py",
            "GPU数": "８",
            "卡型": "A100，H100",
            "预计时长": "1天",
            "数据集": "coco、imagenet",
            "优先级": 60,
            "级别": "核心",
            "负责人": "张三",
            "课题组": "视觉",
            "截止时间": "2026-12-01",
            "可抢占": "否",
            "备注": "",
        },
        ZONE,
    )
    assert draft.demand.cards == 8
    assert draft.asked_types == "A100, H100"
    assert draft.estimate is not None
    assert (draft.estimate.low_s, draft.estimate.likely_s, draft.estimate.high_s) == (86400, 86400, 86400)
    assert draft.inputs == ("coco", "imagenet")
    assert (draft.tier, draft.owner, draft.team) == (Tier.CORE, "张三", "视觉")
    assert draft.milestone_at is not None
    assert draft.milestone_at.isoformat() == "2026-12-01T15:59:59+00:00"


def test_all_problems_come_at_once():
    found = refusals({"卡数": "-1", "vram": "80", "priorty": 3, "script": "a", "command": "b"})
    assert [type(p) for p in found] == [FieldMissing, UnknownField, BadValue, UnitMissing, CommandOrScript]
    unknown = found[1]
    assert isinstance(unknown, UnknownField)
    assert unknown.nearest[0] == "priority"


@pytest.mark.parametrize(
    ("raw", "problem", "field"),
    [
        ({"command": ""}, CommandOrScript, "command"),
        ({"script": "echo"}, CommandOrScript, "script"),
        ({"command": "python a.py | tee log"}, ShellWord, "command"),
        ({"command": "cd x\npython a.py"}, ShellWord, "command"),
        ({"command": "python 'a"}, BadValue, "command"),
        ({"command": ["python", 3]}, BadValue, "command"),
        ({"cards": "1.5"}, FractionOfCard, "cards"),
        ({"cards": 4, "share_vram": "10G"}, NotWithShare, "cards"),
        ({"nodes": 2, "cards": 1, "share_vram": "10G"}, NotWithShare, "nodes"),
        ({"share_bandwidth": 20}, FieldMissing, "share_vram"),
        ({"vram": "10G", "share_vram": "10G"}, NotWithShare, "vram"),
        ({"cards": 5, "nodes": 2}, CardsNotEven, "nodes"),
        ({"estimate_low": "2h", "estimate_likely": "1h"}, EstimateOrder, "estimate_likely"),
        ({"estimate_high": "2h"}, FieldMissing, "estimate_likely"),
        ({"estimate": "3h", "limit": "2h"}, LimitBelowEstimate, "limit"),
        ({"env": "CUDA_VISIBLE_DEVICES=0"}, BadValue, "env"),
        ({"env": {"PAIKA_RUN": "x"}}, BadValue, "env"),
        ({"environment": "venv:rel"}, BadValue, "environment"),
        ({"workdir": "rel"}, BadValue, "workdir"),
        ({"name": "a\nb"}, BadValue, "name"),
        ({"name": "\ud800"}, BadValue, "name"),
        ({"tier": "urgent"}, BadValue, "tier"),
        ({"not_before": "2026-13-01"}, BadValue, "not_before"),
        ({"not_before": 45000}, BadValue, "not_before"),
        ({"preemptible": "maybe"}, BadValue, "preemptible"),
        ({"checkpoint": "/data/ckpt"}, BadValue, "checkpoint"),
        ({"after": {"task": "a", "when": "never"}}, BadValue, "after"),
    ],
)
def test_refusals(raw, problem, field):
    found = refusals({**BASE, **raw})
    assert (problem, field) in [(type(p), p.field) for p in found]


def test_a_rule_does_not_speak_of_a_field_that_is_bad_itself():
    assert [p.code for p in refusals({**BASE, "cards": "x", "nodes": 2})] == ["value.bad"]


def test_a_share_and_its_default():
    assert ask(share_vram="10G").demand.share == Share(10240, 50)
    assert ask(share_vram="10G", share_bandwidth="20％").demand.share == Share(10240, 20)
    assert ask().demand.share is None


def test_a_command_is_split_without_a_shell():
    assert ask(command="python t.py --lr 1e-3 'a b' $HOME *").program.argv == (
        *("python", "t.py", "--lr", "1e-3", "a b", "$HOME", "*"),
    )
    assert ask(command=["bash", "-c", "a | b"]).program.argv == ("bash", "-c", "a | b")
    assert ask(command="python -c 'print(1); print(2)'").program.argv[-1] == "print(1); print(2)"


def test_parents():
    draft = ask(after="prep, eval:end, 清洗：失败, a:b")
    assert [(parent.task, parent.when) for parent in draft.after] == [
        ("prep", When.SUCCESS),
        ("eval", When.END),
        ("清洗", When.FAILURE),
        ("a:b", When.SUCCESS),
    ]


def test_a_field_given_twice_is_refused():
    assert [p.code for p in refusals({**BASE, "卡数": 1, "cards": 2})] == ["field.given_twice"]
    assert ask(卡数="", cards=2).demand.cards == 2


def test_windows_line_ends_in_a_script_are_made_plain():
    assert read_form({"name": "a", "script": "echo 1\r\necho 2\r\n"}, ZONE).program.script == "echo 1\necho 2"


@pytest.mark.parametrize("form_field", FIELDS, ids=lambda f: f.key)
def test_every_field_refuses_nonsense_with_the_range_that_its_table_says(form_field):
    nonsense = {"a": ["\0"]} if form_field.key != "env" else "no pair"
    found = [p for p in refusals({**BASE, form_field.key: nonsense}) if p.field == form_field.key]
    assert [getattr(p, "allowed", None) for p in found] == [form_field.allowed]


def test_the_schema_names_every_field():
    properties = schema()["properties"]
    assert isinstance(properties, dict)
    assert {f.key for f in FIELDS} | {"vram_mib", "share_vram_mib", "log_budget_mib"} == set(properties)
    json.dumps(schema())


def test_what_was_formatted_is_read_back():
    draft = ask(
        cards=8,
        nodes=2,
        vram="79G",
        types=["A100", "H100"],
        capabilities="BF16",
        estimate_low="1h",
        estimate="2h",
        estimate_high="1d2h",
        limit="2d",
        inputs="a,b",
        after=[{"task": "x:end", "when": "failure"}],
        not_before="2026-12-01 09:00",
        milestone_at="2026-12-31",
        env={"A": "1, B=2", "C": ""},
        tags="x;y",
        grace=0,
        log_budget="100M",
        stop_signal="SIGUSR1",
        preemptible="yes",
        checkpoint="yes",
    )
    assert (draft.preemptible, draft.checkpoint) == (True, True)
    assert read_form(json.loads(json.dumps(form_of(draft))), "UTC") == draft
