"""Tokens: made, listed, revoked, and turned into the actor behind a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import ClassVar

from paika.domain.access import ALLOWED, SCOPE_ALLOWS, SERVER, Act, Actor, Forbidden, NotAuthenticated, Scope, Token
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, Kind, NotFound, Problem
from paika.domain.records import Change, Records
from paika.domain.team import Team
from paika.ports.clock import Clock
from paika.ports.ids import Ids
from paika.ports.store import Store
from paika.services.keep_audit import Attempt, entry, refusals_kept

SECRET_BYTES = 32
_PREFIX = "paika"


@dataclass(eq=False)
class ScopeTooWide(Problem):
    """A token may not give more than the token that makes it has. `asked` and `have` are scopes."""

    code: ClassVar[str] = "access.scope_too_wide"
    kind: ClassVar[Kind] = Kind.FORBIDDEN
    asked: tuple[str, ...]
    have: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, which is told this once and kept nowhere."""

    token: Token
    secret: str


def authenticate(store: Store, secret: str, now: datetime, door: str, address: str) -> Actor:
    """Who holds this secret, with the rights he has now. Raises NotAuthenticated, and does not say why."""
    records = store.read()
    words = secret.split("_")
    known = records.tokens.get(words[1]) if len(words) == len((_PREFIX, "id", "hex")) else None
    expected = known.secret_sha256 if known else "0" * 64
    same = compare_digest(expected.encode(), _digest(secret).encode())
    if known is None or not same:
        raise NotAuthenticated(field=None)
    return actor_of(records, known.id, now, door, address)


def actor_of(records: Records, token_id: str, now: datetime, door: str, address: str) -> Actor:
    """The actor of a token that was proved before (a session). Raises NotAuthenticated if it is no longer good."""
    token = records.tokens.get(token_id)
    person = records.people.get(token.person) if token else None
    if token is None or person is None or not person.active or not token.valid_at(now):
        raise NotAuthenticated(field=None)
    return Actor(person.id, person.role, token.scopes, person.teams, person.leads, door, address, token.id)


def create_token(
    store: Store,
    clock: Clock,
    ids: Ids,
    actor: Actor,
    person: str,
    scopes: Sequence[Scope],
    *,
    expires_at: datetime | None = None,
    note: str = "",
) -> NewToken:
    """A token for `person`: for oneself with no more than one's own token may, for others by an admin."""
    digits = ids.token(SECRET_BYTES)
    attempt = Attempt("create_token", "token", person)

    def decide(records: Records) -> Change:
        now = clock.now()
        token = _new_token(records, actor, person, scopes, expires_at, note, now)
        attempt.subject = token.id
        token = replace(token, secret_sha256=_digest(_secret(token.id, digits)))
        return Change(
            puts=(token,),
            counters={"token": _number(token.id)},
            audit=(entry(actor, now, attempt.act, "token", token.id, new=token),),
        )

    with refusals_kept(store, clock, actor, attempt):
        records = store.update(decide)
    return NewToken(records.tokens[attempt.subject], _secret(attempt.subject, digits))


def revoke_token(store: Store, clock: Clock, actor: Actor, token_id: str) -> Token:
    """Make a token useless from now on: one's own, or anybody's by an admin. Twice is once."""

    def decide(records: Records) -> Change:
        now = clock.now()
        token = records.tokens.get(token_id)
        if token is None or not _may_see(actor, token):
            raise NotFound(field=None, noun="token", id=token_id)
        if token.person != actor.person:
            actor.must(Act.CHANGE_TEAM)
        if token.revoked_at is not None:
            return Change()
        revoked = replace(token, revoked_at=now, version=token.version + 1)
        return Change(
            puts=(revoked,), audit=(entry(actor, now, "revoke_token", "token", token_id, old=token, new=revoked),)
        )

    with refusals_kept(store, clock, actor, Attempt("revoke_token", "token", token_id)):
        return store.update(decide).tokens[token_id]


def list_tokens(records: Records, actor: Actor) -> tuple[Token, ...]:
    """One's own tokens; all of them for an admin. The newest first."""
    mine = [token for token in records.tokens.values() if _may_see(actor, token)]
    return tuple(sorted(mine, key=lambda token: _number(token.id), reverse=True))


def bootstrap_admin(
    store: Store, clock: Clock, ids: Ids, *, person: str = "admin", name: str = "Admin", team: str | None = None
) -> NewToken | None:
    """The first admin with a token that may do everything; None if the house has an active admin already.

    `team` is made too if it is named, with the admin as its member.
    """

    def decide(records: Records) -> Change:
        if any(known.role is Role.ADMIN and known.active for known in records.people.values()):
            return Change()
        now = clock.now()
        teams = (team,) if team else ()
        old = records.people.get(person)
        first = Person(person, name, Role.ADMIN, teams, teams, version=old.version + 1 if old else 1)
        new_teams = tuple(Team(t, t) for t in teams if t not in records.teams)
        return Change(
            puts=(*new_teams, first), audit=(entry(SERVER, now, "bootstrap", "person", person, old=old, new=first),)
        )

    before = store.read().version
    if store.update(decide).version == before:
        return None
    return create_token(store, clock, ids, SERVER, person, (Scope.ADMIN,), note="bootstrap")


def _new_token(
    records: Records,
    actor: Actor,
    person: str,
    scopes: Sequence[Scope],
    expires_at: datetime | None,
    note: str,
    now: datetime,
) -> Token:
    if person != actor.person:
        actor.must(Act.CHANGE_TEAM)
    elif not actor.may(Act.CHANGE_TEAM):
        _must_cover(records, actor, scopes, expires_at)
    owner = records.people.get(person)
    if owner is None or not owner.active:
        raise NotFound(field="person", noun="person", id=person)
    if not scopes:
        raise BadValue(field="scopes", value="", allowed=", ".join(scope.value for scope in Scope))
    if expires_at is not None and expires_at <= now:
        raise BadValue(field="expires_at", value=expires_at.isoformat(), allowed=f"> {now.isoformat()}")
    number = records.counters.get("token", 0) + 1
    return Token(f"k{number}", person, "", tuple(dict.fromkeys(scopes)), now, expires_at, note=note)


def _must_cover(records: Records, actor: Actor, scopes: Sequence[Scope], expires_at: datetime | None) -> None:
    """A token makes only such as give no more and live no longer; one that may only read makes none."""
    have: frozenset[Act] = frozenset().union(*(SCOPE_ALLOWS[scope] for scope in actor.scopes))
    asked: frozenset[Act] = frozenset().union(*(SCOPE_ALLOWS[scope] for scope in scopes))
    if not have & (SCOPE_ALLOWS[Scope.SUBMIT] - SCOPE_ALLOWS[Scope.READ]):
        raise Forbidden(field=None, act="create_token", role=actor.role.value)
    own = records.tokens.get(actor.token or "")
    ends = own.expires_at if own else None
    outlives = ends is not None and (expires_at is None or expires_at > ends)
    wider = max(map(_width, scopes), default=0) > max(map(_width, actor.scopes))
    if wider or not asked & ALLOWED[actor.role] <= have or outlives:
        raise ScopeTooWide(
            field="expires_at" if outlives else "scopes",
            asked=tuple(scope.value for scope in scopes),
            have=tuple(scope.value for scope in actor.scopes),
        )


def _may_see(actor: Actor, token: Token) -> bool:
    return token.person == actor.person or actor.may(Act.CHANGE_TEAM)


def _width(scope: Scope) -> int:
    return list(Scope).index(scope)


def _number(token_id: str) -> int:
    return int(token_id.removeprefix("k"))


def _secret(token_id: str, digits: str) -> str:
    return f"{_PREFIX}_{token_id}_{digits}"


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
