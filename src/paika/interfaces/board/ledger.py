"""The ledger: what was spent and lost, by team, person and card type, and the last entries."""

from __future__ import annotations

from datetime import datetime, timedelta

from fastapi import APIRouter
from starlette.responses import Response

from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.ports.store import LedgerQuery
from paika.services.see_usage import Spent, see_usage
from paika.services.seen import person_named, task_named, team_named

router = APIRouter(route_class=BoardRoute)
PERIODS = {"day": 1, "week": 7, "month": 30, "quarter": 90, "all": None}
ENTRIES = 50


@router.get("/ledger")
def ledger(visit: Guest, period: str = "month", team: str = "", person: str = "", cursor: str = "") -> Response:
    """Sums over a period and the entries they come from."""
    chosen = period if period in PERIODS else "month"
    since = _since(visit, chosen)
    view = see_usage(visit.context.store, visit.records, visit.now, since=since, team=team, person=person)
    entries = visit.context.store.ledger(
        LedgerQuery(team=team, person=person, since=since, cursor=cursor or None, limit=ENTRIES)
    )
    return visit.page(
        "ledger.html",
        "l",
        view=view,
        period=chosen,
        periods=list(PERIODS),
        team=team,
        person=person,
        cursor=cursor,
        entries=entries,
        named={
            "task": lambda key: task_named(visit.records, key),
            "person": lambda key: person_named(visit.records, key),
            "team": lambda key: team_named(visit.records, key),
        },
        tables=[("teams", view.teams), ("people", view.people), ("card_types", view.card_types)],
        most={
            name: _most(rows)
            for name, rows in (("teams", view.teams), ("people", view.people), ("card_types", view.card_types))
        },
        teams=sorted(visit.records.teams.values(), key=lambda known: known.name),
        people=sorted(visit.records.people.values(), key=lambda known: known.name),
    )


def _since(visit: Visit, period: str) -> datetime | None:
    days = PERIODS[period]
    return None if days is None else visit.now - timedelta(days=days)


def _most(rows: tuple[Spent, ...]) -> int:
    return max((row.spent_card_seconds + row.lost_card_seconds for row in rows), default=0) or 1
