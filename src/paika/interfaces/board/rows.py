"""A waiting task as a row in words: need, readiness, expected start, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from paika.domain.dataset import Readiness
from paika.domain.plan import Forecast
from paika.domain.promise import Slip
from paika.domain.task import Demand
from paika.interfaces.board.visit import Visit
from paika.interfaces.wording.say import gib
from paika.interfaces.wording.starts import ToldStart, hit_said, start_said
from paika.services.change_task import may_change
from paika.services.see_queue import QueueRow, facts_of_row
from paika.services.seen import Inputs

# Where a kept row has what changes with every look; no name can hold them, as unseen signs are shown as ⟦U+0000⟧.
_POSITION, _WAITED, _STAMP = (Markup(f"\0{name}\0") for name in ("position", "waited", "stamp"))  # noqa: S704
TONES = {Readiness.READY: "go", Readiness.PREPARING: "warn", Readiness.BLOCKED: "bad", Readiness.UNKNOWN: ""}


@dataclass(frozen=True, slots=True)
class Ready:
    """The inputs of a task in words, with a bar where a percentage is known."""

    says: str
    tone: str
    percent: int | None


@dataclass(frozen=True, slots=True)
class Line:
    """A queue row, ready to be shown. `start` is '—' with its cause in `basis` when no start can be told."""

    row: QueueRow
    need: str
    need_more: str
    ready: Ready | None
    start: str
    basis: str
    slip: str
    reasons: tuple[dict[str, Any], ...]
    mine: bool
    may_change: bool


def table_rows(visit: Visit, rows: Sequence[QueueRow], *, brief: bool = False) -> list[Markup]:
    """Rows of the queue's table. Most are the same from one look to the next, so their text is kept.

    `brief` rows are those of the overview.
    """
    told: dict[int, dict[str, Any]] = {}  # by identity: tasks of one shape share their reasons
    for reason in {id(reason): reason for row in rows for reason in row.reasons}.values():
        told[id(reason)] = visit.told(reason)
    found = []
    for row in rows:
        text = _kept_row(visit, row, tuple(told[id(reason)] for reason in row.reasons), brief)
        position = "—" if row.position is None else str(row.position)
        text = text.replace(_POSITION, position).replace(_WAITED, escape(visit.ago(row.waiting_since)))
        found.append(Markup(text.replace(_STAMP, str(visit.stamp))))  # noqa: S704 - from a template, which escapes
    return found


def _kept_row(visit: Visit, row: QueueRow, reasons: tuple[dict[str, Any], ...], brief: bool) -> str:
    may = may_change(visit.who, visit.records.tasks[row.id])
    mine = row.owner.id == visit.who.person

    def make() -> str:
        values = {"it": line_of(visit, row), "row": row, "brief": brief}
        return visit.filled("queue_row.html", **values, position=_POSITION, waited=_WAITED, plan_stamp=_STAMP)

    return visit.speaker.memory.row(("html", row.id, brief, may, mine), (facts_of_row(row), reasons), make)


def line_of(visit: Visit, row: QueueRow) -> Line:
    """One waiting task in words."""
    start, basis = start_words(visit, row)
    return Line(
        row=row,
        need=need_words(visit, row.demand),
        need_more=limit_words(visit, row.limit_s, row.estimate.likely_s if row.estimate else None),
        ready=ready_words(visit, row.inputs),
        start=start,
        basis=basis,
        slip=slip_words(visit, row.forecast.slip if row.forecast else None),
        reasons=tuple(visit.told(reason) for reason in row.reasons),
        mine=row.owner.id == visit.who.person,
        may_change=may_change(visit.who, visit.records.tasks[row.id]),
    )


def need_words(visit: Visit, demand: Demand) -> str:
    """'2 × A100-80G', '4 × ≥ 40 GiB', '10 GiB + 50 % of a card', '16 on 2 machines'."""
    if demand.share:
        return visit.t("need.share", vram=gib(demand.share.vram_mib), bandwidth=demand.share.bandwidth_percent)
    kind = demand.asked_types or visit.t("list.or").join(demand.types)
    vram = f"≥ {gib(demand.vram_mib)}" if demand.vram_mib else ""
    said = " · ".join(part for part in (kind, vram) if part) or visit.t("need.any")
    words = f"{demand.cards} × {said}"
    return visit.t("need.gang", need=words, nodes=demand.nodes) if demand.nodes > 1 else words


def limit_words(visit: Visit, limit_s: int | None, likely_s: int | None) -> str:
    """'limit 6 h', 'about 4 h', or that neither is known."""
    if limit_s is not None:
        return visit.t("need.limit", span=visit.span(limit_s))
    return visit.t("need.estimate", span=visit.span(likely_s)) if likely_s is not None else visit.t("need.unlimited")


def ready_words(visit: Visit, inputs: Inputs | None) -> Ready | None:
    """Readiness of the inputs; None for a task without any."""
    if inputs is None:
        return None
    state = visit.t(f"readiness.{inputs.readiness}")
    if inputs.readiness is Readiness.READY or inputs.percent is None:
        return Ready(state, TONES[inputs.readiness], None)
    return Ready(f"{state} {inputs.percent} %", TONES[inputs.readiness], inputs.percent)


def told_start(forecast: Forecast) -> ToldStart:
    """What people read of a forecast."""
    return ToldStart(forecast.start_by, forecast.start_from, forecast.hit_permille, forecast.holds, forecast.rough)


def slip_words(visit: Visit, slip: Slip | None) -> str:
    """Why a start is later than promised; '' if it is not."""
    return visit.t(f"slip.{slip.cause}", was=slip.was, subject=slip.subject) if slip else ""


def start_words(visit: Visit, row: QueueRow) -> tuple[str, str]:
    """The expected start and what it rests on; a dash with its cause when none can be told."""
    if row.forecast is not None:
        told = told_start(row.forecast)
        basis = "" if told.rough else visit.t("start.by_limits" if row.forecast.by_limits else "start.by_estimates")
        said = [part for part in (hit_said(visit.t, told), basis) if part]
        return start_said(visit.t, told, visit.context.zone, visit.now), visit.t("list.dot").join(said)
    if row.unseen_since is not None:
        return "—", visit.t("start.unseen")
    first = row.reason
    if first is None:
        return "—", visit.t("start.untold")
    if first.parks:
        return "—", visit.t("start.parked")
    return "—", visit.maybe(f"start.{first.code}", visit.t("start.untold"))
