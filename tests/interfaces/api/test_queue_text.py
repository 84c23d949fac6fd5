"""A page of the queue as text that is kept: always the text that would be made anew."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest
from tests.lab import Lab, waiting

from paika.domain.reason import CardsBusy, DataNotReady, Holder
from paika.interfaces.api.queue_text import queue_text
from paika.interfaces.api.render import plain, text_of
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker
from paika.services.see_queue import see_queue

WHY = (
    CardsBusy(1, 1, 0, 0, 4, (Holder("r-1", "t-9", "mia", 1, None, False),)),
    DataNotReady("d-2", "preparing", 40, None, "mia"),
)


@pytest.fixture
def lab() -> Lab:
    return Lab()


def page(lab: Lab, *waits, lang: Lang = Lang.EN, zone: str = "UTC") -> str:
    """The page as it is told, which is the page made anew."""
    speaker = Speaker(lang, ZoneInfo(zone), lab.clock.now())
    view = see_queue(lab.records, lab.live(*waits), lab.clock.now())
    told = queue_text(view, speaker)
    assert told == text_of(plain(view, speaker))
    return told


def test_whatever_changes_is_told_and_who_only_moves_is_not_told_anew(lab):
    for name in ('quotes " and "rows":[]', "二", "with inputs"):
        lab.submit("mia", name=name, inputs=["coco"])
    first, second = waiting("t-1", 1, *WHY), waiting("t-2", 2, WHY[0])
    before = page(lab, first, second)
    assert page(lab, replace(first, rank=7), second) != before
    assert page(lab, replace(first, terms=replace(first.terms, age=3)), second) != before
    assert page(lab, replace(first, reasons=WHY[:1]), second) != before
    lab.put(replace(lab.task("t-1"), name="another", version=2))
    renamed = page(lab, first, second)
    assert renamed != before
    lab.put(replace(lab.records.people["mia"], name="Meimei", version=2))
    assert "Meimei" in page(lab, first, second)
    lab.put(replace(lab.records.datasets["d-2"], percent=41, version=2))
    assert '"percent":41' in page(lab, first, second)


def test_languages_zones_and_labs_are_kept_apart(lab):
    lab.submit("mia")
    wait = waiting("t-1", 1, *WHY)
    texts = {page(lab, wait, lang=lang, zone=zone) for lang in Lang for zone in ("UTC", "Asia/Shanghai")}
    assert len(texts) >= len(Lang)
    other = Lab()
    other.submit("tim")
    assert '"Tim"' in page(other, wait)


def test_an_empty_queue(lab):
    assert '"rows":[]' in page(lab)
