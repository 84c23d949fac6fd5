"""What it cost: card time and held cards, from the ledger alone, with the quota beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from paika.domain.records import Records
from paika.ports.store import Store, UsageRow
from paika.services.seen import Named, person_named, team_named


@dataclass(frozen=True, slots=True)
class Spent:
    """Card-seconds spent and lost within the asked time by one team, person or card type."""

    who: Named
    spent_card_seconds: int
    lost_card_seconds: int


@dataclass(frozen=True, slots=True)
class TeamHolding:
    """Card parts (100 a card) a team holds now, and its ceiling in cards; None is no ceiling."""

    team: Named
    active: bool
    held_parts: int
    max_cards: int | None
    quota_version: int


@dataclass(frozen=True, slots=True)
class UsageView:
    """Sums over [since, until); None is open. The largest spender first."""

    at: datetime
    since: datetime | None
    until: datetime | None
    total: Spent
    teams: tuple[Spent, ...]
    people: tuple[Spent, ...]
    card_types: tuple[Spent, ...]
    rows: tuple[UsageRow, ...]
    holdings: tuple[TeamHolding, ...]


def see_usage(
    store: Store,
    records: Records,
    now: datetime,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    team: str = "",
    person: str = "",
) -> UsageView:
    """Usage by team, person and type; empty `team` and `person` do not filter."""
    rows = tuple(row for row in store.usage(since, until) if team in ("", row.team) and person in ("", row.person))
    return UsageView(
        at=now,
        since=since,
        until=until,
        total=_sum(Named("", ""), rows),
        teams=_by(rows, lambda row: team_named(records, row.team)),
        people=_by(rows, lambda row: person_named(records, row.person)),
        card_types=_by(rows, lambda row: Named(row.card_type, row.card_type)),
        rows=rows,
        holdings=see_holdings(records, team),
    )


def see_holdings(records: Records, team: str = "") -> tuple[TeamHolding, ...]:
    """What each team holds now and may hold, by team id."""
    return tuple(_holding(records, key) for key in sorted(records.teams) if team in ("", key))


def _holding(records: Records, team: str) -> TeamHolding:
    quota, balance = records.quotas.get(team), records.balances.get(team)
    return TeamHolding(
        team=team_named(records, team),
        active=records.teams[team].active,
        held_parts=balance.held_parts if balance else 0,
        max_cards=quota.max_cards if quota else None,
        quota_version=quota.version if quota else 0,
    )


def _sum(who: Named, rows: Iterable[UsageRow]) -> Spent:
    listed = tuple(rows)
    return Spent(who, sum(row.spent_card_seconds for row in listed), sum(row.lost_card_seconds for row in listed))


def _by(rows: tuple[UsageRow, ...], of: Callable[[UsageRow], Named]) -> tuple[Spent, ...]:
    groups: dict[Named, list[UsageRow]] = {}
    for row in rows:
        groups.setdefault(of(row), []).append(row)
    spent = [_sum(who, group) for who, group in groups.items()]
    return tuple(sorted(spent, key=lambda s: (-s.spent_card_seconds - s.lost_card_seconds, s.who.id)))
