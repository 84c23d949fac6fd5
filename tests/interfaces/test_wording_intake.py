"""Every refusal of what comes in is said in both languages, and every field has a label and a help text."""

from __future__ import annotations

from datetime import UTC
from string import Formatter

import pytest

from paika.domain.dataset import ProbeKind
from paika.domain.dataset_form import DATASET_FIELDS
from paika.domain.problem import BadValue, Problem, Several
from paika.domain.task_form import FIELDS, read_form
from paika.interfaces.wording.catalogue import Lang, words
from paika.interfaces.wording.en import intake as english
from paika.interfaces.wording.say import Speaker, facts_of, say
from paika.interfaces.wording.zh import intake as chinese
from paika.ports.table import UnreadableTable
from paika.services import import_report
from paika.services.import_tasks import DATA_FORM

BOTH = (Lang.ZH, Lang.EN)


def test_both_languages_say_the_same_things_with_the_same_facts():
    assert chinese.MESSAGES.keys() == english.MESSAGES.keys()
    assert chinese.WORDS.keys() == english.WORDS.keys()
    for code, texts in chinese.MESSAGES.items():
        said = [
            {name for text in pair for _, name, _, _ in Formatter().parse(text) if name}
            for pair in (texts, english.MESSAGES[code])
        ]
        assert said[0] == said[1], code


@pytest.mark.parametrize("lang", BOTH)
def test_every_field_has_a_label_and_the_task_s_own_a_help_text(lang):
    known = words(lang)
    assert all(known[f"field.{f.key}"] and known[f"field.{f.key}.help"] for f in FIELDS)
    assert all(known[f"field.dataset.{f.key}"] for f in DATASET_FIELDS)
    assert all(known[f"field.{f.key}"] for f in DATA_FORM.fields)
    assert all(known[f"probe.kind.{kind.value}"] for kind in ProbeKind)


def test_chinese_range_texts_hold_no_english_sentences():
    speaker = Speaker(Lang.ZH, UTC)
    for form_field in (*FIELDS, *DATASET_FIELDS):
        assert "characters" not in speaker.allowed(form_field.allowed), form_field.key
        assert "separated" not in speaker.allowed(form_field.allowed), form_field.key


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(
    "raw",
    [
        {"cards": "1.5", "vram": "80", "command": "a | b", "卡数": 2, "nmae": 1},
        {"name": "a"},
        {"name": "a", "command": "b", "cards": 5, "nodes": 2},
        {"name": "a", "command": "b", "cards": 2, "share_vram": "1G"},
        {"name": "a", "command": "b", "estimate_low": "2h", "estimate": "1h"},
        {"name": "a", "command": "b", "estimate": "2h", "limit": "1h"},
    ],
)
def test_problems_are_said_with_their_facts(lang, raw):
    with pytest.raises(Several) as caught:
        read_form(raw, "UTC")
    for told in say(caught.value, Speaker(lang, UTC))["problems"]:
        assert "{" not in told["message"] + told["hint"]
        assert told["message"]


@pytest.mark.parametrize("lang", BOTH)
def test_problems_of_lists_are_said(lang):
    speaker = Speaker(lang, UTC)
    for kind in vars(import_report).values():
        if isinstance(kind, type) and issubclass(kind, Problem) and kind.__module__ == import_report.__name__:
            names = [name for name in kind.__dataclass_fields__ if name not in ("code", "kind")]
            said = say(kind(**dict.fromkeys(names, "x")), speaker)
            assert said["message"]
            assert said["hint"]
    for cause in ("empty", "binary", "encoding", "csv", "quote", "workbook", "password", "yaml", "shape"):
        assert "table.cause" not in str(say(UnreadableTable("file", "a.csv", cause), speaker)["message"])


def test_the_range_is_said_in_words():
    problem = BadValue(field="name", value="", allowed="1..200 characters, one line")
    assert "1..200 个字符，单行" in str(say(problem, Speaker(Lang.ZH, UTC))["hint"])
    assert facts_of(problem)["allowed"] == "1..200 characters, one line"
