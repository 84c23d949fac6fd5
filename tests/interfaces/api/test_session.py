"""The browser's session: a cookie that only our own pages can use to change anything."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from tests.interfaces.api.door import Door

from paika.interfaces.api.session import COOKIE
from paika.services.manage_access import revoke_token

FORM = {"name": "x", "command": "true"}


@pytest.fixture
def door() -> Door:
    return Door(session_hours=10)


def log_in(door: Door, person: str = "mia"):
    client = door.anybody()
    answer = client.post("/session", json={"token": door.secret(person)})
    assert answer.status_code == 200
    return client, answer.headers["set-cookie"]


def test_the_cookie_cannot_be_read_or_sent_from_elsewhere(door):
    client, cookie = log_in(door)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    assert client.get("/me").json()["person"]["id"] == "mia"
    _, secure = log_in(Door(https=True))
    assert "Secure" in secure


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"X-Paika": "1"}, 201),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": "http://testserver"}, 201),
    ],
)
def test_a_change_by_cookie_needs_proof_that_our_page_asks(door, headers, status):
    client, _ = log_in(door)
    assert client.post("/tasks", json=FORM, headers=headers).status_code == status
    assert len(door.lab.records.tasks) == (status == 201)


def test_audit_tells_the_door(door):
    client, _ = log_in(door)
    client.post("/tasks", json=FORM, headers={"X-Paika": "1"})
    secret = door.secret("mia")
    door.anybody().post("/tasks", json=FORM, headers={"Authorization": f"Bearer {secret}", "X-Paika-Door": "cli"})
    rows = door.client("ann").get("/audit?noun=task").json()["rows"]
    assert [row["door"] for row in rows] == ["cli", "board"]


def test_wrong_tokens_forged_and_old_cookies_let_nobody_in(door):
    for body in ({"token": "paika_k1_00"}, {"token": 1}, {}, [], {"token": "\udfff"}):
        assert door.anybody().post("/session", content=json.dumps(body)).status_code in (401, 422)
    client, _ = log_in(door)
    forged = door.anybody()
    forged.cookies.set(COOKIE, client.cookies[COOKIE][:-2] + "xx")
    assert forged.get("/me").status_code == 401
    other = Door()
    other.secret("mia")
    elsewhere = other.anybody()
    elsewhere.cookies.set(COOKIE, client.cookies[COOKIE])
    assert elsewhere.get("/me").status_code == 200  # the very same key: the signature holds
    door.lab.clock.at += timedelta(hours=10)
    assert client.get("/me").status_code == 401


def test_no_other_site_logs_anybody_in(door):
    body = {"token": door.secret("mia")}
    answer = door.anybody().post("/session", json=body, headers={"Origin": "http://evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (403, "access.cross_site")
    assert "set-cookie" not in answer.headers


def test_a_session_dies_with_its_token(door):
    client, _ = log_in(door)
    revoke_token(door.lab.store, door.lab.clock, door.lab.actor("mia"), "k1")
    assert client.get("/me").status_code == 401


def test_logging_out_takes_the_cookie(door):
    client, _ = log_in(door)
    assert client.request("DELETE", "/session", headers={"X-Paika": "1"}).status_code == 200
    assert client.get("/me").status_code == 401
