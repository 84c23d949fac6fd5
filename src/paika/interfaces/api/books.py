"""The books: usage, ledger, audit."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from paika.domain.access import Act
from paika.domain.instant import instant
from paika.domain.ledger import EntryKind
from paika.interfaces.api.doors import Caller, Who
from paika.ports.store import AuditQuery, LedgerQuery
from paika.services.see_usage import see_usage

router = APIRouter(tags=["books"])
Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/usage")
def usage(who: Who, team: str = "", person: str = "", since: str = "", until: str = "") -> Response:
    """Card time by team, person and card type, from the ledger; quotas beside it."""
    view = see_usage(
        who.context.store,
        who.records,
        who.now,
        since=_at(who, "since", since),
        until=_at(who, "until", until),
        team=team,
        person=person,
    )
    return who.answer(view)


@router.get("/ledger")
def ledger(
    who: Who,
    team: str = "",
    person: str = "",
    task: str = "",
    kind: Annotated[list[EntryKind] | None, Query()] = None,
    since: str = "",
    until: str = "",
    cursor: str | None = None,
    limit: Limit = 100,
) -> Response:
    """Ledger entries, newest first."""
    window = _at(who, "since", since), _at(who, "until", until)
    query = LedgerQuery(team, person, task, tuple(kind or ()), *window, cursor, limit)
    return who.answer(who.context.store.ledger(query))


@router.get("/audit")
def audit(
    who: Who,
    noun: str = "",
    subject: str = "",
    person: str = "",
    since: str = "",
    until: str = "",
    cursor: str | None = None,
    limit: Limit = 100,
) -> Response:
    """Who changed what, from where and why, refusals too; newest first. For leads and admins."""
    who.actor.must(Act.SEE_AUDIT)
    window = _at(who, "since", since), _at(who, "until", until)
    return who.answer(who.context.store.audit(AuditQuery(noun, subject, person, *window, cursor, limit)))


def _at(who: Caller, field: str, written: str) -> datetime | None:
    return instant(field, written, who.context.zone_name) if written.strip() else None
