"""What was said is kept for a while, and not for ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from paika.interfaces.wording import say
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Memory, Speaker

NOW = datetime(2026, 12, 1, 23, 30, tzinfo=UTC)


def test_a_row_is_made_again_when_what_it_is_made_of_differs():
    memory, made = Memory(), []

    def make(text: str) -> str:
        made.append(text)
        return text

    asked = [(("json", "t-1"), 1, "a"), (("json", "t-1"), 1, "b"), (("json", "t-1"), 2, "c"), (("html", "t-1"), 2, "d")]
    assert [memory.row(key, facts, lambda text=text: make(text)) for key, facts, text in asked] == ["a", "a", "c", "d"]
    assert made == ["a", "c", "d"]


def test_rows_are_forgotten_when_they_are_too_many():
    memory = Memory()
    for number in range(say.MOST_ROWS):
        memory.row(number, (), str)
    memory.room()
    assert not memory.rows


def test_each_day_and_language_has_its_own_and_earlier_days_are_forgotten(monkeypatch):
    monkeypatch.setattr(say, "_MEMORIES", {})
    zone = ZoneInfo("UTC")
    today, undated = Speaker(Lang.ZH, zone, NOW).memory, Speaker(Lang.ZH, zone).memory
    assert Speaker(Lang.ZH, zone, NOW + timedelta(minutes=5)).memory is today
    assert Speaker(Lang.EN, zone, NOW).memory is not today
    assert Speaker(Lang.ZH, zone).memory is undated
    assert Speaker(Lang.ZH, zone, NOW + timedelta(hours=1)).memory is not today
    assert len(say._MEMORIES) == 1
