"""What a preview tells, in words for a page: where a task would land, when a start is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paika.domain.task import Tier
from paika.interfaces.board.rows import told_start
from paika.interfaces.board.visit import Visit
from paika.interfaces.wording.starts import hit_said, start_said
from paika.services.plan_twice import PreviewsBusy
from paika.services.preview_edits import Fate, Stands, Subject
from paika.services.what_if_form import UNNAMED, Edit

MOST_OTHERS = 10  # of each list in a form or a dialog

Fact = tuple[str, str, str]  # name, value, tone


@dataclass(frozen=True, slots=True)
class Landing:
    """Where a task would land. `id` is '' for a task that exists only in the preview."""

    id: str
    name: str
    tier: Tier
    facts: tuple[Fact, ...]
    reasons: tuple[dict[str, Any], ...]


def planned(visit: Visit, edits: Sequence[Edit]) -> dict[str, object]:
    """What the edits would do, for a page to tell: `told`, `landings`, `start`; or `busy`, if too many ask already."""
    context = visit.context
    try:
        told = context.what_ifs.of(
            context.store, visit.records, visit.live, visit.who, edits, visit.now, most=MOST_OTHERS
        )
    except PreviewsBusy as busy:
        return {"told": None, "landings": (), "start": None, "busy": visit.told(busy)}
    landings = [landing(visit, subject, told.at) for subject in told.subjects]
    return {"told": told, "landings": landings, "start": start_words(visit, told.at), "busy": None}


def start_words(visit: Visit, now: datetime) -> Callable[[datetime | None], str]:
    """How a page says a start: now, an instant, or that none can be told."""

    def said(at: datetime | None) -> str:
        if at is None:
            return visit.t("start.untold")
        return visit.t("unblocking.now") if at == now else visit.when(at)

    return said


def landing(visit: Visit, subject: Subject, now: datetime) -> Landing:
    """The task in words."""
    return Landing(
        id="" if subject.new else subject.task.id,
        name=visit.t("whatif.unnamed") if subject.new and subject.task.name == UNNAMED else subject.task.name,
        tier=subject.tier,
        facts=tuple(_facts(visit, subject, now)),
        reasons=tuple(visit.told(reason) for reason in subject.after.reasons),
    )


def fate_words(visit: Visit, fate: Fate, now: datetime) -> str:
    """'now', '14:20–15:10 (82 % …)', 'parked', …"""
    if fate.stands not in (Stands.STARTS, Stands.WAITS):
        return visit.t(f"whatif.stands.{fate.stands}")
    if fate.forecast is None:
        return start_words(visit, now)(fate.start_by)
    told = told_start(fate.forecast)
    start, hit = start_said(visit.t, told, visit.context.zone, visit.now), hit_said(visit.t, told)
    return visit.t("start.with_hit", start=start, hit=hit) if hit else start


def _facts(visit: Visit, subject: Subject, now: datetime) -> Iterator[Fact]:
    sides = [side for side in (subject.before, subject.after) if side is not None]
    yield visit.t("col.start"), " → ".join(fate_words(visit, side, now) for side in sides), "strong"
    places = ["—" if side.place is None else str(side.place) for side in sides]
    if places[-1] != "—":
        yield visit.t("move.position"), " → ".join(places), ""
    if subject.after.parts:
        yield visit.t("whatif.on"), _cards(visit, subject.after), ""
    if subject.misses:
        yield visit.t("field.milestone"), visit.t("move.misses", at=visit.when(subject.milestone_at)), "bad"


def _cards(visit: Visit, fate: Fate) -> str:
    count = sum(len(part.cards) for part in fate.parts)
    nodes = visit.t("list.comma").join(part.node for part in fate.parts)
    return f"{count} × {fate.card_type} · {nodes}" + (f" · {visit.t('word.oversized')}" if fate.oversized else "")
