"""Tokens, people, teams, quotas: who may do what, and who wrote it down."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.lab import CountedIds, Lab, MovedClock

from paika.adapters.in_memory.store import InMemoryStore
from paika.domain.access import Forbidden, NotAuthenticated, Scope
from paika.domain.person import Person, Role
from paika.domain.problem import BadValue, NameTaken, NotFound, Problem, VersionConflict
from paika.domain.team import Team
from paika.ports.store import AuditQuery
from paika.services.grant_quota import set_quota
from paika.services.manage_access import (
    ScopeTooWide,
    authenticate,
    bootstrap_admin,
    create_token,
    list_tokens,
    revoke_token,
)
from paika.services.manage_people import LastAdmin, change_person, change_team, create_person, create_team


@pytest.fixture
def lab() -> Lab:
    return Lab()


def token(lab, by, person, *scopes, **more):
    return create_token(lab.store, lab.clock, lab.ids, lab.actor(by), person, scopes, **more)


def enter(lab, secret):
    return authenticate(lab.store, secret, lab.clock.now(), "api", "10.0.0.1")


class TestTokens:
    def test_a_secret_is_told_once_and_only_its_hash_is_kept(self, lab):
        made = token(lab, "ann", "mia", Scope.SUBMIT)
        assert made.secret.startswith(f"paika_{made.token.id}_")
        assert len(made.secret.rsplit("_", 1)[1]) == 64
        assert made.secret not in repr(lab.records)
        assert made.secret.rsplit("_", 1)[1] not in repr(lab.store.audit(AuditQuery()).rows)
        actor = enter(lab, made.secret)
        assert (actor.person, actor.role, actor.scopes, actor.teams) == (
            "mia",
            Role.MEMBER,
            (Scope.SUBMIT,),
            ("vision",),
        )
        assert (actor.door, actor.address, actor.token) == ("api", "10.0.0.1", made.token.id)

    @pytest.mark.parametrize(
        "secret", ["", "paika", "paika_k1_", "paika_k1_00", "paika_k9_{hex}", "x_k1_{hex}", "k1", "\ud800_k1_2"]
    )
    def test_anything_else_is_refused(self, lab, secret):
        made = token(lab, "ann", "mia", Scope.SUBMIT)
        with pytest.raises(NotAuthenticated):
            enter(lab, secret.replace("{hex}", made.secret.rsplit("_", 1)[1]))

    def test_one_wrong_digit_is_refused(self, lab):
        secret = token(lab, "ann", "mia", Scope.SUBMIT).secret
        with pytest.raises(NotAuthenticated):
            enter(lab, secret[:-1] + ("0" if secret[-1] != "0" else "1"))

    def test_revoked_expired_and_of_somebody_switched_off(self, lab):
        revoked, expired, off = (
            token(lab, "ann", who, Scope.SUBMIT, expires_at=lab.clock.now() + timedelta(days=1))
            for who in ("mia", "max", "tim")
        )
        revoke_token(lab.store, lab.clock, lab.actor("mia"), revoked.token.id)
        change_person(lab.store, lab.clock, lab.actor("ann"), replace(lab.records.people["tim"], active=False))
        for secret in (revoked.secret, off.secret):
            with pytest.raises(NotAuthenticated):
                enter(lab, secret)
        assert enter(lab, expired.secret).person == "max"
        lab.clock.move(days=1)
        with pytest.raises(NotAuthenticated):
            enter(lab, expired.secret)

    @pytest.mark.parametrize(
        ("have", "asked", "allowed"),
        [
            (Scope.SUBMIT, Scope.SUBMIT, True),
            (Scope.SUBMIT, Scope.READ, True),
            (Scope.SUBMIT, Scope.MANAGE, False),
            (Scope.SUBMIT, Scope.ADMIN, False),
            (Scope.MANAGE, Scope.SUBMIT, True),
            (Scope.READ, Scope.READ, False),
        ],
    )
    def test_a_token_makes_none_that_gives_more(self, lab, have, asked, allowed):
        actor = enter(lab, token(lab, "ann", "mia", have).secret)
        if allowed:
            assert create_token(lab.store, lab.clock, lab.ids, actor, "mia", (asked,)).token.scopes == (asked,)
            return
        with pytest.raises((ScopeTooWide, Forbidden)):
            create_token(lab.store, lab.clock, lab.ids, actor, "mia", (asked,))
        assert len(lab.records.tokens) == 1

    def test_a_token_makes_none_that_lives_longer(self, lab):
        ends = lab.clock.now() + timedelta(days=1)
        actor = enter(lab, token(lab, "ann", "mia", Scope.SUBMIT, expires_at=ends).secret)
        with pytest.raises(ScopeTooWide):
            create_token(lab.store, lab.clock, lab.ids, actor, "mia", (Scope.SUBMIT,))
        made = create_token(lab.store, lab.clock, lab.ids, actor, "mia", (Scope.SUBMIT,), expires_at=ends)
        assert made.token.expires_at == ends

    def test_tokens_of_others_are_for_admins(self, lab):
        made = token(lab, "ann", "mia", Scope.SUBMIT)
        with pytest.raises(Forbidden):
            token(lab, "max", "mia", Scope.SUBMIT)
        with pytest.raises(NotFound):
            revoke_token(lab.store, lab.clock, lab.actor("max"), made.token.id)
        assert list_tokens(lab.records, lab.actor("max")) == ()
        assert [t.id for t in list_tokens(lab.records, lab.actor("ann"))] == [made.token.id]
        assert enter(lab, made.secret).person == "mia"


def test_the_first_admin_is_made_once():
    store, clock, ids = InMemoryStore(), MovedClock(), CountedIds()
    first = bootstrap_admin(store, clock, ids, team="lab")
    assert first is not None
    actor = authenticate(store, first.secret, clock.now(), "cli", "")
    assert (actor.role, actor.teams) == (Role.ADMIN, ("lab",))
    version = store.read().version
    assert bootstrap_admin(store, clock, ids) is None
    assert store.read().version == version


class TestPeople:
    def test_the_last_admin_stays(self, lab):
        ann = lab.records.people["ann"]
        for change in ({"role": Role.MEMBER}, {"active": False}):
            with pytest.raises(LastAdmin):
                change_person(lab.store, lab.clock, lab.actor("ann"), replace(ann, **change))
        create_person(lab.store, lab.clock, lab.actor("ann"), Person("bea", "Bea", Role.ADMIN))
        change_person(lab.store, lab.clock, lab.actor("ann"), replace(ann, active=False))
        assert not lab.records.people["ann"].active

    @pytest.mark.parametrize(
        ("person", "problem"),
        [
            (Person("mia", "again"), NameTaken),
            (Person("server", "me"), NameTaken),
            (Person("Bad Id", "x"), BadValue),
            (Person("-x", "x"), BadValue),
            (Person("x" * 41, "x"), BadValue),
            (Person("new", "x", teams=("nowhere",)), NotFound),
            (Person("new", "x", Role.LEAD, ("text",), ("vision",)), BadValue),
            (Person("new", "x", Role.MEMBER, ("text",), ("text",)), BadValue),
        ],
    )
    def test_unsound_people_are_refused(self, lab, person, problem):
        with pytest.raises(problem):
            create_person(lab.store, lab.clock, lab.actor("ann"), person)

    def test_a_name_is_data(self, lab):
        name = "<script>alert(1)</script> {{7*7}} \u202e"
        assert create_person(lab.store, lab.clock, lab.actor("ann"), Person("odd", name)).name == name

    def test_teams_are_made_and_switched_off(self, lab):
        create_team(lab.store, lab.clock, lab.actor("ann"), Team("audio", "Audio"))
        off = change_team(lab.store, lab.clock, lab.actor("ann"), Team("audio", "Audio", active=False), why="over")
        assert not off.active
        entry = lab.store.audit(AuditQuery("team", "audio")).rows[0]
        assert (entry.old, entry.new, entry.why) == ({"active": "True"}, {"active": "False"}, "over")


class TestQuotas:
    """Field case C24: who changed the quota."""

    def test_each_change_says_who_what_and_from_where(self, lab):
        set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", 8, why="grant")
        set_quota(lab.store, lab.clock, lab.actor("ann", door="board"), "vision", 4, why="cut")
        with pytest.raises(Forbidden):
            set_quota(lab.store, lab.clock, lab.actor("lea"), "vision", 99)
        set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", 4)
        told = [(e.person, e.door, e.old, e.new, e.result) for e in lab.store.audit(AuditQuery("quota", "vision")).rows]
        assert told == [
            ("ann", "api", {"max_cards": "4"}, {"max_cards": "4"}, "done"),
            ("lea", "api", {}, {}, "access.forbidden"),
            ("ann", "board", {"max_cards": "8"}, {"max_cards": "4"}, "done"),
            ("ann", "api", {}, {"team": "vision", "max_cards": "8"}, "done"),
        ]
        assert lab.records.quotas["vision"].version == 2

    @pytest.mark.parametrize("cards", [-1, 100_001])
    def test_limits_of_limits(self, lab, cards):
        with pytest.raises(BadValue):
            set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", cards)

    def test_versions_and_unknown_teams(self, lab):
        set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", 8, if_version=0)
        with pytest.raises(VersionConflict):
            set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", 9, if_version=0)
        with pytest.raises(NotFound):
            set_quota(lab.store, lab.clock, lab.actor("ann"), "nowhere", 9)
        assert set_quota(lab.store, lab.clock, lab.actor("ann"), "vision", None).max_cards is None


@pytest.mark.parametrize("person", ["lea", "mia", "vic"])
def test_only_admins_manage_the_house(lab, person):
    actor = lab.actor(person)
    attempts = [
        lambda: create_person(lab.store, lab.clock, actor, Person("x", "x")),
        lambda: change_person(lab.store, lab.clock, actor, replace(lab.records.people[person], role=Role.ADMIN)),
        lambda: create_team(lab.store, lab.clock, actor, Team("x", "x")),
        lambda: change_team(lab.store, lab.clock, actor, Team("vision", "mine")),
        lambda: set_quota(lab.store, lab.clock, actor, "vision", 100),
    ]
    for number, attempt in enumerate(attempts, 1):
        before = lab.records
        with pytest.raises(Problem) as caught:
            attempt()
        assert caught.value.code == "access.forbidden"
        assert (lab.records.people, lab.records.teams, lab.records.quotas) == (
            before.people,
            before.teams,
            before.quotas,
        )
        assert len(lab.store.audit(AuditQuery()).rows) == number
