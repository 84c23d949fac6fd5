"""The first screen: five answers, every card, and who is next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from fastapi import APIRouter
from starlette.responses import Response

from paika.domain.units import PARTS_PER_CARD, SECONDS_PER_HOUR
from paika.interfaces.board.cell import Cell, cell_of
from paika.interfaces.board.rows import Line, line_of, start_words, table_rows
from paika.interfaces.board.visit import BoardRoute, Guest, Visit
from paika.services.see_cards import CardsView, NodeRow, Occupant, Shows, see_cards
from paika.services.see_overview import Overview, see_overview
from paika.services.see_queue import QueueFilter, QueueView, see_queue, see_running
from paika.services.see_readiness import ReadinessView, see_readiness
from paika.services.see_usage import UsageView, see_usage

router = APIRouter(route_class=BoardRoute)
NEXT_UP = 8
COST_DAYS = 7
LINES_MOST = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the five questions with its answer: a figure, what it counts, two lines, and where more stands."""

    key: str
    figure: str
    of: str
    lines: tuple[str, ...]
    href: str
    loud: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A node with its cells in words."""

    node: NodeRow
    cells: tuple[Cell, ...]


@router.get("/")
def overview(visit: Guest) -> Response:
    """The first screen."""
    cards = see_cards(visit.records, visit.live, visit.now, free_since=visit.free_since)
    seen = see_overview(visit.records, visit.live, visit.now, cards=cards)
    queue = see_queue(visit.records, visit.live, visit.now, limit=NEXT_UP)
    return visit.page(
        "overview.html",
        "o",
        seen=seen,
        answers=answers(visit, cards, seen, queue),
        racks=racks(visit, cards),
        legend=[(kind.value, count) for kind in Shows if (count := seen.shows[kind.value])],
        rows=table_rows(visit, queue.rows, brief=True),
        queue=queue,
    )


def answers(visit: Visit, cards: CardsView, seen: Overview, queue: QueueView) -> tuple[Answer, ...]:
    """The five questions of the board, answered in one look."""
    readiness = see_readiness(visit.records, visit.now)
    usage = see_usage(visit.context.store, visit.records, visit.now, since=visit.now - timedelta(days=COST_DAYS))
    return (
        free(visit, cards),
        mine(visit, queue),
        ready(visit, readiness),
        due(visit, seen),
        cost(visit, usage),
    )


def free(visit: Visit, cards: CardsView) -> Answer:
    """Which card is free, and when the next one is."""
    everything, *types = cards.totals
    by_type = visit.t("list.dot").join(f"{total.type} × {total.free}" for total in types if total.free)
    nxt = visit.t("answer.free.next", **ends[0]) if (ends := _endings(visit, cards)) else ""
    if everything.promised:
        by_type = visit.t("list.dot").join(
            filter(None, (by_type, visit.t("answer.free.promised", count=everything.promised)))
        )
    of = visit.t("answer.free.of", all=everything.all)
    return Answer("free", str(everything.free), of, _lines(by_type, nxt), "/cards?shows=free", everything.free > 0)


def mine(visit: Visit, queue: QueueView) -> Answer:
    """When the visitor's next task starts; for somebody without tasks, how long the queue is."""
    wanted = QueueFilter(owner=visit.who.person)
    own = see_queue(visit.records, visit.live, visit.now, wanted)
    running = see_running(visit.records, visit.now, wanted)
    counts = visit.t("answer.mine.counts", waiting=own.total, running=len(running))
    if not own.rows and not running:
        line = visit.t("answer.mine.none")
        return Answer("queue", str(queue.total), visit.t("answer.queue.of"), _lines(line), "/queue")
    told = [row for row in own.rows if row.forecast]
    first = min(told, key=lambda row: row.forecast.start_by if row.forecast else visit.now, default=None)
    href = f"/queue?owner={visit.who.person}"
    if first is None or first.forecast is None:
        cause = visit.t("answer.mine.untold") if own.rows else visit.t("answer.mine.all_run")
        return Answer("mine", "—" if own.rows else str(len(running)), "", _lines(cause, counts), href)
    of = visit.t("answer.mine.of")
    at = start_words(visit, first)[0] if first.forecast.rough else visit.when(first.forecast.start_by)
    return Answer("mine", at, of, _lines(first.name, counts), href)


def ready(visit: Visit, view: ReadinessView) -> Answer:
    """What could run, what waits for data, who owes it."""
    waits = visit.t("answer.ready.waits", count=len(view.wait_for_data)) if view.wait_for_data else ""
    owed = visit.t("list.dot").join(
        f"{debt.who.name if debt.who else visit.t('readiness.nobody')} × {len(debt.datasets)}"
        for debt in view.debts[:3]
    )
    owes = visit.t("answer.ready.owes", who=owed) if owed else ""
    return Answer("ready", str(len(view.can_run)), visit.t("answer.ready.of"), _lines(waits, owes), "/readiness")


def due(visit: Visit, seen: Overview) -> Answer:
    """What runs out soon: leases, milestones, quotas that are used up."""
    first = seen.due[0] if seen.due else None
    soon = visit.t(f"due.{first.kind}", what=first.what.name, at=first.at) if first else ""
    full = [
        f"{held.team.name} {held.held_parts / PARTS_PER_CARD:g}/{held.max_cards}"
        for held in seen.holdings
        if held.max_cards is not None and held.held_parts >= held.max_cards * PARTS_PER_CARD > 0
    ]
    quota = visit.t("answer.due.full", teams=visit.t("list.dot").join(full)) if full else ""
    none = "" if soon or quota else visit.t("answer.due.none")
    href = f"/tasks/{first.what.id}" if first and first.kind == "milestone" else "/teams" if full else "/cards"
    return Answer("due", str(len(seen.due) + len(full)), visit.t("answer.due.of"), _lines(soon, quota or none), href)


def cost(visit: Visit, usage: UsageView) -> Answer:
    """Card-hours of the last days, what of them was lost, and who spent most."""
    total = usage.total
    spent = f"{(total.spent_card_seconds + total.lost_card_seconds) / SECONDS_PER_HOUR:,.1f}"
    lost = visit.t("answer.cost.lost", hours=f"{total.lost_card_seconds / SECONDS_PER_HOUR:,.1f}")
    most = visit.t("answer.cost.most", who=usage.teams[0].who.name) if usage.teams else ""
    return Answer("cost", spent, visit.t("unit.card_hours"), _lines(most, lost), "/ledger")


def racks(visit: Visit, cards: CardsView) -> dict[str, tuple[Row, ...]]:
    """Nodes by pool, each with its cells."""
    by_pool: dict[str, list[Row]] = {}
    for node in cards.nodes:
        by_pool.setdefault(node.pool, []).append(Row(node, tuple(cell_of(visit, cell) for cell in node.cells)))
    return {pool: tuple(rows) for pool, rows in by_pool.items()}


def lines(visit: Visit, queue: QueueView) -> tuple[Line, ...]:
    """Queue rows in words."""
    return tuple(line_of(visit, row) for row in queue.rows)


def _endings(visit: Visit, cards: CardsView) -> list[dict[str, object]]:
    """When cards come free next, earliest first: at, how many, from whom."""
    runs: dict[str, list[Occupant]] = {}
    for cell in (cell for node in cards.nodes for cell in node.cells):
        for occupant in cell.occupants:
            runs.setdefault(occupant.run, []).append(occupant)
    ends = [(group[0].ending.at, group) for group in runs.values()]
    known = sorted(((at, group) for at, group in ends if at and at > visit.now), key=lambda end: end[0])
    return [{"at": at, "cards": len(group), "who": group[0].owner.name} for at, group in known[:1]]


def _lines(*said: str) -> tuple[str, ...]:
    return tuple(line for line in said if line)[:LINES_MOST]
