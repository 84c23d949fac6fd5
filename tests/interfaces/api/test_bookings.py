"""Bookings, maintenance and guarantees through the API."""

from __future__ import annotations

import pytest
from tests.interfaces.api.door import Door

WINDOW = {"starts_at": "2026-12-02 09:00", "ends_at": "2026-12-02 18:00"}


@pytest.fixture
def door() -> Door:
    return Door()


def test_a_window_is_asked_for_approved_changed_and_cancelled(door):
    member, lead = door.client("mia"), door.client("lea")
    made = member.post("/reservations", json={**WINDOW, "cards": 2, "types": "A100", "title": "deadline"})
    assert made.status_code == 201
    assert made.headers["Location"] == "/api/v1/reservations/b-1"
    assert made.json()["reservation"]["state"] == "listed"
    assert member.get("/reservations").json()["rows"][0]["shows"] == "asked"
    through = lead.post("/reservations/b-1/approve", headers={"If-Match": made.headers["ETag"]})
    assert through.json()["reservation"]["cards"] == ["a0", "a1"]
    changed = lead.patch("/reservations/b-1", json={"nodes": ["n1"], "until": "2026-12-02 20:00", "reason": "more"})
    assert changed.json()["reservation"]["ends_at"] == "2026-12-02T20:00:00Z"
    assert changed.json()["reservation"]["wanted"] == 4
    assert lead.patch("/reservations/b-1", json={"title": "x"}, headers={"If-Match": '"1"'}).status_code == 412
    assert lead.delete("/reservations/b-1").json()["code"] == "field.missing"
    gone = lead.delete("/reservations/b-1", params={"reason": "moved"})
    assert gone.json()["reservation"]["state"] == "cancelled"
    again = lead.delete("/reservations/b-1", params={"reason": "moved"})
    assert (again.status_code, again.json()["code"]) == (409, "reservation.over")


def test_a_clash_is_told_in_words_and_a_dry_run_writes_nothing(door):
    lead = door.client("lea")
    before = door.lab.records.version
    dry = lead.post("/reservations", json={**WINDOW, "card_ids": ["a0"], "dry_run": True})
    assert (dry.status_code, dry.json()["dry_run"], door.lab.records.version) == (200, True, before)
    lead.post("/reservations", json={**WINDOW, "card_ids": ["a0"]})
    refused = lead.post("/reservations", json={**WINDOW, "card_ids": ["a0"]})
    assert refused.status_code == 409
    assert refused.json()["message"].startswith("a0: booked for vision from 12-02 09:00 until")
    chinese = lead.post("/reservations?lang=zh", json={**WINDOW, "卡号": "a0"}).json()
    assert chinese["message"] == "a0 在 12-02 09:00 至 12-02 18:00 已预约给 vision（b-1），时间有重叠。"
    listed = lead.post("/reservations", json={**WINDOW, "card_ids": ["a0"], "waitlist": True})
    assert listed.json()["reservation"]["state"] == "listed"


def test_whom_a_booking_meets_is_told(door):
    door.lab.run(door.lab.submit("tim"), "a0")
    done = door.client("lea").post("/reservations", json={"duration": "1h", "card_ids": ["a0"]}).json()
    assert done["held"][0]["owner"]["name"] == "Tim"
    assert done["held"][0]["ending"]["at"] is None
    one = door.client("vic").get("/reservations/b-1").json()
    assert (one["row"]["shows"], one["held"]) == ("now", done["held"])


def test_the_same_key_books_once(door):
    lead = door.client("lea")
    answers = [
        lead.post("/reservations", json={**WINDOW, "cards": 1}, headers={"Idempotency-Key": "k"}) for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert len(door.lab.records.reservations) == 1


def test_lists_are_filtered(door):
    lead = door.client("lea")
    lead.post("/reservations", json={**WINDOW, "cards": 1})
    door.client("ann").post("/reservations", json={"purpose": "maintenance", "nodes": "n2", "duration": "2h"})

    def ids(query: str) -> list[str]:
        return [row["reservation"]["id"] for row in lead.get(f"/reservations?{query}").json()["rows"]]

    assert ids("") == ["b-2", "b-1"]
    assert ids("team=vision") == ["b-1"]
    assert ids("from=2026-12-02") == ["b-1"]
    assert ids("until=2026-12-02") == ["b-2"]
    assert ids("state=booked&state=listed") == ["b-2", "b-1"]
    assert ids("state=cancelled") == []
    assert lead.get("/reservations?state=blue").status_code == 422


def test_guarantees_are_set_and_taken_back(door):
    admin = door.client("ann")
    made = admin.put("/guarantees/vision", json={"cards": 2, "types": "A100", "note": "paper"})
    assert made.json()["guarantee"]["id"] == "vision/A100-80G"
    same = admin.put("/guarantees/vision/A100-80G", json={"cards": 4, "together": 4}, headers={"If-Match": '"1"'})
    assert (same.json()["guarantee"]["version"], same.headers["ETag"]) == (2, '"2"')
    assert admin.get("/guarantees").json()["rows"] == [same.json()]
    assert admin.get("/guarantees/vision%2FA100-80G").json() == same.json()
    refused = admin.put("/guarantees/text", json={"cards": 3})
    assert (refused.status_code, refused.json()["code"]) == (409, "guarantee.no_room")
    assert refused.json()["facts"]["room"] == 2
    assert admin.put("/guarantees/text", json={}).json()["problems"][0]["code"] == "field.missing"
    assert admin.put("/guarantees/vision/A100-80G", json={"cards": 1, "types": "H100"}).status_code == 422
    gone = admin.delete("/guarantees/vision/A100-80G", params={"reason": "done"})
    assert gone.json()["guarantee"] is None
    assert admin.delete("/guarantees/vision/A100-80G").status_code == 404
