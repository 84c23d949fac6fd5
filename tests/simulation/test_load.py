"""Jobs as a cluster can run them."""

from __future__ import annotations

import pytest
from tests.simulation.loads import ONE_NODE, TWO_NODES, job, load

from paika.domain.problem import BadValue
from paika.domain.task import Tier
from paika.domain.type_names import UnknownCardType
from paika.simulation.load import Feed, cluster_of, load_of, reordered, with_lengths, with_tiers, with_vram


def test_a_cluster_is_read():
    cluster = cluster_of("64x8:A100-80G, 2×4:RTX 4090")
    assert cluster.cards == 520
    assert [t.id for t in cluster.types] == ["RTX 4090", "A100-80G"]
    assert cluster.sizes("RTX 4090") == [4, 4]


@pytest.mark.parametrize("asked", ["", "64", "64x8", "0x8:A100-80G", "1x0:A100-80G", "1x65:A100-80G", "64x8:"])
def test_what_is_no_cluster_is_refused(asked: str):
    with pytest.raises(BadValue):
        cluster_of(asked)


def test_a_model_that_nobody_knows_is_refused():
    with pytest.raises(UnknownCardType):
        cluster_of("1x8:X9000")


@pytest.mark.parametrize(
    ("cards", "stated", "nodes"), [(8, None, 1), (16, None, 2), (12, None, 2), (8, 2, 2), (9, None, None), (9, 2, None)]
)
def test_a_job_is_spread_evenly_over_as_few_machines_as_it_fits(cards: int, stated: int | None, nodes: int | None):
    made = load_of([job("a", 0, 1, cards, nodes=stated)], TWO_NODES)
    assert [work.nodes for work in made.works] == ([] if nodes is None else [nodes])
    assert made.left == (() if nodes else ("a",))


def test_only_allowed_types_serve():
    cluster = cluster_of("1x8:A100-80G,1x8:RTX 4090")
    jobs = [job("a", 0, 1, types=("4090", "T4")), job("b", 0, 1, types=("T4",)), job("c", 0, 1)]
    made = load_of(jobs, cluster)
    assert [work.types for work in made.works] == [("RTX 4090",), ("RTX 4090", "A100-80G")]
    assert made.left == ("b",)


def test_seconds_are_whole_and_count_from_the_first_submit():
    made = load_of([job("a", 100.5, 0.2), job("b", 101.6, 3)], ONE_NODE)
    assert [(work.submit_s, work.duration_s) for work in made.works] == [(0, 1), (2, 3)]
    assert made.works[0].length_s is None


def test_what_never_ran_is_not_played():
    made = load_of([job("a", 0, 1, started=False), job("b", 5, 1)], ONE_NODE)
    assert [(work.id, work.submit_s) for work in made.works] == [("b", 0)]


def test_lengths_tiers_and_ties():
    made = load(job("a", 0, 10), job("b", 0, 10), job("c", 1, 10))
    assert [w.limit_s for w in with_lengths(made, [1, 2.55, 5]).works] == [10, 26, 50]
    tiers = [Tier.IDLE, Tier.CORE, Tier.NORMAL]
    assert [w.tier for w in with_tiers(made, tiers).works] == tiers
    assert [w.id for w in reordered(made, [0.9, 0.1, 0.0]).works] == ["b", "a", "c"]


def test_a_follower_comes_after_its_parent_and_some_thought():
    made = load(job("a", 0, 10), job("b", 3, 5, after="a", think_s=60), job("c", 500, 5, after="a"))
    feed = Feed(made.works)
    assert [work.id for _, work in feed.due(1000)] == ["a"]
    feed.ended(made.works[0], 30)
    assert [(at, work.id) for at, work in feed.due(1000)] == [(90, "b"), (500, "c")]


def test_vram_leaves_types_that_have_it():
    cluster = cluster_of("1x8:RTX 4090,1x8:A100-80G")
    made = with_vram(load_of((job("a", 0, 5), job("b", 0, 5)), cluster), cluster, [10_000, 900_000])
    assert [work.types for work in made.works] == [("RTX 4090", "A100-80G"), ("A100-80G",)]
    assert made.works[1].vram_mib == next(t.vram_mib for t in cluster.types if t.id == "A100-80G")
