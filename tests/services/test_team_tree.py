"""Teams below teams: at every door a parent is there, and no team comes to stand below itself."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab import Lab

from paika.adapters.inventory_yaml.reader import read_inventory
from paika.domain.access import SERVER
from paika.domain.inventory import UnknownName
from paika.domain.problem import BadValue, NotFound, Several
from paika.domain.team import Team, TeamRing
from paika.ports.store import AuditQuery
from paika.services.load_inventory import load_inventory
from paika.services.manage_people import change_team, create_team
from paika.services.team_tree import rings_of

NAMES = "abcdef"


@pytest.fixture
def lab() -> Lab:
    return Lab()


def load(lab: Lab, teams: str) -> None:
    load_inventory(lab.store, lab.clock, SERVER, read_inventory(f"teams: [{teams}]"))


def change(lab: Lab, team: str, **changes: object) -> Team:
    return change_team(lab.store, lab.clock, lab.actor("ann"), replace(lab.records.teams[team], **changes))


class TestByHand:
    def test_a_team_gets_its_weight_and_place_and_the_change_is_on_record(self, lab):
        create_team(lab.store, lab.clock, lab.actor("ann"), Team("ocr", "OCR", weight=30, parent="vision"))
        assert change(lab, "ocr", weight=70).weight == 70
        assert (lab.records.teams["ocr"].parent, lab.records.teams["vision"].parent) == ("vision", "")
        entry = lab.store.audit(AuditQuery("team", "ocr")).rows[0]
        assert (entry.old, entry.new) == ({"weight": "30"}, {"weight": "70"})

    @pytest.mark.parametrize("weight", [0, -1, 10_001])
    def test_a_weight_has_bounds(self, lab, weight):
        with pytest.raises(BadValue) as refusal:
            change(lab, "vision", weight=weight)
        assert (refusal.value.field, refusal.value.allowed) == ("weight", "1..10000")

    def test_a_parent_is_there(self, lab):
        with pytest.raises(NotFound) as refusal:
            create_team(lab.store, lab.clock, lab.actor("ann"), Team("ocr", "OCR", parent="nobody"))
        assert (refusal.value.field, refusal.value.id) == ("parent", "nobody")

    def test_nobody_comes_to_stand_below_himself(self, lab):
        with pytest.raises(TeamRing):
            change(lab, "vision", parent="vision")
        with pytest.raises(TeamRing):
            create_team(lab.store, lab.clock, lab.actor("ann"), Team("new", "New", parent="new"))
        change(lab, "text", parent="vision")
        with pytest.raises(TeamRing) as refusal:
            change(lab, "vision", parent="text")
        assert refusal.value.ring == ("vision", "text", "vision")
        assert lab.records.teams["vision"].parent == ""


class TestByInventory:
    def test_what_the_file_does_not_name_stays_as_people_set_it(self, lab):
        change(lab, "text", weight=7, parent="vision")
        load(lab, "{id: text, name: Text}")
        assert (lab.records.teams["text"].weight, lab.records.teams["text"].parent) == (7, "vision")

    def test_what_it_names_is_set(self, lab):
        change(lab, "text", weight=7, parent="vision")
        load(lab, "{id: text, weight: 100, parent: ''}, {id: ocr, parent: text, weight: 3}")
        teams = lab.records.teams
        assert (teams["text"].weight, teams["text"].parent) == (100, "")
        assert (teams["ocr"].weight, teams["ocr"].parent) == (3, "text")

    def test_a_new_team_weighs_as_all_others_and_stands_on_top(self, lab):
        load(lab, "{id: ocr}")
        assert (lab.records.teams["ocr"].weight, lab.records.teams["ocr"].parent) == (100, "")

    def test_an_unknown_parent_is_named_and_nothing_is_written(self, lab):
        before = lab.records.teams
        with pytest.raises(UnknownName) as refusal:
            load(lab, "{id: ocr, parent: visoin}")
        assert (refusal.value.id, refusal.value.nearest[0]) == ("visoin", "vision")
        assert lab.records.teams == before

    def test_a_ring_with_what_stands_already_is_refused(self, lab):
        change(lab, "text", parent="vision")
        before = lab.records.teams
        with pytest.raises(TeamRing) as refusal:
            load(lab, "{id: vision, parent: text}")
        assert set(refusal.value.ring) == {"vision", "text"}
        assert lab.records.teams == before

    def test_two_rings_are_told_at_once_and_each_once(self, lab):
        with pytest.raises(Several) as refusal:
            load(lab, "{id: a, parent: b}, {id: b, parent: a}, {id: c, parent: c}, {id: d, parent: a}")
        assert [problem.ring for problem in refusal.value.problems] == [("a", "b", "a"), ("c", "c")]

    def test_weights_out_of_bounds_and_odd_parents_are_faults_of_the_file(self):
        with pytest.raises(Several) as refusal:
            read_inventory("teams: [{id: a, weight: 0}, {id: b, weight: 10001}, {id: c, parent: 'No Slug'}]")
        assert [type(problem) for problem in refusal.value.problems] == [BadValue] * 3


@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES + "-"), min_size=1))
def test_without_a_ring_everybody_comes_to_the_top_and_with_one_somebody_does_not(parents):
    teams = {name: Team(name, name, parent=parents[name]) for name in parents}

    def comes_up(name: str) -> bool:
        for _ in NAMES:
            name = parents.get(name, "")
        return name not in parents

    stuck = {name for name in teams if not comes_up(name)}
    rings = rings_of(teams, sorted(teams), "parent")
    assert bool(rings) == bool(stuck)
    members = [name for ring in rings for name in ring.ring[:-1]]
    assert len(members) == len(set(members))
    assert set(members) <= stuck
