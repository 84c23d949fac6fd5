"""Guarantees on the board: first who would slip, then granted, changed, taken back; weight and place of teams."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.board.test_rows import guest

from paika.domain.guarantee import Guarantee
from paika.domain.records import Change
from paika.interfaces.board.mount import mount_board
from paika.ports.store import AuditQuery

HERE = {"Origin": "http://testserver"}


@pytest.fixture
def door() -> Door:
    """Idle runs of vision on all A100s, for long; a core task of text waits for one of them."""
    made = Door()
    mount_board(made.app, made.context)
    lab = made.lab
    lab.store.update(lambda now: Change(policy=replace(now.policy, preempt_without_checkpoint=True, version=2)))
    for n in range(4):
        lent = lab.submit("mia", name=f"<lent {n}>", tier="idle", preemptible=True, types="A100-80G", limit="9h")
        lab.run(lent, f"a{n}", preemptible=True, grace_s=60)
    lab.clock.move(hours=1)
    lab.submit("leo", tier="core", types="A100-80G", limit="2h", name="urgent")
    return made


def post(visitor, path: str, **fields: str):
    return visitor.post(f"{path}?lang=en", data=fields, headers=HERE)


def floor(door: Door, key: str = "text/A100-80G") -> Guarantee:
    return door.lab.records.guarantees[key]


class TestGuarantees:
    asked = {"team": "text", "cards": "1", "types": "A100-80G", "together": "1", "version": "0"}

    def test_first_it_only_tells_what_it_would_stop(self, door):
        ann = guest(door, "ann")
        assert "/guarantees/new" in ann.get("/bookings").text
        told = post(ann, "/guarantees/new", check="1", **self.asked).text
        for part in ("nothing is written yet", "would stop &lt;lent 0&gt;", "1.0 card-hours"):
            assert part in told
        assert "<lent" not in told
        assert door.lab.records.guarantees == {}

    def test_granted_changed_and_taken_back(self, door):
        ann = guest(door, "ann")
        assert post(ann, "/guarantees/new", **self.asked, note="paper", reason="deal").status_code == 204
        one = floor(door)
        assert (one.cards, one.note) == (1, "paper")
        assert door.lab.store.audit(AuditQuery("guarantee", one.id)).rows[0].why == "deal"
        page = ann.get("/bookings?lang=en").text
        assert "/guarantees/edit/text/A100-80G" in page
        form = ann.get("/guarantees/edit/text/A100-80G?lang=en").text
        assert 'value="1"' in form
        assert 'name="team"' not in form
        asked = {"cards": "2", "together": "2", "note": "", "version": "1"}
        assert post(ann, "/guarantees/edit/text/A100-80G", check="1", **asked).status_code == 200
        assert floor(door) == one
        assert post(ann, "/guarantees/edit/text/A100-80G", **asked).status_code == 204
        assert (floor(door).cards, floor(door).together, floor(door).note) == (2, 2, "")
        stale = post(ann, "/guarantees/edit/text/A100-80G", **asked)
        assert (stale.status_code, floor(door).version) == (422, 2)
        ask = ann.get("/guarantees/withdraw/text/A100-80G?lang=en").text
        assert "no longer: 1" in ask
        assert post(ann, "/guarantees/withdraw/text/A100-80G", version="1").status_code == 422
        assert post(ann, "/guarantees/withdraw/text/A100-80G", version="2", reason="over").status_code == 204
        assert door.lab.records.guarantees == {}

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [({"cards": "many"}, "cards"), ({"cards": ""}, "cards"), ({"types": "A1000"}, "types"), ({"team": ""}, "team"),
         ({"together": "3", "cards": "4"}, "together")],
    )  # fmt: skip
    def test_what_is_wrong_stands_beside_its_field(self, door, wrong, field):
        ann = guest(door, "ann")
        for button in ({}, {"check": "1"}):
            answer = post(ann, "/guarantees/new", **{**self.asked, **wrong, **button})
            assert answer.status_code == 422
            assert f'id="w-{field}"' in answer.text
        assert door.lab.records.guarantees == {}

    def test_what_has_no_room_is_refused_with_the_figures(self, door):
        answer = post(guest(door, "ann"), "/guarantees/new", **{**self.asked, "cards": "40"})
        assert answer.status_code == 422
        assert "40 cards" in answer.text

    def test_one_that_is_there_is_not_overwritten_by_a_new_one(self, door):
        door.lab.put(Guarantee("text/A100-80G", "text", 3, ("A100-80G",)))
        assert post(guest(door, "ann"), "/guarantees/new", **self.asked).status_code == 422
        assert floor(door).cards == 3

    @pytest.mark.parametrize("person", ["lea", "mia", "vic"])
    def test_others_are_neither_offered_nor_let(self, door, person):
        door.lab.put(Guarantee("text/A100-80G", "text", 1, ("A100-80G",)))
        visitor = guest(door, person)
        assert "/guarantees/" not in visitor.get("/bookings").text
        for path in ("/guarantees/new", "/guarantees/edit/text/A100-80G", "/guarantees/withdraw/text/A100-80G"):
            assert visitor.get(path).status_code == 403
            assert post(visitor, path, **self.asked, check="1").status_code == 403
            assert post(visitor, path, **self.asked).status_code == 403
        assert floor(door).cards == 1

    def test_a_booking_that_is_looked_at_tells_who_slips_too(self, door):
        asked = {"starts_at": "2026-12-01T19:00", "duration": "4h", "cards": "4", "types": "A100-80G", "team": "text"}
        door.lab.submit("max", types="A100-80G", limit="9h", name="patient", cards=4)
        told = post(guest(door, "ann"), "/bookings", check="1", **asked).text
        assert 'id="slips"' in told
        assert "patient" in told
        assert door.lab.records.reservations == {}


class TestTeams:
    def test_weight_and_parent_are_shown_and_changed(self, door):
        ann = guest(door, "ann")
        page = ann.get("/teams?lang=en").text
        assert page.count("50 %") == 2
        assert post(ann, "/teams", id="lab", name="Whole lab", weight="300").status_code == 204
        asked = {"name": "Vision", "weight": "250", "parent": "lab", "note": "", "active": "true", "version": "1"}
        assert post(ann, "/teams/vision/edit", **asked, reason="grant").status_code == 204
        team = door.lab.records.teams["vision"]
        assert (team.name, team.weight, team.parent, team.version) == ("Vision", 250, "lab", 2)
        page = ann.get("/teams?lang=en").text
        for part in ("250", "below Whole lab", "100 %", "75 %", "25 %"):
            assert part in page
        form = ann.get("/teams/vision/edit?lang=en").text
        assert '<option value="lab" selected' in form
        assert '<option value="vision"' not in form

    @pytest.mark.parametrize(
        ("wrong", "field"),
        [({"weight": "0"}, "weight"), ({"weight": "much"}, "weight"), ({"name": " "}, "name"),
         ({"parent": "nobody"}, "parent"), ({"parent": "text"}, "parent")],
    )  # fmt: skip
    def test_what_is_wrong_stands_beside_its_field(self, door, wrong, field):
        text = door.lab.records.teams["text"]
        door.lab.put(replace(text, parent="vision", version=2))
        asked = {"name": "Vision", "weight": "100", "parent": "", "active": "true", "version": "1", **wrong}
        answer = post(guest(door, "ann"), "/teams/vision/edit", **asked)
        assert answer.status_code == 422
        assert f'id="w-{field}"' in answer.text
        assert door.lab.records.teams["vision"].version == 1

    def test_a_team_is_switched_off_and_on(self, door):
        ann = guest(door, "ann")
        for active, version in (("false", "1"), ("true", "2")):
            asked = {"name": "Text", "weight": "100", "parent": "", "active": active, "version": version}
            assert post(ann, "/teams/text/edit", **asked).status_code == 204
            assert door.lab.records.teams["text"].active is (active == "true")

    def test_only_admins_change_teams(self, door):
        for person in ("lea", "mia", "vic"):
            visitor = guest(door, person)
            assert "/edit" not in visitor.get("/teams").text
            assert visitor.get("/teams/vision/edit").status_code == 403
            assert post(visitor, "/teams/vision/edit", name="x", weight="1").status_code == 403
        assert door.lab.records.teams["vision"].version == 1
