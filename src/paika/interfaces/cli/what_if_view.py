"""The answer to a what-if, for people: the tasks asked about, everybody else, runs, floors, figures."""

from __future__ import annotations

from typing import Any

from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Row, Sheet
from paika.interfaces.cli.shifts import show_shifts, show_stops, start_at
from paika.services.what_if_form import UNNAMED

MOST_ENDED = 20
_COUNTS = ("cards", "waiting", "starts", "told", "untold", "parked", "stops", "misses")


def show_what_if(sheet: Sheet, p: Phrases, told: Told) -> None:
    """All of it."""
    for subject in told["subjects"]:
        show_subject(sheet, p, subject, told["at"])
    _ended(sheet, p, told)
    show_others(sheet, p, told)
    for floor in told["floors"]:
        sheet.line((floor["message"], "red"))
    for booked in told["bookings"]:
        _booked(sheet, p, booked)
    _counts(sheet, p, told)
    sheet.line((p.t("whatif.only_told"), "dim"))


def show_subject(sheet: Sheet, p: Phrases, subject: Told, now: str) -> None:
    """Where one task would land: place, start, cards, why it waits."""
    was, becomes = subject["before"], subject["after"]
    name = str(subject["task"]["name"])
    name = p.t("whatif.unnamed") if subject["new"] and name == UNNAMED else name
    sheet.line((name, "bold") if subject["new"] else (f"{subject['task']['id']}  {name}", "bold"))
    sides = [becomes] if was is None else [was, becomes]
    places = [DASH if side["place"] is None else str(side["place"]) for side in sides]
    misses = p.t("move.misses", at=p.when(subject["milestone_at"])) if subject["misses"] else ""
    sheet.facts(
        (p.t("move.position"), " → ".join(places)),
        (p.t("col.start"), " → ".join(fate_said(p, side, now) for side in sides)),
        (p.t("whatif.on"), on_cards(p, becomes)),
        (p.t("field.milestone"), (misses, "red")),
    )
    for reason in becomes["reasons"]:
        sheet.line("  · ", str(reason["message"]))


def fate_said(p: Phrases, fate: Told, now: str) -> str:
    """'now', '14:20–15:10 (82 % …)', 'parked', …"""
    if fate["stands"] in ("starts", "waits"):
        return start_at(p, fate["start_by"], now) if fate["forecast"] is None else p.forecast(fate["forecast"])
    return p.t(f"whatif.stands.{fate['stands']}")


def on_cards(p: Phrases, fate: Told) -> str:
    """'4 × A100-80G @ n1, n2'; nothing where no cards are told."""
    count = sum(len(part["cards"]) for part in fate["parts"])
    if not count:
        return ""
    nodes = p.listed([part["node"] for part in fate["parts"]])
    return f"{count} × {fate['card_type']} @ {nodes}" + (f" · {p.t('word.oversized')}" if fate["oversized"] else "")


def show_others(sheet: Sheet, p: Phrases, told: Told) -> None:
    """Who starts later and who sooner, and what would be stopped for it."""
    if told["later"]:
        sheet.line((p.t("move.later", count=told["later_count"]), "yellow"))
        show_shifts(sheet, p, told["later"], told["later_count"], told["at"])
    else:
        sheet.line(p.t("move.nobody"))
    if told["misses_count"]:
        sheet.line((p.t("move.misses_all", count=told["misses_count"]), "red"))
    if told["sooner"]:
        sheet.line((p.t("whatif.sooner", count=told["sooner_count"]), "green"))
        show_shifts(sheet, p, told["sooner"], told["sooner_count"], told["at"], last="whatif.earlier")
    show_stops(sheet, p, told["stops"])
    if told["spared"]:
        sheet.line(p.t("whatif.spared", count=told["spared"]))
    if told["closed"]:
        sheet.line((p.t("whatif.closed", tasks=p.listed([p.both(task) for task in told["closed"]])), "red"))


def _ended(sheet: Sheet, p: Phrases, told: Told) -> None:
    for one in told["ended"][:MOST_ENDED]:
        run, again = one["run"], one["again"]
        facts = {"task": p.both(run["task"]), "owner": p.person(run["owner"]), "cards": run["cards"]}
        after = p.t("whatif.again", start=fate_said(p, again, told["at"])) if again else p.t("whatif.not_again")
        lost = p.t("whatif.ends", hours=p.hours(run["lost_card_s"]), **facts)
        sheet.line((f"{lost}{p.t('list.dot')}{after}", "red"))
    if len(told["ended"]) > MOST_ENDED:
        sheet.line((p.t("list.more", count=len(told["ended"]) - MOST_ENDED), "dim"))


def _booked(sheet: Sheet, p: Phrases, booked: Told) -> None:
    one = booked["reservation"]
    window = f"{p.when(one['starts_at'])} – {p.when(one['ends_at'])}"
    sheet.line((p.t("whatif.booked", count=len(one["cards"]), window=window), "bold"))
    for held in booked["held"]:
        facts = {"task": p.both(held["task"]), "owner": p.person(held["owner"]), "cards": len(held["cards"])}
        sheet.line((p.t("booking.held", until=p.until(held["ending"]), **facts), "yellow"))


def _counts(sheet: Sheet, p: Phrases, told: Told) -> None:
    """Figures of both plans, only those that differ, and always how many wait."""
    before, after = told["before"], told["after"]
    rows: list[Row] = []
    for name in _COUNTS:
        if name == "waiting" or before[name] != after[name]:
            rows.append(Row((p.t(f"whatif.count.{name}"), str(before[name]), str(after[name]))))
    ends: tuple[Any, ...] = before["last_start"], after["last_start"]
    if ends[0] != ends[1]:
        rows.append(Row((p.t("whatif.count.last_start"), *(DASH if at is None else p.when(at) for at in ends))))
    heads = (Column(""), Column(p.t("move.before"), right=True), Column(p.t("move.after"), right=True))
    sheet.table(heads, rows)
