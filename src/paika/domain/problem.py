"""Anticipated refusals. Whatever else escapes is a bug.

A problem carries a code that never changes and its facts as fields. Words are made at the door
(interfaces/wording), the same for API, command line and pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Kind(StrEnum):
    """What sort of refusal it is; doors map it to an HTTP status and an exit code."""

    INVALID = "invalid"
    REFUSED = "refused"
    CONFLICT = "conflict"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    UNAUTHENTICATED = "unauthenticated"
    SYSTEM = "system"


@dataclass(eq=False)
class Problem(Exception):
    """An anticipated refusal: `code` names it, the fields are its facts, `field` the input to mend."""

    code: ClassVar[str]
    kind: ClassVar[Kind] = Kind.REFUSED
    field: str | None

    def __str__(self) -> str:
        return self.code


@dataclass(eq=False)
class BadValue(Problem):
    """A value outside what the field allows. `allowed` is a machine-neutral range such as '1..1024'."""

    code: ClassVar[str] = "value.bad"
    kind: ClassVar[Kind] = Kind.INVALID
    value: str
    allowed: str


@dataclass(eq=False)
class UnknownField(Problem):
    """A field that the noun does not have; `nearest` are the likeliest meant."""

    code: ClassVar[str] = "field.unknown"
    kind: ClassVar[Kind] = Kind.INVALID
    nearest: tuple[str, ...]


@dataclass(eq=False)
class FieldMissing(Problem):
    """A field without which the noun means nothing."""

    code: ClassVar[str] = "field.missing"
    kind: ClassVar[Kind] = Kind.INVALID


@dataclass(eq=False)
class Several(Problem):
    """More than one problem in one input; each keeps its own code and field."""

    code: ClassVar[str] = "input.several"
    kind: ClassVar[Kind] = Kind.INVALID
    problems: tuple[Problem, ...]


@dataclass(eq=False)
class NotFound(Problem):
    """No such noun. `noun` is a word of the glossary (task, run, card, ...)."""

    code: ClassVar[str] = "noun.not_found"
    kind: ClassVar[Kind] = Kind.MISSING
    noun: str
    id: str


@dataclass(eq=False)
class NameTaken(Problem):
    """Another noun already has this id or name."""

    code: ClassVar[str] = "noun.name_taken"
    kind: ClassVar[Kind] = Kind.CONFLICT
    noun: str
    id: str


@dataclass(eq=False)
class VersionConflict(Problem):
    """The editor had read version `read`; the noun is at version `current` now."""

    code: ClassVar[str] = "noun.version_conflict"
    kind: ClassVar[Kind] = Kind.CONFLICT
    noun: str
    id: str
    read: int
    current: int


@dataclass(eq=False)
class KeyReused(Problem):
    """An idempotency key came back with another body."""

    code: ClassVar[str] = "key.reused"
    kind: ClassVar[Kind] = Kind.CONFLICT
    key: str
