"""The books: usage, ledger, audit; what runs out soon."""

from __future__ import annotations

from typing import Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, opt
from paika.interfaces.cli.listing import LISTED, fetch, most_of, settled, show_list
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Row, Sheet

WINDOW = (opt("since", metavar="TIME"), opt("until", metavar="TIME"))
WHO = (opt("team"), opt("person"))


def usage(call: Call, **asked: Any) -> Answer:
    """Card time by team, person and card type, from the ledger."""
    told = call.client.usage(**{name: value or "" for name, value in asked.items()})
    return Answer(told, lambda sheet: _usage(call, sheet, told))


def _usage(call: Call, sheet: Sheet, told: Told) -> None:
    p = Phrases(call.tongue, told["at"])
    total = told["total"]
    lost = p.t("ledger.of_which_lost", hours=p.hours(total["lost_card_seconds"]))
    spent = total["spent_card_seconds"] + total["lost_card_seconds"]
    sheet.line((f"{p.hours(spent)} {p.t('unit.card_hours')}", "bold"), f"  {lost}")
    most = call.most(None)
    for name in ("teams", "people", "card_types"):
        if not told[name]:
            continue
        heads = (p.t(f"ledger.who.{name}"), p.t("unit.card_hours"), p.t("ledger.lost"))
        sheet.line("")
        sheet.table(
            [Column(head, loose=n == 0, right=n > 0) for n, head in enumerate(heads)],
            [
                (p.both(row["who"]), p.hours(row["spent_card_seconds"]), p.hours(row["lost_card_seconds"]))
                for row in told[name][:most]
            ],
        )
        if len(told[name]) > most:
            sheet.line((p.t("cli.more_in_json", count=len(told[name]) - most), "yellow"))


def ledger(call: Call, *, limit: int | None, everything: bool, **asked: Any) -> Answer:
    """Ledger entries, newest first."""
    told = fetch(call, most_of(call, limit, everything), "ledger", **asked)
    return show_list(call, told, _LEDGER, _entry, empty="ledger.nothing")


_LEDGER = (
    "ledger.at",
    "ledger.kind",
    Column("cli.col.person", loose=True),
    Column("col.team", loose=True),
    "col.task",
    Column("cli.col.type", loose=True),
    Column("cli.col.cards", right=True),
    Column("unit.card_hours", right=True),
    Column("cli.col.cause", loose=True),
)


def _entry(p: Phrases, row: Told) -> Row:
    cause = p.tongue.maybe(f"ended.{row['cause']}", row["cause"])
    parts = p.parts(row["parts"]) if row["parts"] else ""
    hours = p.hours(row["card_seconds"]) if row["kind"] in ("spend", "lost") else ""
    who = (row["person"], row["team"], row["task"], row["card_type"])
    return Row((p.when(row["at"]), p.t(f"entry.{row['kind']}"), *who, parts, hours, cause))


def audit(call: Call, *, limit: int | None, everything: bool, **asked: Any) -> Answer:
    """Who changed what, from where and why; newest first."""
    told = fetch(call, most_of(call, limit, everything), "audit", **asked)
    heads = ("ledger.at", Column("cli.col.person", loose=True), "cli.col.door", "cli.col.act", _SUBJECT, _RESULT)
    return show_list(call, told, heads, _act)


_SUBJECT, _RESULT = Column("cli.col.subject", loose=True), Column("cli.col.result", loose=True)


def _act(p: Phrases, row: Told) -> Row:
    subject = f"{row['noun']} {row['subject']}"
    changed = ", ".join(f"{k}: {row['old'].get(k, '')} → {v}" for k, v in row["new"].items()) if row["old"] else ""
    why = " · ".join(part for part in (row["why"], changed) if part).replace("\n", " ")
    result = ("", "") if row["result"] == "done" else (str(row["result"]), "red")
    return Row((p.when(row["at"]), row["person"], row["door"], row["act"], subject, result), why)


def due(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """What runs out soon: leases and milestones."""
    told = call.client.get("due")
    told = settled(told, told["rows"], most_of(call, limit, everything))

    def row(p: Phrases, one: Told) -> Row:
        return Row((p.when(one["at"]), p.t(f"cli.due.{one['kind']}"), p.both(one["what"])))

    heads = ("ledger.at", "ledger.kind", Column("cli.col.subject", loose=True))
    return show_list(call, told, heads, row, empty="answer.due.none")


LEDGER = (*WHO, opt("task"), opt("kind", many=True, metavar="hold|release|spend|lost"), *WINDOW, *LISTED)
AUDIT = (opt("noun"), opt("subject"), opt("person"), *WINDOW, *LISTED)
COMMANDS = (
    Command("ledger ls", ledger, LEDGER),
    Command("audit ls", audit, AUDIT),
)
SHORTCUTS = (
    Command("usage", usage, (*WHO, *WINDOW)),
    Command("due", due, LISTED),
)
