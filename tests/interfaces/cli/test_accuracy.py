"""Starts on the command line: ranges and slips, and how often told starts came true."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from tests.interfaces.cli.house import House
from tests.lab import T0, waiting
from tests.ports.store_examples import put

from paika.domain.plan import ReasonRecord
from paika.domain.promise import Outcome, Promise, Slip
from paika.services.score_promises import accuracy


def test_too_little_history_says_so(house: House):
    said = house.paika("plan", "accuracy")
    assert said.code == 0
    assert "Not enough history yet" in said.out
    assert "历史还不够" in house.paika("plan", "accuracy", lang="zh").out
    assert house.paika("plan", "accuracy", "--json").json["rows"][0]["hit_permille"] is None


def test_hit_rates_by_lead(house: House):
    seen = [Outcome(f"t-{n}", T0, 7200, 60 * (n - 5), n % 4 != 0) for n in range(20)]
    house.door.box.set(accuracy=accuracy(seen))
    line = next(line for line in house.paika("plan", "accuracy").out.splitlines() if "1–4 h" in line)
    assert "75 % / 20" in line
    assert "4 min earlier" in line
    assert "12 min later" in line


def test_a_range_is_told_with_its_hit_rate_and_a_slip_with_its_cause(house: House):
    task = house.lab.submit("mia")
    wait = waiting(task.id, 1, start_by=T0 + timedelta(hours=2), cards=("a0",))
    ranged = replace(wait.forecast, start_from=T0 + timedelta(hours=1), hit_permille=820)
    live = house.lab.live(replace(wait, forecast=ranged), slips={task.id: Slip(T0, "overrun", "r-7")})
    house.door.box.set(plan=live.plan, waits=live.waits, slips=live.slips)
    promise = Promise(task.id, 1, T0 + timedelta(hours=1), ())
    records = [ReasonRecord(task.id, T0, wait.reasons, told) for told in (promise, None)]
    put(house.lab.store, reasons=tuple(records))
    said = " ".join(house.paika("why", task.id).out.split())
    assert "(82 % of such ranges held)" in said
    assert "because run r-7 overran" in said
    assert "Told: by " in said
    assert "运行 r-7 超时" in house.paika("task", "show", task.id, lang="zh").out
