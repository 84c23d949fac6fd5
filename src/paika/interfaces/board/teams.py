"""Teams and people: who works where, what a team may hold, and for admins the changing of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.access import Act, Scope
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, NotFound, Problem
from paika.domain.team import EQUAL_WEIGHT, Team
from paika.interfaces.board.entry import Fields, Posted, Ticked, by_field, version_of
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.access_form import TEAM, read_edit, read_team
from paika.services.editing import found
from paika.services.grant_quota import MOST_CARDS, set_quota
from paika.services.manage_access import create_token
from paika.services.manage_people import change_person, change_team, create_person, create_team
from paika.services.see_usage import see_holdings

router = APIRouter(route_class=BoardRoute)
Wrong = Mapping[str, Mapping[str, object]]


@router.get("/teams")
def teams(visit: Guest) -> Response:
    """Teams with what they hold, people with their roles."""
    people = sorted(visit.records.people.values(), key=lambda person: (not person.active, person.name))
    return visit.page(
        "teams.html",
        "t",
        holdings=see_holdings(visit.records),
        people=people,
        members={team: [p for p in people if team in p.teams] for team in visit.records.teams},
        names={team.id: team.name for team in visit.records.teams.values()},
        known=visit.records.teams,
        parts_of=_parts(visit.records.teams.values()),
    )


@router.get("/teams/new")
def ask_team(visit: Guest) -> Response:
    """The form of a new team."""
    visit.who.must(Act.CHANGE_TEAM)
    return _team(visit, None, {"weight": str(EQUAL_WEIGHT), "active": "true"}, {})


@router.post("/teams")
def make_team(visit: Guest, fields: Posted) -> Response:
    """A new team."""
    try:
        team = read_team(_asked(fields), visit.context.zone_name)
        create_team(visit.context.store, visit.context.clock, visit.who, team)
    except Problem as problem:
        return _team(visit, None, fields, by_field(visit, problem))
    return visit.done()


@router.get("/teams/{team}/edit")
def ask_edit_team(visit: Guest, team: str) -> Response:
    """The form of a team that is there."""
    visit.who.must(Act.CHANGE_TEAM)
    known = found(visit.records.teams, "team", team)
    values = {"name": known.name, "weight": str(known.weight), "parent": known.parent, "note": known.note}
    return _team(visit, known, values | {"active": str(known.active).lower(), "version": str(known.version)}, {})


@router.post("/teams/{team}/edit")
def save_team(visit: Guest, team: str, fields: Posted) -> Response:
    """A team changed: its name, its weight, what it stands below."""
    known, context = found(visit.records.teams, "team", team), visit.context
    try:
        edit = read_edit(TEAM, _asked(fields) | {"id": team}, context.zone_name, whole=True)
        new = edit.over(known, note="", weight=EQUAL_WEIGHT, parent="")
        change_team(context.store, context.clock, visit.who, new, if_version=version_of(fields), why=edit.why)
    except Problem as problem:
        return _team(visit, known, fields, by_field(visit, problem))
    return visit.done()


@router.get("/teams/{team}/quota")
def ask_quota(visit: Guest, team: str) -> Response:
    """The form of a team's ceiling."""
    visit.who.must(Act.CHANGE_TEAM)
    quota = visit.records.quotas.get(team)
    most = "" if quota is None or quota.max_cards is None else str(quota.max_cards)
    return _quota(visit, team, {"max_cards": most, "version": str(quota.version if quota else 0)}, {})


@router.post("/teams/{team}/quota")
def grant(visit: Guest, team: str, fields: Posted) -> Response:
    """Another ceiling; none lifts it."""
    try:
        set_quota(
            visit.context.store,
            visit.context.clock,
            visit.who,
            team,
            _ceiling(fields.get("max_cards", "")),
            if_version=version_of(fields),
            why=fields.get("reason", ""),
        )
    except Problem as problem:
        return _quota(visit, team, fields, by_field(visit, problem))
    return visit.done()


@router.get("/people/new")
def ask_person(visit: Guest) -> Response:
    """The form of somebody new."""
    visit.who.must(Act.CHANGE_TEAM)
    return _person(visit, None, {"role": Role.MEMBER.value, "active": "yes"}, (), (), {})


@router.post("/people")
def add_person(visit: Guest, fields: Posted, ticked: Ticked) -> Response:
    """Somebody new."""
    return _save(visit, None, fields, ticked)


@router.get("/people/{person}/edit")
def edit_person(visit: Guest, person: str) -> Response:
    """The form of somebody known."""
    visit.who.must(Act.CHANGE_TEAM)
    known = _known(visit, person)
    fields = {"id": known.id, "name": known.name, "role": known.role.value, "version": str(known.version)}
    return _person(visit, known, fields | ({"active": "yes"} if known.active else {}), known.teams, known.leads, {})


@router.post("/people/{person}/edit")
def save_person(visit: Guest, person: str, fields: Posted, ticked: Ticked) -> Response:
    """Somebody changed."""
    return _save(visit, _known(visit, person), fields, ticked)


@router.get("/people/{person}/token")
def ask_token(visit: Guest, person: str) -> Response:
    """The form of a new token."""
    known = _known(visit, person)
    if person != visit.who.person:
        visit.who.must(Act.CHANGE_TEAM)
    return _dialog(visit, "dialog_token.html", {"scope": Scope.SUBMIT.value}, {}, person=known, made=None)


@router.post("/people/{person}/token")
def make_token(visit: Guest, person: str, fields: Posted) -> Response:
    """A token; its secret is shown this once."""
    known = _known(visit, person)
    asked = fields.get("scope", "")
    scopes = (Scope(asked),) if asked in set(Scope) else ()
    context, note = visit.context, fields.get("note", "")[:200]
    try:
        made = create_token(context.store, context.clock, context.ids, visit.who, person, scopes, note=note)
    except Problem as problem:
        return _dialog(visit, "dialog_token.html", fields, by_field(visit, problem), person=known, made=None)
    return _dialog(visit, "dialog_token.html", fields, {}, person=known, made=made.secret)


def _asked(fields: Fields) -> dict[str, object]:
    return {field.key: fields.get(field.key, "") for field in TEAM.fields if field.key in fields}


def _team(visit: Visit, known: Team | None, values: Fields, wrong: Wrong) -> Response:
    """The dialog of a team; it cannot stand below itself."""
    others = sorted((one for one in visit.records.teams.values() if one is not known), key=lambda one: one.name)
    return _dialog(visit, "dialog_team.html", values, wrong, known=known, others=others)


def _parts(teams: Iterable[Team]) -> dict[str, int]:
    """What part each active team has among the active ones under the same parent, in percent."""
    active = [team for team in teams if team.active]
    sums: Counter[str] = Counter()
    for team in active:
        sums[team.parent] += team.weight
    return {team.id: round(100 * team.weight / sums[team.parent]) for team in active}


def _save(visit: Visit, known: Person | None, fields: Fields, ticked: Mapping[str, tuple[str, ...]]) -> Response:
    teams, leads = ticked.get("teams", ()), ticked.get("leads", ())
    context = visit.context
    try:
        role = fields.get("role", "")
        if role not in set(Role):
            raise BadValue(field="role", value=role[:40], allowed=", ".join(Role))
        key, name = known.id if known else fields.get("id", "").strip(), fields.get("name", "").strip()
        person = Person(key, name, Role(role), teams, leads, known is None or "active" in fields)
        if known is None:
            create_person(context.store, context.clock, visit.who, person)
        else:
            change_person(context.store, context.clock, visit.who, person, if_version=version_of(fields))
    except Problem as problem:
        return _person(visit, known, fields, teams, leads, by_field(visit, problem))
    return visit.done()


def _person(
    visit: Visit, known: Person | None, values: Fields, teams: tuple[str, ...], leads: tuple[str, ...], wrong: Wrong
) -> Response:
    return _dialog(
        visit,
        "dialog_person.html",
        values,
        wrong,
        known=known,
        chosen=teams,
        led=leads,
        roles=list(Role),
        teams=sorted(visit.records.teams.values(), key=lambda team: team.name),
    )


def _quota(visit: Visit, team: str, values: Fields, wrong: Wrong) -> Response:
    held = next((held for held in see_holdings(visit.records, team)), None)
    if held is None:
        raise NotFound(field=None, noun="team", id=team)
    return _dialog(visit, "dialog_quota.html", values, wrong, held=held)


def _dialog(visit: Visit, template: str, values: Fields, wrong: Wrong, **more: object) -> Response:
    return visit.part(template, 422 if wrong else 200, values=values, wrong=wrong, scopes=list(Scope), **more)


def _known(visit: Visit, person: str) -> Person:
    known = visit.records.people.get(person)
    if known is None:
        raise NotFound(field=None, noun="person", id=person)
    return known


def _ceiling(text: str) -> int | None:
    plain = text.strip()
    if not plain:
        return None
    if not (plain.isascii() and plain.isdigit() and len(plain) <= 7):
        raise BadValue(field="max_cards", value=plain[:40], allowed=f"0..{MOST_CARDS}")
    return int(plain)
