"""Every word that a page asks for is there, in both languages."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import chain

import pytest

from paika.domain.access import Scope
from paika.domain.card import Health
from paika.domain.dataset import ProbeKind, Readiness
from paika.domain.form import FieldKind
from paika.domain.ledger import EntryKind
from paika.domain.node import NodeState
from paika.domain.person import Role
from paika.domain.policy_form import POLICY
from paika.domain.reason import Reason
from paika.domain.reservation import Purpose
from paika.domain.run import EndCause, RunState
from paika.domain.task import TaskState, Tier, When
from paika.domain.task_form import FIELDS
from paika.interfaces.board.ledger import PERIODS
from paika.interfaces.board.look import HERE
from paika.interfaces.board.visit import RAIL
from paika.interfaces.board.what_if import COUNTS
from paika.interfaces.wording.catalogue import Lang, messages, words
from paika.services.preview_edits import Stands
from paika.services.see_cards import Shows
from paika.services.see_timeline import BarKind
from paika.services.what_if_form import EDITS, EditKind

SOURCES = [*sorted((HERE / "templates").glob("*.html")), *sorted(HERE.glob("*.py"))]
PLAIN = re.compile(r"""(?:\bt|\bmaybe)\(\s*f?["']([a-z][a-z_]*(?:\.[a-z_{}]+)*)["']\s*[,)]""")
MADE = {  # prefixes that pages complete with a value
    "answer.{}.ask": ("free", "mine", "queue", "ready", "due", "cost"),
    "shows.{}": Shows,
    "letter.{}": Shows,
    "cell.{}": ("starting", "stopping", "until_limit", "until_estimate"),
    "tier.{}": Tier,
    "state.{}": TaskState,
    "readiness.{}": Readiness,
    "run.{}": [state for state in RunState if state is not RunState.ENDED],
    "cause.{}": EndCause,
    "ended.{}": EndCause,
    "entry.{}": EntryKind,
    "node.{}": [state for state in NodeState if state is not NodeState.UP],
    "probe.{}": ProbeKind,
    "role.{}": Role,
    "scope.{}": Scope,
    "when.{}": When,
    "booking.state.{}": ("asked", "listed", "booked", "now", "over", "released", "cancelled"),
    "booking.purpose.{}": Purpose,
    "booking.{}.title": ("approve", "cancel", "edit"),
    "booking.{}.about": ("approve", "cancel"),
    "booking.{}.do": ("approve", "cancel"),
    "booking.would.{}": ("book", "list"),
    "period.{}": PERIODS,
    "due.{}": ("lease", "milestone"),
    "nav.{}": [name for name, _, _ in RAIL],
    "theme.{}": ("light", "dark", "auto"),
    "field.{}": [field.key for field in FIELDS],
    "ledger.by.{}": ("teams", "people", "card_types"),
    "ledger.who.{}": ("teams", "people", "card_types"),
    "task.{}": ("after", "before"),
    "import.{}": ("problems", "notes"),
    "ask.{}.title": ("cancel", "hold", "release", "edit"),
    "ask.{}.about": ("cancel", "hold", "release"),
    "ask.{}.do": ("cancel", "hold", "release"),
    "ask.{}.running": ("cancel",),
    "health.{}": Health,
    "timeline.kind.{}": BarKind,
    "whatif.kind.{}": EditKind,
    "whatif.about.{}": EditKind,
    "whatif.of.{}": {how.of for how in EDITS.values() if how.of},
    "whatif.policy.{}": POLICY.by_key,
    "whatif.stands.{}": [stands for stands in Stands if stands not in (Stands.STARTS, Stands.WAITS)],
    "whatif.count.{}": (*COUNTS, "last_start"),
    "whatif.{}": ("setting", "value", "whose"),
}
OURS = ("pages", "screens", "fields", "timeline")


def asked() -> set[str]:
    """All keys that templates and page modules name."""
    found = {key for path in SOURCES for key in PLAIN.findall(path.read_text("utf-8")) if "{" not in key}
    return found | {key.format(value) for key, values in MADE.items() for value in values}


@pytest.mark.parametrize("lang", list(Lang))
def test_no_word_is_missing(lang: Lang):
    keys = asked()
    assert len(keys) > 300
    assert sorted(keys - set(words(lang))) == []


def test_both_languages_have_the_same_keys_and_facts():
    zh, en = words(Lang.ZH), words(Lang.EN)
    assert set(zh) == set(en)
    assert messages(Lang.ZH).keys() == messages(Lang.EN).keys()
    facts = {key: [set(re.findall(r"\{(\w+)", text[key])) for text in (zh, en)] for key in zh}
    assert {key: pair for key, pair in facts.items() if pair[0] != pair[1]} == {}


def test_no_word_of_ours_stands_for_nothing():
    sources = "\n".join(path.read_text("utf-8") for path in [*SOURCES, *(HERE / "static/js").glob("*.js")])
    used = asked()
    ours = chain.from_iterable(import_module(f"paika.interfaces.wording.zh.{name}").WORDS for name in OURS)
    spare = [key for key in ours if key not in used and f'"{key}"' not in sources and f"'{key}'" not in sources]
    made = (
        "field.",
        "about.",
        "start.wait.",
        "fact.",
        "stop_signal.",
        "start.by_",
        "drain.",
        "task.why_cards",
        "ending.",
    )
    assert [key for key in spare if not key.startswith(made)] == []


def test_chinese_uses_its_own_punctuation():
    for name in OURS:
        for key, text in import_module(f"paika.interfaces.wording.zh.{name}").WORDS.items():
            assert not re.search(r"[\u4e00-\u9fff][,;:?!]", text), key
            assert not re.search(r"[\u4e00-\u9fff]\.(?:\s|$)", text), key


def test_every_reason_has_words():
    codes = {kind.code for kind in Reason.__subclasses__()}
    assert codes <= set(messages(Lang.ZH))


def test_every_kind_of_field_can_be_typed():
    assert {field.kind for field in FIELDS} <= set(FieldKind)
