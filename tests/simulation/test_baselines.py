"""The plain rules on loads that one can follow by hand: one machine of eight cards, or two."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation.loads import ONE_NODE, TWO_NODES, job, load, starts

from paika.domain.trace import Job
from paika.simulation.baselines import Rule, UnknownRule, play_rule, rules_of
from paika.simulation.load import Cluster, Load, Played, cluster_of, load_of, with_lengths


def play(rule: Rule, *jobs: Job, cluster: Cluster = ONE_NODE) -> dict[str, int]:
    return starts(play_rule(rule, load(*jobs, cluster=cluster), cluster))


# a holds 6 of 8 cards until 100; big needs all 8; short ends before 100, long does not
QUEUE = (job("a", 0, 100, 6), job("big", 1, 10, 8), job("long", 2, 200, 2), job("short", 3, 50, 2))


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        (Rule.FIFO, {"a": 0, "big": 100, "long": 110, "short": 110}),
        (Rule.FIFO_SKIP, {"a": 0, "big": 202, "long": 2, "short": 100}),
        (Rule.EASY, {"a": 0, "big": 100, "long": 110, "short": 3}),
    ],
)
def test_who_may_pass_whom(rule: Rule, wanted: dict[str, int]):
    assert play(rule, *QUEUE) == wanted


def test_easy_lets_a_long_work_pass_that_leaves_the_heads_cards_alone():
    jobs = (job("a", 0, 100, 6), job("head", 1, 10, 6), job("long", 2, 500, 2), job("more", 3, 500, 2))
    assert play(Rule.EASY, *jobs) == {"a": 0, "head": 100, "long": 2, "more": 110}


def test_easy_lets_pass_what_ends_just_in_time():
    jobs = (job("a", 0, 100, 6), job("head", 1, 10, 8), job("just", 2, 98, 2), job("late", 2, 99, 2))
    assert play(Rule.EASY, *jobs) == {"a": 0, "head": 100, "just": 2, "late": 110}
    assert play(Rule.EASY, *jobs[:2], jobs[3]) == {"a": 0, "head": 100, "late": 110}


def test_easy_gives_what_is_spare_beside_the_head_only_once():
    jobs = (job("a", 0, 100, 4), job("head", 1, 10, 6), job("one", 2, 500, 2), job("two", 2, 500, 2))
    assert play(Rule.EASY, *jobs) == {"a": 0, "head": 100, "one": 2, "two": 110}


def test_easy_counts_cards_by_machine():
    """Four cards are free beside each of two runs; the head needs a whole machine, which frees up at 100."""
    jobs = (
        job("a", 0, 100, 4, nodes=1),
        job("fill", 0, 5, 4),
        job("b", 1, 300, 4),
        job("head", 6, 10, 8),
        job("long", 7, 200, 4),
    )
    got = play(Rule.EASY, *jobs, cluster=TWO_NODES)
    assert got["head"] == 100
    assert got["long"] == 7


def test_easy_keeps_for_the_head_what_is_not_free_now():
    """Three machines: one is free. The head needs two, of three from 100 on, so the free one may be used for longer."""
    cluster = cluster_of("3x8:A100-80G")
    jobs = (job("a", 0, 100, 16), job("b", 1, 5, 8), job("head", 2, 10, 16), job("long", 7, 500, 8))
    assert play(Rule.EASY, *jobs, cluster=cluster) == {"a": 0, "b": 1, "head": 100, "long": 7}


def test_shortest_first_and_least_service_first():
    jobs = (job("now", 0, 10, 8), job("wide", 1, 20, 8), job("slim", 2, 30, 1), job("mid", 3, 25, 4))
    assert play(Rule.SJF, *jobs) == {"now": 0, "wide": 10, "mid": 30, "slim": 30}
    assert play(Rule.QSSF, *jobs) == {"now": 0, "slim": 10, "mid": 10, "wide": 40}


def test_unknown_lengths_count_as_endless():
    made = load(job("now", 0, 10, 8), job("x", 1, 5, 8), told=False)
    known = with_lengths(load_of([job("now", 0, 10, 8), job("x", 1, 5, 8), job("y", 2, 5, 8)], ONE_NODE), [1, 1, 1])
    mixed = Load((*known.works[:1], made.works[1], known.works[2]))
    assert starts(play_rule(Rule.SJF, mixed, ONE_NODE)) == {"now": 0, "y": 10, "x": 15}


def test_gangs_are_all_or_nothing_on_one_type():
    cluster = cluster_of("1x8:A100-80G,1x8:H800")
    made = load_of([job("gang", 0, 10, 16)], cluster)
    assert made.left == ("gang",)
    assert play(Rule.FIFO, job("a", 0, 9, 1), job("gang", 1, 5, 16), cluster=TWO_NODES) == {"a": 0, "gang": 9}


def test_a_work_without_length_ends_at_once_and_frees_its_cards():
    assert play(Rule.FIFO, job("zero", 0, 0, 8), job("next", 0, 5, 8)) == {"zero": 0, "next": 0}


def test_names():
    assert rules_of("fifo, EASY,fifo") == (Rule.FIFO, Rule.EASY)
    with pytest.raises(UnknownRule):
        rules_of("fifo,best")


works = st.builds(
    job,
    st.uuids().map(str),
    st.integers(0, 40),
    st.integers(0, 30),
    st.sampled_from([1, 1, 2, 3, 4, 8, 16]),
)


def overfull(played: Played, cards: int) -> list[int]:
    """Seconds at which more cards were in use than there are."""
    change: dict[int, int] = {}
    for one in played.served:
        change[one.started_s] = change.get(one.started_s, 0) + one.work.cards
        change[one.ended_s] = change.get(one.ended_s, 0) - one.work.cards
    used, found = 0, []
    for at in sorted(change):
        used += change[at]
        if used > cards:
            found.append(at)
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(works, max_size=25), st.sampled_from(Rule))
def test_every_rule_serves_all_within_the_cards(jobs: list[Job], rule: Rule):
    made = load(*sorted(jobs, key=lambda one: one.submit_s), cluster=TWO_NODES)
    played = play_rule(rule, made, TWO_NODES)
    assert len(played.served) == len(made.works)
    assert played.left == ()
    assert overfull(played, TWO_NODES.cards) == []
    assert all(one.wait_s >= 0 for one in played.served)


@settings(max_examples=60, deadline=None)
@given(st.lists(works, max_size=25))
def test_easy_never_starts_the_head_later_than_strict_order_would_with_true_lengths(jobs: list[Job]):
    """With true lengths on one machine the first that waits is never delayed, so neither is the first of all."""
    made = load(*sorted((one for one in jobs if one.cards != 16), key=lambda one: one.submit_s))
    strict, easy = (starts(play_rule(rule, made, ONE_NODE)) for rule in (Rule.FIFO, Rule.EASY))
    waiting = next((work.id for work in made.works if strict[work.id] > work.submit_s), None)
    if waiting is not None:
        assert easy[waiting] <= strict[waiting]
