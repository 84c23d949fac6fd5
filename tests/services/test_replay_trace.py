"""A trace against a question: what is given, what each rule may know, and orders within one second."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulation.loads import ONE_NODE, job

from paika.domain.policy import Policy
from paika.domain.problem import BadValue
from paika.domain.task import Tier
from paika.domain.trace import Flaw, FlawKind, Trace
from paika.services.replay_trace import VRAM_SHARES, Lengths, Question, load_to_play, orders_of, replay_trace
from paika.simulation.baselines import Rule

TRACE = Trace(
    "t",
    (*(job(f"j{n}", n // 3, 10 + n, 1 + n % 8) for n in range(12)), job("wide", 4, 5, 9), job("x", 5, 1, 0)),
    (Flaw(3, FlawKind.UNSORTED), Flaw(4, FlawKind.UNSORTED), Flaw(5, FlawKind.VALUE)),
)
PAIKA = {"paika": Policy()}
ASKED = Question(ONE_NODE, (Rule.FIFO, Rule.EASY), Lengths.EXACT)


def test_what_is_given():
    given = replay_trace(TRACE, ASKED, PAIKA, dry_run=True).given
    assert (given.jobs, given.works, given.left, given.cards) == (14, 12, ("wide",), 8)
    assert given.counted == {FlawKind.UNSORTED: 2, FlawKind.VALUE: 1}
    assert given.card_s == sum((10 + n) * (1 + n % 8) for n in range(12))
    assert given.offered == pytest.approx(100 * given.card_s / (8 * 3))


def test_a_dry_run_plays_nothing():
    assert replay_trace(TRACE, ASKED, PAIKA, dry_run=True).reports == {}


def test_every_rule_plays_every_order():
    seen: list[tuple[str, int, int, int]] = []
    found = replay_trace(TRACE, replace(ASKED, orders=3), PAIKA, progress=lambda *step: seen.append(step))
    assert {rule: [one.total.works for one in reports] for rule, reports in found.reports.items()} == {
        "paika": [12] * 3,
        "fifo": [12] * 3,
        "easy": [12] * 3,
    }
    assert (seen[0][:2], seen[-1]) == (("paika", 0), ("easy", 2, 12, 12))


def test_orders_differ_only_within_a_second():
    first, *others = orders_of(TRACE, replace(ASKED, orders=4))
    assert [work.id for work in first.works][:3] == ["j0", "j1", "j2"]
    for other in others:
        assert [work.submit_s for work in other.works] == [work.submit_s for work in first.works]
        assert sorted(other.works, key=lambda w: w.id) == sorted(first.works, key=lambda w: w.id)
    assert any(other.works != first.works for other in others)


@pytest.mark.parametrize("count", [0, 101])
def test_too_few_or_too_many_orders(count: int):
    with pytest.raises(BadValue):
        replay_trace(TRACE, replace(ASKED, orders=count), PAIKA)


def test_lengths():
    true = [work.duration_s for work in load_to_play(TRACE, ASKED).works]
    assert [work.limit_s for work in load_to_play(TRACE, ASKED).works] == true
    assert {work.limit_s for work in load_to_play(TRACE, replace(ASKED, lengths=Lengths.TRACE)).works} == {None}
    drawn, again, other = (
        [work.limit_s for work in load_to_play(TRACE, replace(ASKED, lengths=Lengths.SYNTHETIC, length_seed=s)).works]
        for s in (1, 1, 2)
    )
    assert drawn == again != other
    assert all(real <= limit <= 5 * real + 1 for real, limit in zip(true, drawn, strict=True) if limit is not None)


def test_tiers_are_drawn_on_request_only():
    assert {work.tier for work in load_to_play(TRACE, ASKED).works} == {Tier.NORMAL}
    assert len({work.tier for work in load_to_play(TRACE, replace(ASKED, tier_seed=1)).works}) > 1


def test_the_first_jobs_only():
    found = replay_trace(TRACE, replace(ASKED, most=5), PAIKA, dry_run=True)
    assert found.given.works == 5


def test_each_order_draws_anew():
    asked = replace(ASKED, orders=2, lengths=Lengths.SYNTHETIC, length_seed=1, tier_seed=1)
    first, second = orders_of(TRACE, asked)
    by_id = {work.id: work for work in second.works}
    assert [work.limit_s for work in first.works] != [by_id[work.id].limit_s for work in first.works]
    assert [work.tier for work in first.works] != [by_id[work.id].tier for work in first.works]
    assert orders_of(TRACE, asked) == (first, second)


def test_readiness_is_drawn_for_a_fifth():
    many = Trace("many", tuple(job(f"j{n}", n, 10) for n in range(1000)))
    late = [work.unready_s for work in load_to_play(many, replace(ASKED, readiness_seed=1)).works if work.unready_s]
    assert 150 < len(late) < 250
    assert 5000 < sum(late) / len(late) < 9500


def test_needs_of_vram_are_drawn_on_request_only():
    assert {work.vram_mib for work in load_to_play(TRACE, ASKED).works} == {0}
    drawn = {work.vram_mib for work in load_to_play(TRACE, replace(ASKED, vram_seed=1)).works}
    assert drawn <= {gib * 1024 for gib in VRAM_SHARES}
    assert len(drawn) > 1
