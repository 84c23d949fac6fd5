"""Starts in words, in both languages: ranges with their hit rate, latest starts, rough ones, slips."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from paika.interfaces.cli.language import Tongue
from paika.interfaces.wording.catalogue import Lang, words
from paika.interfaces.wording.starts import ToldStart, hit_said, start_said

NOW = datetime(2026, 12, 1, 14, tzinfo=UTC)
BY = NOW + timedelta(minutes=70)
CAUSES = ("overrun", "lost_card", "higher_rank", "policy", "changed", "reservation", "quota", "unknown")
DAY = timedelta(days=1)


def told(start_by=BY, start_from=None, hit=None, *, holds=True, rough=False) -> ToldStart:
    return ToldStart(start_by, start_from, hit, holds, rough)


def said(one: ToldStart, lang: Lang, zone: str = "UTC") -> tuple[str, str]:
    t = Tongue(lang).t
    return start_said(t, one, ZoneInfo(zone), NOW), hit_said(t, one)


@pytest.mark.parametrize(
    ("one", "en", "zh"),
    [
        (told(), ("by 15:10 at the latest", ""), ("最迟 15:10", "")),
        (
            told(start_from=BY - timedelta(minutes=50), hit=829),
            ("14:20–15:10", "82 % of such ranges held"),
            ("14:20–15:10", "上次同类命中 82%"),
        ),
        (told(start_from=BY - timedelta(minutes=50)), ("14:20–15:10", ""), ("14:20–15:10", "")),
        (told(BY + DAY, BY + DAY / 2), ("12-02 03:10–15:10", ""), ("12-02 03:10–15:10", "")),
        (told(BY + DAY, BY), ("15:10–12-02 15:10", ""), ("15:10–12-02 15:10", "")),
        (
            told(start_from=NOW, hit=900, holds=False),
            ("about 15:10, not held", ""),
            ("约 15:10，不保留", ""),
        ),
        (
            told(NOW + 6 * DAY, NOW + 4 * DAY, holds=False, rough=True),
            ("in about 4–6 days", ""),
            ("约 4–6 天后", ""),
        ),
        (told(NOW + 5 * DAY, NOW + 5 * DAY, rough=True), ("in about 5 days", ""), ("约 5 天后", "")),
    ],
)
def test_a_start_is_said_in_one_way(one, en, zh):
    assert said(one, Lang.EN) == en
    assert said(one, Lang.ZH) == zh


def test_rough_days_go_by_the_calendar_of_the_site():
    late = told(datetime(2026, 12, 5, 20, tzinfo=UTC), rough=True)
    assert said(late, Lang.EN)[0] == "in about 4 days"
    assert said(late, Lang.EN, "Asia/Shanghai")[0] == "in about 5 days"


@pytest.mark.parametrize("lang", Lang)
def test_every_cause_of_a_slip_has_its_words(lang):
    for cause in CAUSES:
        assert "{was}" in words(lang)[f"slip.{cause}"]
    assert "r-7" in Tongue(lang).t("slip.overrun", was=NOW, subject="r-7")
