"""Guarantees: a team's floor granted, changed and taken back in place; first who would slip for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.guarantee import Guarantee
from paika.domain.problem import Problem
from paika.interfaces.board.entry import Fields, Posted, by_field, version_of
from paika.interfaces.board.outcome import planned
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.access_form import Edited, read_edit
from paika.services.booking_form import GUARANTEE
from paika.services.editing import found
from paika.services.grant_guarantee import remove_guarantee, set_guarantee
from paika.services.seen import team_named
from paika.services.what_if_form import Edit, NewGuarantee, WithdrawnGuarantee

router = APIRouter(route_class=BoardRoute)
CHECK = "check"  # the button that only looks
FIELDS = ("cards", "types", "together", "note", "reason")
Wrong = Mapping[str, Mapping[str, object]]


@router.get("/guarantees/new")
def ask_new(visit: Guest, team: str = "") -> Response:
    """The form of a new guarantee."""
    visit.who.must(Act.CHANGE_TEAM)
    return _form(visit, None, {"team": team, "together": "1", "version": "0"}, {})


@router.post("/guarantees/new")
def grant(visit: Guest, fields: Posted) -> Response:
    """Grant it, or with the other button only tell what it would do."""
    return _save(visit, None, fields)


@router.get("/guarantees/edit/{key:path}")
def ask_edit(visit: Guest, key: str) -> Response:
    """The form of a guarantee that is there."""
    visit.who.must(Act.CHANGE_TEAM)
    one = found(visit.records.guarantees, "guarantee", key)
    values = {"cards": str(one.cards), "together": str(one.together), "note": one.note, "version": str(one.version)}
    return _form(visit, one, values, {})


@router.post("/guarantees/edit/{key:path}")
def edit(visit: Guest, key: str, fields: Posted) -> Response:
    """Change it, or only tell what that would do."""
    return _save(visit, found(visit.records.guarantees, "guarantee", key), fields)


@router.get("/guarantees/withdraw/{key:path}")
def ask_withdraw(visit: Guest, key: str) -> Response:
    """Whether it is really to be taken back, and what that would do."""
    visit.who.must(Act.CHANGE_TEAM)
    return _withdrawal(visit, key, {}, {})


@router.post("/guarantees/withdraw/{key:path}")
def withdraw(visit: Guest, key: str, fields: Posted) -> Response:
    """Take it back."""
    context, version = visit.context, version_of(fields)
    try:
        remove_guarantee(
            context.store, context.clock, visit.who, key, if_version=version, why=fields.get("reason", "").strip()
        )
    except Problem as problem:
        return _withdrawal(visit, key, fields, by_field(visit, problem))
    return visit.done()


def _save(visit: Visit, one: Guarantee | None, fields: Fields) -> Response:
    visit.who.must(Act.CHANGE_TEAM)
    context = visit.context
    team = one.team if one else fields.get("team", "")
    try:
        edit = _read(visit, one, fields)
        if CHECK in fields:
            return _form(visit, one, fields, {}, _planned(visit, NewGuarantee(team, edit)))
        set_guarantee(context.store, context.clock, visit.who, team, edit, if_version=version_of(fields))
    except Problem as problem:
        return _form(visit, one, fields, _named(by_field(visit, problem)))
    return visit.done()


def _read(visit: Visit, one: Guarantee | None, fields: Fields) -> Edited:
    """What the form says; team and card types of one that is there stay."""
    raw = {key: fields.get(key, "").strip() for key in FIELDS}
    types = "|".join(one.card_types) if one else raw["types"]
    return read_edit(GUARANTEE, {**raw, "types": types}, visit.context.zone_name, whole=True)


def _named(wrong: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """`of` is the team, where the preview judges."""
    return {"team" if key == "of" else key: told for key, told in wrong.items()}


def _planned(visit: Visit, edit: Edit) -> dict[str, object]:
    return planned(visit, [edit])


def _form(
    visit: Visit, one: Guarantee | None, values: Fields, wrong: Wrong, told: Mapping[str, object] | None = None
) -> Response:
    return visit.part(
        "dialog_guarantee.html",
        422 if wrong else 200,
        one=one,
        team=team_named(visit.records, one.team) if one else None,
        teams=[("", "—"), *((team.id, team.name) for team in _teams(visit))],
        values=values,
        wrong=wrong,
        **(told or {"told": None, "busy": None}),
    )


def _withdrawal(visit: Visit, key: str, values: Fields, wrong: Wrong) -> Response:
    one = found(visit.records.guarantees, "guarantee", key)
    return visit.part(
        "dialog_guarantee_act.html",
        422 if wrong else 200,
        one=one,
        team=team_named(visit.records, one.team),
        values={**values, "version": values.get("version", str(one.version))},
        wrong=wrong,
        **_planned(visit, WithdrawnGuarantee(key)),
    )


def _teams(visit: Visit) -> list[Any]:
    return sorted((team for team in visit.records.teams.values() if team.active), key=lambda team: team.name)
