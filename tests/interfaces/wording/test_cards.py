"""Problems of cards and inventories are said in both languages, with their facts in place."""

from __future__ import annotations

from datetime import UTC

import pytest

from paika.domain.inventory import KeyTwice, UnknownName, UnreadableInventory, WrongShape
from paika.domain.problem import Problem
from paika.domain.type_names import AmbiguousCardType, UnknownCardType
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.en import cards as en
from paika.interfaces.wording.en import doctor as en_doctor
from paika.interfaces.wording.say import Speaker, say
from paika.interfaces.wording.zh import cards as zh
from paika.interfaces.wording.zh import doctor as zh_doctor

PROBLEMS: list[tuple[Problem, str]] = [
    (UnknownCardType(field="types", asked="H10", nearest=("H100", "H20")), "H100"),
    (AmbiguousCardType(field="type", asked="A100", models=("A100-40G", "A100-80G")), "A100-40G"),
    (UnreadableInventory(field=None, line=7, detail="tab"), "7"),
    (WrongShape(field="nodes@3", wanted="list"), "nodes@3"),
    (KeyTwice(field="nodes[0].id@3", key="id"), "nodes[0].id@3"),
    (UnknownName(field="nodes.n1.pool", noun="pool", id="lap", nearest=("lab",)), "lab"),
]


@pytest.mark.parametrize("lang", list(Lang))
@pytest.mark.parametrize(("problem", "fact"), PROBLEMS, ids=lambda one: getattr(one, "code", ""))
def test_a_problem_is_said_with_its_facts(problem: Problem, fact: str, lang: Lang) -> None:
    said = say(problem, Speaker(lang, UTC))
    assert fact in f"{said['message']}{said['hint']}"
    assert "{" not in f"{said['message']}{said['hint']}"


def test_both_languages_say_the_same_things() -> None:
    for one, other in ((zh, en), (zh_doctor, en_doctor)):
        assert one.MESSAGES.keys() == other.MESSAGES.keys()
        assert one.WORDS.keys() == other.WORDS.keys()
