"""Bookings, maintenance and guarantees: who has which cards when, promised in advance."""

from __future__ import annotations

from typing import Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.cards import shortened
from paika.interfaces.cli.command import Answer, Command, arg, fields_as_options, form_of, opt, switch
from paika.interfaces.cli.listing import LISTED, most_of, settled, show_list
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.interfaces.wording.say import BOOKING_CAUSE
from paika.services.booking_form import BOOKING, GUARANTEE

IF_VERSION = opt("if_version", metavar="N")
REASON = opt("reason")
WAITLIST = switch("waitlist", about="cli.opt.waitlist")
DRY_RUN = switch("dry_run", about="cli.opt.only_tell")
YES = switch("yes", "-y", "--yes")
_TONES = {"now": "cyan", "booked": "green", "asked": "yellow", "listed": "yellow"}
_FEW = 4  # cards named one by one


def ls(
    call: Call,
    *,
    team: str | None,
    since: str | None,
    until: str | None,
    state: list[str],
    limit: int | None,
    everything: bool,
) -> Answer:
    """Bookings and maintenance, by their start."""
    told = call.client.get("reservations", team=team, until=until, state=state, **{"from": since})
    told = settled(told, told["rows"], most_of(call, limit, everything))
    return show_list(call, told, _ROWS, booking_row, empty="cli.none.bookings")


_ROWS = (
    "cli.col.id",
    "cli.col.state",
    "booking.starts",
    "booking.ends",
    Column("cli.col.cards", right=True),
    Column("cli.col.node", loose=True),
    Column("booking.for", loose=True),
    Column("booking.title", loose=True),
)


def booking_row(p: Phrases, row: Told) -> Row:
    """One booking."""
    one = row["reservation"]
    cells: tuple[Part, ...] = (
        str(one["id"]),
        _state(p, row["shows"]),
        p.when(one["starts_at"]),
        p.when(one["ends_at"]),
        str(one["wanted"]),
        p.listed(row["nodes"]) if row["nodes"] else "",
        _for_whom(p, row),
        str(one["title"]),
    )
    return Row(cells)


def _state(p: Phrases, shows: str) -> Part:
    return p.t(f"booking.state.{shows}"), _TONES.get(shows, "dim")


def _for_whom(p: Phrases, row: Told) -> str:
    if row["task"] is not None:
        return p.both(row["task"])
    return p.person(row["team"]) if row["team"] is not None else p.t("booking.purpose.maintenance")


def show(call: Call, *, booking: str) -> Answer:
    """All of a booking."""
    told = call.client.booking(booking)
    return Answer(told, lambda sheet: _show(sheet, Phrases(call.tongue, told["at"]), told))


def _show(sheet: Sheet, p: Phrases, told: Told) -> None:
    row = told["row"]
    one = row["reservation"]
    sheet.line((f"{one['id']}  ", "bold"), (f"{one['title']}  ", "bold"), _state(p, row["shows"]))
    cause = p.told(BOOKING_CAUSE, one["state_cause"])
    asked = p.listed(one["asked_cards"]) if one["asked_cards"] else p.t("list.or").join(one["card_types"])
    sheet.facts(
        (p.t("booking.for"), _for_whom(p, row)),
        (p.t("booking.starts"), p.when(one["starts_at"])),
        (p.t("booking.ends"), p.when(one["ends_at"])),
        (p.t("cli.col.cards"), f"{one['wanted']}  {_cards(p, one['cards'])}".strip()),
        (p.t("booking.asked"), asked),
        (p.t("field.together"), str(one["together"]) if one["together"] > 1 else ""),
        (p.t("cli.col.node"), p.listed(row["nodes"]) if row["nodes"] else ""),
        (p.t("cli.col.by"), p.both(row["person"])),
        (p.t("booking.approved_by"), one["approved_by"]),
        (p.t("fact.cause"), cause),
        (p.t("cli.version"), str(one["version"])),
    )
    _meets(sheet, p, told)


def _cards(p: Phrases, cards: list[str]) -> str:
    short = shortened(cards)
    named = [short[card] for card in cards[:_FEW]]
    return p.listed([*named, f"+{len(cards) - _FEW}"] if len(cards) > _FEW else named) if cards else ""


def _meets(sheet: Sheet, p: Phrases, told: Told) -> None:
    """Whom the booking meets on its cards."""
    for one in told["held"]:
        until = p.until(one["ending"])
        facts = {"task": p.both(one["task"]), "owner": p.person(one["owner"]), "cards": len(one["cards"])}
        sheet.line((p.t("booking.held", until=until, **facts), "yellow"))
    for one in told["promised"]:
        facts = {"task": p.both(one["task"]), "owner": p.person(one["owner"]), "cards": len(one["cards"])}
        sheet.line((p.t("booking.promised", at=p.when(one["start_by"]), **facts), "yellow"))
    for one in told["floors"]:
        sheet.line((one["message"], "yellow"))


def add(call: Call, *, waitlist: bool, dry_run: bool, key: str | None, **fields: Any) -> Answer:
    """A new booking."""
    return _add(call, fields, waitlist, dry_run, key)


def add_maintenance(call: Call, *, waitlist: bool, dry_run: bool, key: str | None, **fields: Any) -> Answer:
    """Cards out of use for a while."""
    return _add(call, {**fields, "purpose": "maintenance"}, waitlist, dry_run, key)


def _add(call: Call, fields: dict[str, Any], waitlist: bool, dry_run: bool, key: str | None) -> Answer:
    body = form_of(fields, BOOKING.fields)
    return _done(call, call.client.book(body, waitlist=waitlist, dry_run=dry_run, key=key))


def edit(call: Call, *, booking: str, waitlist: bool, dry_run: bool, if_version: str | None, **fields: Any) -> Answer:
    """Change a booking."""
    body = form_of(fields, BOOKING.fields) | {"waitlist": waitlist, "dry_run": dry_run}
    return _done(call, call.client.edit_booking(booking, body, if_version=if_version))


def approve(
    call: Call, *, booking: str, waitlist: bool, dry_run: bool, reason: str | None, if_version: str | None
) -> Answer:
    """Let through what a member asked for."""
    return _done(
        call,
        call.client.approve_booking(booking, reason or "", waitlist=waitlist, dry_run=dry_run, if_version=if_version),
    )


def cancel(call: Call, *, booking: str, reason: str | None, yes: bool, dry_run: bool, if_version: str | None) -> Answer:
    """Cancel a booking; what it is is shown and asked about first."""
    if not yes and not dry_run:
        told = call.client.booking(booking)
        p, row = Phrases(call.tongue, told["at"]), told["row"]
        one = row["reservation"]
        window = f"{p.when(one['starts_at'])} – {p.when(one['ends_at'])}"
        call.err.facts((p.t("booking.for"), _for_whom(p, row)), (p.t("booking.window"), window))
        call.sure(call.t("cli.sure.cancel_booking", booking=booking), yes)
    gone = call.client.cancel_booking(booking, reason or "", dry_run=dry_run, if_version=if_version)
    return _done(call, gone)


def _done(call: Call, told: Told) -> Answer:
    def view(sheet: Sheet) -> None:
        p, one = Phrases(call.tongue), told["reservation"]
        if told["dry_run"]:
            sheet.line((call.t("booking.only_told"), "yellow"))
        shows = "asked" if one["state"] == "listed" and not one["approved_by"] else one["state"]
        window = f"  {p.when(one['starts_at'])} – {p.when(one['ends_at'])}  "
        sheet.line((f"{one['id']}  ", "bold"), _state(p, shows), window, _cards(p, one["cards"]))
        _meets(sheet, p, told)

    return Answer(told, view)


def ls_guarantees(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """What teams are guaranteed, and what their core tasks hold."""
    told = call.client.get("guarantees")
    told = settled(told, told["rows"], most_of(call, limit, everything))
    return show_list(call, told, _GUARANTEES, _guarantee_row, empty="cli.none.guarantees")


_GUARANTEES = (
    Column("cli.col.id", loose=True),
    Column("field.team", loose=True),
    Column("guarantee.floor", right=True),
    Column("field.together", right=True),
    Column("guarantee.held", right=True),
    Column("cli.col.type", loose=True),
    Column("fact.note", loose=True),
)


def _guarantee_row(p: Phrases, row: Told) -> Row:
    one = row["guarantee"]
    types = p.listed(one["card_types"]) if one["card_types"] else p.t("need.any")
    note = str(one["note"]).replace("\n", " ")
    numbers = (str(one["cards"]), str(one["together"]), p.parts(row["held_parts"]))
    return Row((str(one["id"]), p.person(row["team"]), *numbers, types, note))


def set_guarantee(call: Call, *, team: str, cards: str, dry_run: bool, if_version: str | None, **fields: Any) -> Answer:
    """Guarantee a team so many cards."""
    body = form_of(fields, GUARANTEE.fields) | {"cards": cards}
    return _granted(call, call.client.set_guarantee(team, body, dry_run=dry_run, if_version=if_version))


def remove_guarantee(
    call: Call, *, guarantee: str, reason: str | None, yes: bool, dry_run: bool, if_version: str | None
) -> Answer:
    """Take a guarantee back, after asking."""
    if not dry_run:
        call.sure(call.t("cli.sure.remove_guarantee", guarantee=guarantee), yes)
    told = call.client.remove_guarantee(guarantee, reason or "", dry_run=dry_run, if_version=if_version)
    return _granted(call, told)


def _granted(call: Call, told: Told) -> Answer:
    def view(sheet: Sheet) -> None:
        if told["dry_run"]:
            sheet.line((call.t("booking.only_told"), "yellow"))
        one = told["guarantee"]
        if one is None:
            sheet.line(call.t("guarantee.gone"))
        else:
            sheet.line((f"{one['id']}  ", "bold"), f"{call.t('guarantee.floor')} {one['cards']}")

    return Answer(told, view)


_SWITCHES = ("waitlist", "dry_run", "purpose")
_FIELDS = fields_as_options(BOOKING.fields, "booking", but=_SWITCHES)
_OUT = fields_as_options(BOOKING.fields, "booking", but=(*_SWITCHES, "team", "task"))
KEY = opt("key", about="cli.opt.booking_key")
COMMANDS = (
    Command(
        "booking ls",
        ls,
        (
            opt("team"),
            opt("since", "--from", metavar="TIME"),
            opt("until", metavar="TIME"),
            opt("state", many=True, metavar="booked|…"),
            *LISTED,
        ),
    ),
    Command("booking show", show, (arg("booking"),)),
    Command("booking add", add, (*_FIELDS, WAITLIST, DRY_RUN, KEY)),
    Command("booking edit", edit, (arg("booking"), *_FIELDS, WAITLIST, DRY_RUN, IF_VERSION)),
    Command("booking approve", approve, (arg("booking"), REASON, WAITLIST, DRY_RUN, IF_VERSION)),
    Command("booking cancel", cancel, (arg("booking"), REASON, YES, DRY_RUN, IF_VERSION)),
    Command("maintenance add", add_maintenance, (*_OUT, WAITLIST, DRY_RUN, KEY)),
    Command("guarantee ls", ls_guarantees, LISTED),
    Command(
        "guarantee set",
        set_guarantee,
        (
            arg("team"),
            arg("cards", about="cli.arg.floor_cards", metavar="N"),
            *fields_as_options(GUARANTEE.fields, "guarantee", but=("cards", "dry_run")),
            DRY_RUN,
            IF_VERSION,
        ),
    ),
    Command("guarantee rm", remove_guarantee, (arg("guarantee"), REASON, YES, DRY_RUN, IF_VERSION)),
)
