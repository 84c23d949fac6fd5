"""Access: tokens, the actor behind every act, and what roles may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from paika.domain.person import Role
from paika.domain.problem import Kind, Problem


class Scope(StrEnum):
    """What a token may be used for, at most; the person's role limits it further."""

    READ = "read"
    SUBMIT = "submit"
    MANAGE = "manage"
    ADMIN = "admin"


class Act(StrEnum):
    """Things that people do, as permission names."""

    SEE = "see"
    SUBMIT_TASK = "submit_task"
    CHANGE_OWN_TASK = "change_own_task"
    CHANGE_TEAM_TASK = "change_team_task"
    CHANGE_ANY_TASK = "change_any_task"
    MOVE_TASK = "move_task"
    CHANGE_DATASET = "change_dataset"
    CHANGE_CARD = "change_card"
    CHANGE_TEAM = "change_team"
    CHANGE_POLICY = "change_policy"
    SAVE_SNAPSHOT = "save_snapshot"  # all that a plan looks at, as a file
    SEE_AUDIT = "see_audit"
    USE_COMMAND_PROBE = "use_command_probe"
    MAKE_CORE_TASK = "make_core_task"
    BOOK_CARDS = "book_cards"  # for somebody without the next right: to ask for a booking
    APPROVE_BOOKING = "approve_booking"


_MEMBER = frozenset({Act.SEE, Act.SUBMIT_TASK, Act.CHANGE_OWN_TASK, Act.CHANGE_DATASET, Act.BOOK_CARDS})
_LEAD = _MEMBER | {Act.CHANGE_TEAM_TASK, Act.MAKE_CORE_TASK, Act.SEE_AUDIT, Act.APPROVE_BOOKING}

ALLOWED: dict[Role, frozenset[Act]] = {
    Role.VIEWER: frozenset({Act.SEE}),
    Role.MEMBER: _MEMBER,
    Role.LEAD: _LEAD,
    Role.ADMIN: frozenset(Act),
}
SCOPE_ALLOWS: dict[Scope, frozenset[Act]] = {
    Scope.READ: frozenset({Act.SEE, Act.SEE_AUDIT}),
    Scope.SUBMIT: _MEMBER | {Act.MAKE_CORE_TASK},
    Scope.MANAGE: _LEAD | {Act.CHANGE_ANY_TASK, Act.MOVE_TASK, Act.CHANGE_CARD},
    Scope.ADMIN: frozenset(Act),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A credential. Only the SHA-256 of the 256-bit secret is kept, in hex."""

    id: str
    person: str
    secret_sha256: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    note: str = ""
    version: int = 1

    def valid_at(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, with which rights, through which door ('api', 'cli', 'board', 'server') and address."""

    person: str
    role: Role
    scopes: tuple[Scope, ...]
    teams: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    door: str = "server"
    address: str = ""
    token: str | None = None

    def may(self, act: Act) -> bool:
        """Whether both the role and a scope of the token allow the act."""
        return act in ALLOWED[self.role] and any(act in SCOPE_ALLOWS[scope] for scope in self.scopes)

    def must(self, act: Act) -> None:
        """Raises Forbidden unless the act is allowed."""
        if not self.may(act):
            raise Forbidden(field=None, act=act.value, role=self.role.value)


SERVER = Actor(person="server", role=Role.ADMIN, scopes=(Scope.ADMIN,), door="server")


@dataclass(eq=False)
class Forbidden(Problem):
    """The role or the token's scope does not allow the act."""

    code: ClassVar[str] = "access.forbidden"
    kind: ClassVar[Kind] = Kind.FORBIDDEN
    act: str
    role: str


@dataclass(eq=False)
class NotAuthenticated(Problem):
    """No token, or one that is unknown, expired or revoked."""

    code: ClassVar[str] = "access.not_authenticated"
    kind: ClassVar[Kind] = Kind.UNAUTHENTICATED
