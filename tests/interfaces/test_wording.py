"""Everything typed has words, in both languages, with only facts that it has."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from string import Formatter
from zoneinfo import ZoneInfo

import pytest

import paika
from paika.domain.access import Act
from paika.domain.person import Role
from paika.domain.problem import Problem
from paika.domain.reason import Reason
from paika.domain.reservation import Purpose
from paika.domain.run import STEPS as RUN_STEPS
from paika.domain.run import RunState
from paika.domain.task import STEPS as TASK_STEPS
from paika.domain.task import TaskState, When
from paika.interfaces.wording.catalogue import Lang, messages, words
from paika.interfaces.wording.say import Speaker, say

BASES = {Problem, Reason}
FLOOR_BECAUSE = ("capacity", "node_fit", "reservation", "lease", "quota", "being_freed")


def kinds() -> list[type]:
    """All problems and reasons of the package."""
    for module in pkgutil.walk_packages(paika.__path__, "paika."):
        if not module.name.endswith("__main__"):
            import_module(module.name)

    def below(kind: type) -> Iterator[type]:
        for sub in kind.__subclasses__():
            yield sub
            yield from below(sub)

    found = {kind for base in BASES for kind in below(base) if kind.__module__.startswith("paika.") and _stands(kind)}
    return sorted(found, key=lambda kind: kind.code)


def _stands(kind: type) -> bool:
    """Not the first draft of a class that its decorator replaced by one with slots."""
    return getattr(sys.modules[kind.__module__], kind.__name__, None) is kind


KINDS = kinds()


@pytest.mark.parametrize("lang", Lang)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.code)
def test_every_code_has_a_message_and_a_hint_that_use_its_own_facts(kind, lang):
    message, hint = messages(lang)[kind.code]
    assert message.strip()
    assert hint.strip()
    facts = {f.name for f in fields(kind)}
    for text in (message, hint):
        used = {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(text) if name}
        assert used <= facts, text


def test_no_code_is_given_twice():
    codes = [kind.code for kind in KINDS]
    assert len(codes) == len(set(codes))


def test_both_languages_say_the_same_things():
    assert messages(Lang.ZH).keys() == messages(Lang.EN).keys()
    assert words(Lang.ZH).keys() == words(Lang.EN).keys()


@pytest.mark.parametrize("lang", Lang)
def test_every_value_that_a_message_words_has_its_word(lang):
    keys = {
        *(f"api.act.{act.value}" for act in Act),
        *(f"api.act.{act}" for act in ("submit_for_others", "read_log", "create_token")),
        *(f"api.role.{role.value}" for role in Role),
        *(f"api.when.{when.value}" for when in When),
        *(f"api.state.{state.value}" for kind in (TaskState, RunState) for state in kind),
        *(f"reserved_for.{purpose.value}" for purpose in Purpose),
        *(f"floor_{part}.{because}" for part in ("because", "helps") for because in FLOOR_BECAUSE),
        *(f"api.event.{event}" for steps in (TASK_STEPS, RUN_STEPS) for _, event in steps),
    }
    assert keys <= words(lang).keys()


@pytest.mark.parametrize("lang", Lang)
def test_a_refusal_reads_well_when_there_is_nothing_near(lang):
    from paika.services.editing import UnknownNoun

    told = say(UnknownNoun(field="inputs", noun="dataset", asked="x", nearest=()), Speaker(lang, ZoneInfo("UTC")))
    assert "—" in str(told["hint"])
