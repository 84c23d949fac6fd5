"""The audit trail: an entry for each act, written with the change it tells of; refusals in their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from paika.domain.access import Actor
from paika.domain.audit import AuditEntry
from paika.domain.problem import Kind, Problem
from paika.domain.records import Change
from paika.domain.task import Program
from paika.ports.clock import Clock
from paika.ports.store import Store

_AUDITED = frozenset({Kind.FORBIDDEN, Kind.REFUSED})
_SECRET = frozenset({"secret_sha256"})
_LONGEST = 2_000


def differences(old: Any, new: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The fields in which two states of a noun differ, as text before and after; None is 'nothing there'.

    Versions are left out, and so is whatever could serve as a secret (values of variables too).
    """
    noun = new if old is None else old
    names = [f.name for f in fields(noun) if f.name != "version" and f.name not in _SECRET]
    before = {} if old is None else {name: _text(getattr(old, name)) for name in names}
    after = {} if new is None else {name: _text(getattr(new, name)) for name in names}
    differing = [name for name in names if before.get(name) != after.get(name)]
    return _only(before, differing), _only(after, differing)


def entry(
    actor: Actor, at: datetime, act: str, noun: str, subject: str, *, old: Any = None, new: Any = None, why: str = ""
) -> AuditEntry:
    """The entry of an accepted act that led from `old` to `new` (frozen nouns, None where there is none)."""
    before, after = ({}, {}) if old is None and new is None else differences(old, new)
    return AuditEntry(at, actor.person, actor.door, actor.address, act, noun, subject, before, after, why)


@dataclass(slots=True)
class Attempt:
    """What somebody tries to do, for the entry that is written if he may not."""

    act: str
    noun: str
    subject: str


@contextmanager
def refusals_kept(store: Store, clock: Clock, actor: Actor, attempt: Attempt) -> Iterator[Attempt]:
    """Write an audit entry of its own if the block is refused for rights or by a rule; the problem goes on."""
    try:
        yield attempt
    except Problem as refusal:
        if refusal.kind in _AUDITED:
            written = AuditEntry(
                clock.now(),
                actor.person,
                actor.door,
                actor.address,
                attempt.act,
                attempt.noun,
                attempt.subject,
                {},
                {},
                result=refusal.code,
            )
            store.update(lambda _: Change(audit=(written,)))
        raise


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Program):
        return _text(replace(value, variables=tuple((name, "…") for name, _ in value.variables)).__repr__())
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)[:_LONGEST]
    return str(value)[:_LONGEST]


def _only(facts: dict[str, str], names: list[str]) -> dict[str, str]:
    return {name: facts[name] for name in names if name in facts}
