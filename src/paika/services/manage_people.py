"""People and teams: who there is, who works where, who may do what. Nobody is deleted, only switched off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from paika.domain.access import SERVER, Act, Actor
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, Kind, NameTaken, Problem
from paika.domain.records import Change, Records
from paika.domain.team import Team
from paika.ports.clock import Clock
from paika.ports.store import Store
from paika.services.editing import found, must_be_name, must_be_read, must_be_slug
from paika.services.keep_audit import Attempt, entry, refusals_kept
from paika.services.team_tree import must_have_its_place

_MAY_LEAD = frozenset({Role.LEAD, Role.ADMIN})


@dataclass(eq=False)
class LastAdmin(Problem):
    """Nobody would be left who may manage the house."""

    code: ClassVar[str] = "access.last_admin"
    kind: ClassVar[Kind] = Kind.REFUSED
    person: str


def create_person(store: Store, clock: Clock, actor: Actor, person: Person) -> Person:
    """Add somebody. Raises Forbidden, NameTaken, BadValue, NotFound (a team)."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_TEAM)
        if person.id in records.people or person.id == SERVER.person:
            raise NameTaken(field="id", noun="person", id=person.id)
        new = replace(person, version=1)
        _must_be_sound(records, new)
        return Change(puts=(new,), audit=(entry(actor, clock.now(), "create_person", "person", new.id, new=new),))

    with refusals_kept(store, clock, actor, Attempt("create_person", "person", person.id)):
        return store.update(decide).people[person.id]


def change_person(
    store: Store, clock: Clock, actor: Actor, person: Person, *, if_version: int | None = None, why: str = ""
) -> Person:
    """Replace name, role, teams, leads and active of somebody. Raises LastAdmin too."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_TEAM)
        old = found(records.people, "person", person.id)
        must_be_read("person", old.id, old.version, if_version)
        new = replace(person, version=old.version + 1)
        _must_be_sound(records, new)
        _must_leave_an_admin(records, new)
        written = entry(actor, clock.now(), "change_person", "person", old.id, old=old, new=new, why=why)
        return Change(puts=() if replace(new, version=old.version) == old else (new,), audit=(written,))

    with refusals_kept(store, clock, actor, Attempt("change_person", "person", person.id)):
        return store.update(decide).people[person.id]


def create_team(store: Store, clock: Clock, actor: Actor, team: Team) -> Team:
    """Add a team. Raises Forbidden, NameTaken, BadValue, NotFound (its parent), TeamRing."""

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_TEAM)
        if team.id in records.teams:
            raise NameTaken(field="id", noun="team", id=team.id)
        must_be_slug(team.id)
        must_be_name(team.name)
        must_have_its_place(records.teams, team)
        new = replace(team, version=1)
        return Change(puts=(new,), audit=(entry(actor, clock.now(), "create_team", "team", new.id, new=new),))

    with refusals_kept(store, clock, actor, Attempt("create_team", "team", team.id)):
        return store.update(decide).teams[team.id]


def change_team(
    store: Store, clock: Clock, actor: Actor, team: Team, *, if_version: int | None = None, why: str = ""
) -> Team:
    """Replace name, note, weight, parent and active of a team. What runs goes on; an inactive team starts nothing new.

    Raises Forbidden, NotFound, VersionConflict, BadValue, TeamRing.
    """

    def decide(records: Records) -> Change:
        actor.must(Act.CHANGE_TEAM)
        old = found(records.teams, "team", team.id)
        must_be_read("team", old.id, old.version, if_version)
        must_be_name(team.name)
        must_have_its_place(records.teams, team)
        new = replace(team, version=old.version + 1)
        written = entry(actor, clock.now(), "change_team", "team", old.id, old=old, new=new, why=why)
        return Change(puts=() if replace(new, version=old.version) == old else (new,), audit=(written,))

    with refusals_kept(store, clock, actor, Attempt("change_team", "team", team.id)):
        return store.update(decide).teams[team.id]


def _must_be_sound(records: Records, person: Person) -> None:
    must_be_slug(person.id)
    must_be_name(person.name)
    for team in (*person.teams, *person.leads):
        found(records.teams, "team", team, "teams")
    if not set(person.leads) <= set(person.teams):
        raise BadValue(field="leads", value=", ".join(person.leads), allowed=", ".join(person.teams))
    if person.leads and person.role not in _MAY_LEAD:
        raise BadValue(field="role", value=person.role.value, allowed=", ".join(sorted(_MAY_LEAD)))


def _must_leave_an_admin(records: Records, new: Person) -> None:
    people = {**records.people, new.id: new}
    if not any(person.role is Role.ADMIN and person.active for person in people.values()):
        raise LastAdmin(field="role" if new.active else "active", person=new.id)
