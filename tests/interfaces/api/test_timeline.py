"""The timeline through the API: compact, relative to its beginning, with unknown as null."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.interfaces.api.door import Door
from tests.lab import T0, waiting

from paika.domain.access import Scope
from paika.domain.card import Health
from paika.interfaces.wording.catalogue import Lang, words


@pytest.fixture
def door() -> Door:
    return Door()


def test_times_are_seconds_after_the_beginning_and_indexes_lead_to_names(door):
    runs, waits = door.lab.submit("mia", name="runs", limit="2h"), door.lab.submit("tim", name="waits")
    door.lab.run(runs, "a1", limit_s=7200)
    door.box.set(plan=door.lab.live(waiting(waits.id, 1, start_by=T0 + timedelta(hours=2), cards=("a1",))).plan)
    told = (
        door.client("vic", Scope.READ).get("/timeline", params={"from": "2026-12-01T08:00:00Z", "span": "12h"}).json()
    )
    assert (told["at"], told["from"], told["span"]) == ("2026-12-01T09:00:00Z", "2026-12-01T08:00:00Z", 43_200)
    assert told["horizon_at"] == "2026-12-04T09:00:00Z"
    rows = {row[0]: n for n, row in enumerate(told["rows"])}
    assert told["nodes"][told["rows"][rows["a1"]][1]][0] == "n1"
    bars = [bar for bar in told["bars"] if bar[0] == rows["a1"]]
    kinds = [told["kinds"][bar[1]] for bar in bars]
    assert kinds == ["running", "promised"]
    assert [bar[2:5] for bar in bars] == [[3600, 10_800, 0], [10_800, None, 0]]
    first, second = (told["tasks"][bar[5]] for bar in bars)
    assert (first[1], second[1]) == ("runs", "waits")
    assert (told["people"][first[2]], told["teams"][second[3]]) == (["mia", "韩梅梅"], ["text", "Text"])


def test_mine_is_the_caller_s_and_the_rest_is_counted(door):
    door.lab.run(door.lab.submit("mia"), "a0")
    door.lab.run(door.lab.submit("max"), "a1")
    told = door.client("mia").get("/timeline", params={"mine": "true"}).json()
    assert [row[0] for row in told["rows"]] == ["a0"]
    assert (told["cards_left_out"], told["bars_left_out"]) == (6, 2)  # max's bar, and x0 without an engine


def test_causes_are_in_the_caller_s_language(door):
    card = replace(door.lab.records.cards["a0"], health=Health.UNKNOWN, health_cause="missing", version=2)
    door.lab.put(card)
    said = []
    for lang in ("en", "zh"):
        told = door.client("mia").get("/timeline", params={"lang": lang, "node": "n1"}).json()
        said += [bar[7] for bar in told["bars"]]
    assert said == [words(lang)["card.cause.missing"] for lang in (Lang.EN, Lang.ZH)]


@pytest.mark.parametrize("asked", [{"span": "10s"}, {"span": "1y"}, {"from": "tomorrow"}])
def test_a_window_that_cannot_be_is_refused(door, asked):
    answer = door.client("mia").get("/timeline", params=asked)
    assert answer.status_code == 422
    assert answer.json()["field"] == next(iter(asked))


def test_a_tier_that_there_is_not_is_refused(door):
    assert door.client("mia").get("/timeline", params={"tier": "best"}).status_code == 422
