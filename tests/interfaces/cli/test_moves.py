"""`paika move`: who slips is shown and asked about before anything moves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len
from tests.interfaces.cli.house import House

from paika.interfaces.client import Client

A100 = ("--types", "A100-80G")


@pytest.fixture
def queue(house: House) -> House:
    """All A100s are taken for an hour; t-2 (named at length) and t-3 wait for all of them."""
    lab, form = house.lab, {"types": "A100-80G", "cards": 4, "limit": "2h"}
    lab.run(lab.submit("tim", cards=4, limit="1h"), "a0", "a1", "a2", "a3")
    due = {"milestone": "paper", "milestone_at": "2026-12-01T12:30:00Z"}
    lab.submit("mia", name="训练七十亿参数的大模型第三轮对照实验", **form, **due)
    lab.submit("max", name="urgent", **form)
    return house


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("Who starts later (1)", "Place", "2 h")), ("zh", ("1 个任务往后推", "2 小时"))]
)
def test_a_dry_run_lists_who_slips(queue: House, lang: str, words: tuple[str, ...]):
    said = queue.paika("move", "t-3", "--points", "1000", "--dry-run", by="ann", lang=lang)
    assert said.code == 0
    for word in (*words, "t-2"):
        assert word in said.out
    assert ("misses" if lang == "en" else "错过里程碑") in said.out.replace("would miss", "misses")
    assert all(cell_len(line) <= 80 for line in said.out.splitlines()), said.out
    assert queue.lab.task("t-3").boost == 0
    told = queue.paika("task", "move", "t-3", "--points", "1000", "--dry-run", "--json", by="ann").json
    assert [(slip["task"]["id"], slip["later_s"], slip["misses"]) for slip in told["later"]] == [("t-2", 7200, True)]


def test_it_asks_before_it_acts(queue: House):
    asked = ("move", "t-3", "--points", "1000", "--why", "paper deadline")
    no = queue.paika(*asked, by="ann", stdin="n\n")
    assert no.code != 0
    assert "t-2" in no.err
    assert queue.lab.task("t-3").boost == 0
    yes = queue.paika(*asked, by="ann", stdin="y\n")
    assert (yes.code, "+1000" in yes.out) == (0, True)
    assert (queue.lab.task("t-3").boost, queue.lab.task("t-3").boost_why) == (1000, "paper deadline")
    shown = queue.paika("task", "show", "t-3").out
    assert "+1000" in shown
    assert "paper deadline" in shown
    back = queue.paika("move", "t-3", "--points", "0", "--reason", "not any more", "--yes", "--json", by="ann").json
    assert back["boost"] == 0


def test_down_the_order_too(queue: House):
    said = queue.paika("move", "t-2", "--points", "-500", "--why", "x", "--yes", by="ann")
    assert (said.code, queue.lab.task("t-2").boost) == (0, -500)


def test_without_a_reason_or_the_right_nothing_is_asked_or_moved(queue: House):
    said = queue.paika("move", "t-3", "--points", "30", "--json", by="ann")
    assert (said.code != 0, said.refusal["code"], said.refusal["field"]) == (True, "field.missing", "reason")
    for dry in ((), ("--dry-run",)):
        said = queue.paika("move", "t-3", "--points", "30", "--why", "x", "--json", *dry, by="lea")
        assert (said.code, said.refusal["code"]) == (4, "access.forbidden")
    said = queue.paika("move", "t-3", "--points", "5000", "--why", "x", "--json", by="ann")
    assert (said.code, [problem["field"] for problem in said.refusal["problems"]]) == (4, ["points"])
    assert queue.lab.task("t-3").boost == 0


def test_nobody_slips_and_it_says_so(queue: House):
    assert "Nobody starts later" in queue.paika("move", "t-3", "--points", "0", "--dry-run", by="ann").out


def test_who_was_faster_wins(queue: House):
    real = queue.lab.task("t-3")
    said = queue.paika(
        "move", "t-3", "--points", "30", "--why", "x", "--if-version", str(real.version + 1), "-y", by="ann"
    )
    assert said.code == 4
    assert queue.lab.task("t-3") == real


def test_what_changed_while_it_asked_is_not_moved(queue: House, monkeypatch: pytest.MonkeyPatch):
    looked = Client.preview_move

    def and_then_somebody_edits(self, *args, **more):
        told = looked(self, *args, **more)
        task = queue.lab.task("t-3")
        queue.lab.put(replace(task, note="new", version=task.version + 1))
        return told

    monkeypatch.setattr(Client, "preview_move", and_then_somebody_edits)
    said = queue.paika("move", "t-3", "--points", "30", "--why", "x", by="ann", stdin="y\n")
    assert said.code == 4
    assert queue.lab.task("t-3").boost == 0
