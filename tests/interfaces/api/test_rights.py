"""Every route, every role, every scope: refused or let through, as one table."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.interfaces.api.door import Door

from paika.domain.access import Scope
from paika.domain.person import Role

WHO = {Role.VIEWER: "vic", Role.MEMBER: "mia", Role.LEAD: "lea", Role.ADMIN: "ann"}
ALL = frozenset(product(Role, Scope))


def who(*roles: Role, scopes: tuple[Scope, ...]) -> frozenset[tuple[Role, Scope]]:
    return frozenset(product(roles, scopes))


WORKERS = (Role.MEMBER, Role.LEAD, Role.ADMIN)
FROM_SUBMIT = (Scope.SUBMIT, Scope.MANAGE, Scope.ADMIN)
FROM_MANAGE = (Scope.MANAGE, Scope.ADMIN)
WORK = who(*WORKERS, scopes=FROM_SUBMIT)
OTHERS_TASK = who(Role.LEAD, Role.ADMIN, scopes=FROM_MANAGE)  # the task is another member's of the same team
CARDS = who(Role.ADMIN, scopes=FROM_MANAGE)
HOUSE = who(Role.ADMIN, scopes=(Scope.ADMIN,))
AUDIT = who(Role.LEAD, Role.ADMIN, scopes=(Scope.READ, Scope.MANAGE, Scope.ADMIN))
OWN_TOKEN = who(*Role, scopes=FROM_SUBMIT)

FORM = {"name": "x", "command": "true"}
CSV = {"file": ("t.csv", "任务名,命令,卡数\nx,true,1\n".encode())}
WHY = {"reason": "because"}
ROUTES: dict[tuple[str, str], tuple[frozenset[tuple[Role, Scope]], dict[str, Any]]] = {
    ("GET", "/overview"): (ALL, {}),
    ("GET", "/due"): (ALL, {}),
    ("GET", "/policy"): (ALL, {}),
    ("PATCH", "/policy"): (HOUSE, {"json": {"age_points_max": 30, **WHY}}),
    ("GET", "/policy/versions"): (ALL, {}),
    ("POST", "/policy/rollback"): (HOUSE, {"json": {"to": 1, **WHY}}),
    ("GET", "/plan"): (ALL, {}),
    ("POST", "/plan/preview"): (WORK, {"json": {"kind": "new_task", "form": {"cards": 1, "team": "vision"}}}),
    ("GET", "/plan/snapshot"): (HOUSE, {}),
    ("GET", "/openapi.json"): (ALL, {}),
    ("DELETE", "/session"): (ALL, {}),
    ("POST", "/tasks/import"): (WORK, {"files": CSV}),
    ("GET", "/tasks"): (ALL, {}),
    ("POST", "/tasks"): (WORK, {"json": FORM}),
    ("GET", "/tasks/form"): (ALL, {}),
    ("GET", "/tasks/{task_id}"): (ALL, {}),
    ("PATCH", "/tasks/{task_id}"): (OTHERS_TASK, {"json": {"priority": 60}}),
    ("POST", "/tasks/{task_id}/hold"): (OTHERS_TASK, {"json": WHY}),
    ("POST", "/tasks/{task_id}/release"): (OTHERS_TASK, {"json": WHY}),
    ("POST", "/tasks/{task_id}/cancel"): (OTHERS_TASK, {"json": WHY}),
    ("GET", "/tasks/{task_id}/move"): (CARDS, {"params": {"points": 30}}),
    ("POST", "/tasks/{task_id}/move"): (CARDS, {"json": WHY | {"points": 30}}),
    ("GET", "/tasks/{task_id}/why"): (ALL, {}),
    ("GET", "/tasks/{task_id}/runs"): (ALL, {}),
    ("GET", "/tasks/{task_id}/log"): (ALL, {}),
    ("GET", "/tasks/{task_id}/log/file"): (ALL, {}),
    ("GET", "/cards"): (ALL, {}),
    ("GET", "/cards/{card_id}"): (ALL, {}),
    ("POST", "/cards/{card_id}/drain"): (CARDS, {"json": WHY}),
    ("POST", "/cards/{card_id}/release"): (CARDS, {"json": WHY}),
    ("GET", "/nodes"): (ALL, {}),
    ("POST", "/nodes/{node_id}/drain"): (CARDS, {"json": WHY}),
    ("POST", "/nodes/{node_id}/release"): (CARDS, {"json": WHY}),
    ("GET", "/card-types"): (ALL, {}),
    ("GET", "/timeline"): (ALL, {}),
    ("GET", "/forecasts/hit-rate"): (ALL, {}),
    ("GET", "/datasets"): (ALL, {}),
    ("GET", "/readiness"): (ALL, {}),
    ("POST", "/datasets"): (WORK, {"json": {"name": "new"}}),
    ("GET", "/datasets/{dataset_id}"): (ALL, {}),
    ("PATCH", "/datasets/{dataset_id}"): (WORK, {"json": {"readiness": "ready"}}),
    ("PUT", "/datasets/{dataset_id}/probe"): (WORK, {"json": {"probe": "marker", "target": "/data/ready"}}),
    ("GET", "/datasets/{dataset_id}/history"): (ALL, {}),
    ("GET", "/me"): (ALL, {}),
    ("GET", "/teams"): (ALL, {}),
    ("POST", "/teams"): (HOUSE, {"json": {"id": "new", "name": "New"}}),
    ("PATCH", "/teams/{team_id}"): (HOUSE, {"json": {"note": "x"}}),
    ("GET", "/people"): (ALL, {}),
    ("POST", "/people"): (HOUSE, {"json": {"id": "new", "name": "New"}}),
    ("PATCH", "/people/{person_id}"): (HOUSE, {"json": {"name": "x"}}),
    ("GET", "/quotas"): (ALL, {}),
    ("PUT", "/quotas/{team_id}"): (HOUSE, {"json": {"max_cards": 4}}),
    ("GET", "/tokens"): (ALL, {}),
    ("POST", "/tokens"): (OWN_TOKEN, {"json": {"scopes": ["submit"]}}),
    ("POST", "/tokens/{token_id}/revoke"): (HOUSE, {}),
    ("GET", "/reservations"): (ALL, {}),
    ("POST", "/reservations"): (WORK, {"json": {"duration": "1h", "card_ids": "a1", "team": "vision"}}),
    ("GET", "/reservations/{reservation_id}"): (ALL, {}),
    ("PATCH", "/reservations/{reservation_id}"): (OTHERS_TASK, {"json": {"title": "x"}}),
    ("POST", "/reservations/{reservation_id}/approve"): (OTHERS_TASK, {}),
    ("DELETE", "/reservations/{reservation_id}"): (OTHERS_TASK, {"params": WHY}),
    ("GET", "/guarantees"): (ALL, {}),
    ("GET", "/guarantees/{guarantee_id}"): (ALL, {}),
    ("PUT", "/guarantees/{guarantee_id}"): (HOUSE, {"json": {"cards": 1}}),
    ("DELETE", "/guarantees/{guarantee_id}"): (HOUSE, {}),
    ("GET", "/usage"): (ALL, {}),
    ("GET", "/ledger"): (ALL, {}),
    ("GET", "/audit"): (AUDIT, {}),
    ("GET", "/events"): (ALL, {}),
}
OPEN = {("GET", "/health"), ("POST", "/session")}


def place(path: str) -> str:
    return path.format(
        task_id="t-1", card_id="a0", node_id="n1", dataset_id="d-1", team_id="vision", person_id="tim", token_id="k1",
        reservation_id="b-1", guarantee_id="vision",
    )  # fmt: skip


def fresh() -> Door:
    door = Door()
    door.lab.submit("max")
    door.secret("tim", Scope.READ)  # k1
    asked = {"starts_at": "2026-12-02 09:00", "duration": "1h", "cards": 1}
    assert door.client("max").post("/reservations", json=asked).status_code == 201  # b-1
    return door


def test_the_table_names_every_route():
    paths = Door().app.openapi()["paths"]
    served = {(method.upper(), path.removeprefix("/api/v1")) for path, methods in paths.items() for method in methods}
    assert served == ROUTES.keys() | OPEN


def test_nobody_gets_in_without_a_token():
    door = fresh()
    before = door.lab.records
    for (method, path), (_, more) in ROUTES.items():
        for headers in ({}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer paika_k1_0"}):
            answer = door.anybody().request(method, place(path), headers=headers, **more)
            assert answer.status_code == 401, (method, path)
            assert answer.json()["code"] == "access.not_authenticated"
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert door.lab.records is before


@pytest.mark.parametrize(("method", "path"), sorted(set(ROUTES) - {("GET", "/events")}))
def test_roles_and_scopes(method, path):
    allowed, more = ROUTES[method, path]
    verdicts, door = {}, fresh()
    for role, scope in sorted(ALL):
        answer = door.client(WHO[role], scope).request(method, place(path), **more)
        assert answer.status_code < 500, answer.text
        hidden = path == "/tokens/{token_id}/revoke" and answer.status_code == 404  # not even that there is one
        verdicts[role, scope] = answer.status_code != 403 and not hidden
    assert {pair for pair, let in verdicts.items() if let} == allowed


def test_health_tells_no_more_than_that_it_lives():
    answer = Door(version="1.2").anybody().get("/health")
    assert answer.json() == {"ok": True, "version": "1.2"}
