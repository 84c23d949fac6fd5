"""Teams below teams: a parent is there, and nobody stands below himself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paika.domain.problem import BadValue
from paika.domain.team import MOST_WEIGHT, Team, TeamRing
from paika.services.editing import found


def must_have_its_place(teams: Mapping[str, Team], team: Team) -> None:
    """Weight and parent of a team among all others. Raises BadValue, NotFound, TeamRing."""
    if not 1 <= team.weight <= MOST_WEIGHT:
        raise BadValue(field="weight", value=str(team.weight), allowed=f"1..{MOST_WEIGHT}")
    if team.parent and team.parent != team.id:
        found(teams, "team", team.parent, "parent")
    rings = rings_of({**teams, team.id: team}, (team.id,), "parent")
    if rings:
        raise rings[0]


def rings_of(teams: Mapping[str, Team], asked: Iterable[str], field: str) -> tuple[TeamRing, ...]:
    """The rings that the asked teams stand in, each told once, of the field that closes them."""
    found_in: dict[frozenset[str], TeamRing] = {}
    for team in asked:
        ring = _ring(teams, team)
        if ring:
            found_in.setdefault(frozenset(ring), TeamRing(field=field, ring=ring))
    return tuple(found_in.values())


def _ring(teams: Mapping[str, Team], start: str) -> tuple[str, ...]:
    """The way up from a team back to itself; () if it comes to a top, or runs into a ring that it is no part of."""
    way, at = [start], teams[start].parent
    while at in teams and at not in way:
        way.append(at)
        at = teams[at].parent
    return (*way, start) if at == start else ()
