"""Teams, people, quotas and tokens."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain import form
from paika.domain.access import Act
from paika.domain.problem import FieldMissing
from paika.domain.team import EQUAL_WEIGHT
from paika.interfaces.api.doors import Body, Caller, Who, body_schema
from paika.services.access_form import (
    PERSON,
    QUOTA,
    TEAM,
    TOKEN,
    read_edit,
    read_person,
    read_team,
    read_token,
)
from paika.services.editing import found
from paika.services.grant_quota import set_quota
from paika.services.manage_access import create_token, list_tokens, revoke_token
from paika.services.manage_people import change_person, change_team, create_person, create_team
from paika.services.see_usage import see_holdings

router = APIRouter(tags=["people"])
_PERSON: dict[str, Any] = form.schema(PERSON)
_TEAM: dict[str, Any] = form.schema(TEAM)
_QUOTA: dict[str, Any] = form.schema(QUOTA)
_TOKEN: dict[str, Any] = form.schema(TOKEN)


def _edit(schema: dict[str, Any]) -> dict[str, Any]:
    return body_schema({key: value for key, value in schema.items() if key != "required"})


@router.get("/me")
def me(who: Who) -> Response:
    """Who I am, and what I may do with this token."""
    acts = [act for act in Act if who.actor.may(act)]
    person = who.records.people.get(who.actor.person)
    return who.answer({"person": person, "token": who.actor.token, "scopes": who.actor.scopes, "may": acts})


@router.get("/teams")
def teams(who: Who) -> Response:
    """All teams with what they hold now and may hold."""
    rows = [{"team": who.records.teams[h.team.id], "holding": h} for h in see_holdings(who.records)]
    return who.answer({"rows": rows, "total": len(rows)})


@router.post("/teams", status_code=201, openapi_extra=body_schema(_TEAM))
def add_team(who: Who, body: Body) -> Response:
    """A new team."""
    team = create_team(who.context.store, who.context.clock, who.actor, read_team(body, who.context.zone_name))
    return who.answer(team, 201, version=team.version)


@router.patch("/teams/{team_id}", openapi_extra=_edit(_TEAM))
def edit_team(who: Who, team_id: str, body: Body) -> Response:
    """Change a team's name, note, weight, parent, or whether it is active."""
    edit = read_edit(TEAM, {**body, "id": team_id}, who.context.zone_name)
    new = edit.over(found(who.records.teams, "team", team_id), note="", weight=EQUAL_WEIGHT, parent="")
    team = change_team(who.context.store, who.context.clock, who.actor, new, if_version=_read(who, new), why=edit.why)
    return who.answer(team, version=team.version)


@router.get("/people")
def people(who: Who) -> Response:
    """Everybody."""
    rows = [who.records.people[key] for key in sorted(who.records.people)]
    return who.answer({"rows": rows, "total": len(rows)})


@router.post("/people", status_code=201, openapi_extra=body_schema(_PERSON))
def add_person(who: Who, body: Body) -> Response:
    """Somebody new."""
    new = read_person(body, who.context.zone_name)
    person = create_person(who.context.store, who.context.clock, who.actor, new)
    return who.answer(person, 201, version=person.version)


@router.patch("/people/{person_id}", openapi_extra=_edit(_PERSON))
def edit_person(who: Who, person_id: str, body: Body) -> Response:
    """Change somebody's name, role, teams, or whether he is active."""
    edit = read_edit(PERSON, {**body, "id": person_id}, who.context.zone_name)
    new = edit.over(found(who.records.people, "person", person_id), teams=(), leads=())
    person = change_person(
        who.context.store, who.context.clock, who.actor, new, if_version=_read(who, new), why=edit.why
    )
    return who.answer(person, version=person.version)


@router.get("/quotas")
def quotas(who: Who) -> Response:
    """What each team holds now and may hold."""
    rows = see_holdings(who.records)
    return who.answer({"rows": rows, "total": len(rows)})


@router.put("/quotas/{team_id}", openapi_extra=body_schema(_QUOTA))
def put_quota(who: Who, team_id: str, body: Body) -> Response:
    """Set a team's ceiling of cards held at once; null lifts it."""
    edit = read_edit(QUOTA, body, who.context.zone_name)
    if "max_cards" not in edit.named:
        raise FieldMissing(field="max_cards")
    quota = set_quota(
        who.context.store,
        who.context.clock,
        who.actor,
        team_id,
        edit.values.get("max_cards"),
        if_version=who.if_version,
        why=edit.why,
    )
    return who.answer(quota, version=quota.version)


@router.get("/tokens")
def tokens(who: Who) -> Response:
    """One's own tokens; for an admin all of them. Secrets are kept nowhere."""
    rows = list_tokens(who.records, who.actor)
    return who.answer({"rows": rows, "total": len(rows)})


@router.post("/tokens", status_code=201, openapi_extra=body_schema(_TOKEN))
def add_token(who: Who, body: Body) -> Response:
    """A new token. The answer tells its secret, this once."""
    asked = read_token(body, who.context.zone_name)
    made = create_token(
        who.context.store,
        who.context.clock,
        who.context.ids,
        who.actor,
        asked.person or who.actor.person,
        asked.scopes,
        expires_at=asked.expires_at,
        note=asked.note,
    )
    return who.answer(made, 201)


@router.post("/tokens/{token_id}/revoke")
def revoke(who: Who, token_id: str) -> Response:
    """Make a token useless from now on."""
    return who.answer(revoke_token(who.context.store, who.context.clock, who.actor, token_id))


def _read(who: Caller, noun: Any) -> int:
    """The version that the edit was made on: what the caller says, else the one it was laid over."""
    said = who.if_version
    return int(noun.version) if said is None else said
