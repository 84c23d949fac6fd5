"""Who would start later or sooner, and which runs would be stopped, as previews tell it."""

from __future__ import annotations

from collections.abc import Sequence

from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet

_HEADS = (
    ("cli.col.id", False, False),
    ("col.task", True, False),
    ("col.owner", True, False),
    ("col.team", True, False),
    ("cli.col.tier", False, False),
    ("move.before", False, False),
    ("move.after", False, False),
    ("move.by", False, True),
)


def show_shifts(sheet: Sheet, p: Phrases, rows: Sequence[Told], count: int, at: str, last: str = "move.by") -> None:
    """A table of shifts, and how many more there are; `at` is the instant that counts as now."""
    heads = [Column(p.t(last if head == "move.by" else head), loose, right) for head, loose, right in _HEADS]
    sheet.table(heads, [_row(p, shift, at) for shift in rows])
    if count > len(rows):
        sheet.line((p.t("list.more", count=count - len(rows)), "dim"))


def show_stops(sheet: Sheet, p: Phrases, stops: Sequence[Told]) -> None:
    """Runs that would be stopped, and what is lost with them."""
    for stop in stops:
        key = "move.stops" if stop["checkpoint"] else "move.stops_lost"
        facts = {"task": p.both(stop["task"]), "owner": p.person(stop["owner"]), "cards": stop["cards"]}
        sheet.line((p.t(key, hours=p.hours(stop["lost_card_s"]), **facts), "yellow" if stop["checkpoint"] else "red"))


def start_at(p: Phrases, at: str | None, now: str) -> str:
    """A start: now, an instant, or that none can be told."""
    return p.t("start.untold") if at is None else p.t("unblocking.now") if at == now else p.when(at)


def _row(p: Phrases, shift: Told, at: str) -> Row:
    by: Part = p.span(abs(shift["later_s"])) if shift["later_s"] is not None else p.t("move.open")
    tier = "" if shift["tier"] == "normal" else p.t(f"tier.{shift['tier']}")
    cells: tuple[Part, ...] = (
        str(shift["task"]["id"]),
        str(shift["task"]["name"]),
        p.person(shift["owner"]),
        p.person(shift["team"]),
        tier,
        start_at(p, shift["before"], at),
        start_at(p, shift["after"], at),
        (str(by), "red") if shift["misses"] else by,
    )
    return Row(cells, p.t("move.misses", at=p.when(shift["milestone_at"])) if shift["misses"] else "")
