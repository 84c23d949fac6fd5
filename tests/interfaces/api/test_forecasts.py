"""Forecasts through the API: ranges, slips and terms of rows, and how often told starts came true."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.interfaces.api.door import Door
from tests.lab import T0, waiting

from paika.domain.promise import Outcome, Slip
from paika.services.score_promises import accuracy

BY = T0 + timedelta(hours=2)


@pytest.fixture
def door() -> Door:
    made = Door()
    made.lab.submit("mia")
    wait = waiting("t-1", 1, start_by=BY, cards=("a0",))
    wait = replace(
        wait,
        terms=replace(wait.terms, fair=7, boost=-5, entitled=True),
        forecast=replace(wait.forecast, start_from=T0 + timedelta(hours=1), hit_permille=820),
    )
    live = made.lab.live(wait)
    made.box.set(plan=live.plan, waits=live.waits)
    return made


@pytest.mark.parametrize("path", ["/tasks", "/tasks/t-1", "/tasks/t-1/why"])
def test_range_slip_and_terms_are_told_everywhere(door, path):
    def row():
        told = door.client().get(path).json()
        return told["rows"][0] if "rows" in told else told

    forecast = row()["forecast"]
    assert (forecast["start_from"], forecast["start_by"]) == ("2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z")
    assert (forecast["hit_permille"], forecast["holds"], forecast["rough"]) == (820, True, False)
    assert forecast["slip"] is None
    terms = row()["terms"]
    assert (terms["fair"], terms["boost"], terms["entitled"]) == (7, -5, True)
    door.box.set(slips={"t-1": Slip(T0, "overrun", "r-7")})
    assert row()["forecast"]["slip"] == {"was": "2026-12-01T09:00:00Z", "cause": "overrun", "subject": "r-7"}
    door.box.set(slips={"t-1": Slip(BY, "overrun", "r-7")})  # it came back to what was promised first
    assert row()["forecast"]["slip"] is None


def test_the_hit_rate_without_history_is_unknown_and_not_0(door):
    told = door.client("vic").get("/forecasts/hit-rate").json()
    assert (told["needed"], len(told["rows"])) == (20, 5)
    assert {(row["seen"], row["early_s"], row["hit_permille"]) for row in told["rows"]} == {(0, None, None)}


def test_the_hit_rate_by_how_far_ahead(door):
    seen = [Outcome(f"t-{n}", T0, 7200, 60 * n, n % 4 != 0) for n in range(20)]
    door.box.set(accuracy=accuracy(seen))
    rows = door.client().get("/forecasts/hit-rate").json()["rows"]
    assert rows[1] == {
        "lead_from_s": 3600,
        "lead_to_s": 14_400,
        "seen": 20,
        "early_s": 60,
        "late_s": 17 * 60,
        "ranged": 20,
        "hit_permille": 750,
    }


def test_nobody_reads_it_who_is_not_signed_in(door):
    assert door.anybody().get("/forecasts/hit-rate").status_code == 401
