"""Cards and nodes: seen, taken out, given back."""

from __future__ import annotations

from typing import Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, Command, arg, opt
from paika.interfaces.cli.listing import LISTED, most_of, settled, show_list
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.interfaces.client import Refused
from paika.interfaces.wording.say import CARD_CAUSE

REASON = opt("reason")
SHORT_ID = 12


def ls(
    call: Call,
    *,
    node: str | None,
    pool: str | None,
    card_type: str | None,
    shows: list[str],
    limit: int | None,
    everything: bool,
) -> Answer:
    """Cards, who is on them and until when."""
    told = call.client.get("cards", node=node, pool=pool, type=card_type, shows=shows)
    told = settled(told, told["rows"], most_of(call, limit, everything))

    def foot(sheet: Sheet, phrases: Phrases) -> None:
        sheet.line((_totals(phrases, told["totals"][0]), "dim"))

    short = shortened([row["id"] for row in told["rows"]])
    return show_list(call, told, _CARDS, lambda p, row: card_row(p, row, short), empty="cli.none.cards", foot=foot)


_CARDS = (
    Column("cli.col.node", loose=True),
    Column("cli.col.index", right=True),
    "cli.col.id",
    Column("cli.col.type", loose=True),
    "cli.col.state",
    Column("fact.vram", right=True),
    Column("fact.busy", right=True),
    Column("cli.col.who", loose=True),
    Column("cli.col.until", loose=True),
)


def shortened(ids: list[str]) -> dict[str, str]:
    """Ids cut as far as they still differ from each other, for lists; every command takes such a beginning."""
    length = SHORT_ID
    longest = max((len(key) for key in ids), default=0)
    while length < longest and len({key[:length] for key in ids}) < len(set(ids)):
        length += 4
    return {key: key if len(key) <= length + 1 else key[:length] + "…" for key in ids}


def card_row(p: Phrases, cell: Told, short: dict[str, str]) -> Row:
    """One card."""
    index = DASH if cell["index"] is None else str(cell["index"])
    vram = p.filled(cell["vram_used_mib"], cell["vram_total_mib"])
    cells: tuple[Part, ...] = (
        str(cell["node"]),
        index,
        short[cell["id"]],
        str(cell["type"]),
        p.state(cell["shows"], "shows"),
        vram,
        p.percent(cell["busy_percent"]),
        who(p, cell),
        until(p, cell),
    )
    return Row(cells)


def who(p: Phrases, cell: Told) -> str:
    """Who is on a card, or for whom it is kept, or why it is out."""
    if cell["occupants"]:
        return p.listed([f"{o['owner']['name']} {o['task']['name']}" for o in cell["occupants"]])
    if cell["external"] is not None:
        return p.listed(cell["external"]["users"])
    if cell["promised"] is not None:
        return f"→ {cell['promised']['owner']['name']} {cell['promised']['task']['name']}"
    return p.told(CARD_CAUSE, cell["health_cause"])


def until(p: Phrases, cell: Told) -> str:
    """Until when it is taken, or when it starts at the latest."""
    if cell["occupants"]:
        ends = [o["ending"] for o in cell["occupants"]]
        known = [end for end in ends if end["at"] is not None]
        return p.until(max(known, key=lambda end: str(end["at"])) if len(known) == len(ends) else None)
    return p.t("start.by", at=p.when(cell["promised"]["at"])) if cell["promised"] is not None else ""


def _totals(p: Phrases, totals: Told) -> str:
    names = (("free", "shows.free"), ("promised", "shows.promised"), ("running", "shows.running"))
    more = (("external", "shows.external"), ("unfit", "cli.unfit"))
    said = [f"{p.t(word)} {totals[name]}" for name, word in (*names, *more) if totals[name]]
    return " · ".join([p.t("cards.count", count=totals["all"]), *said])


def full_id(call: Call, text: str) -> str:
    """The id that begins so, if there is just one; else the text as it is, for the server to judge."""
    begin = text.rstrip("…")
    try:
        call.client.get("cards", begin)
        return begin
    except Refused as refused:
        if refused.status != 404:
            raise
    found = [row["id"] for row in call.client.get("cards")["rows"] if begin and row["id"].startswith(begin)]
    return str(found[0]) if len(found) == 1 else text


def show(call: Call, *, card: str) -> Answer:
    """All of a card."""
    told = call.client.get("cards", full_id(call, card))
    return Answer(told, lambda sheet: _show(sheet, Phrases(call.tongue), told))


def _show(sheet: Sheet, p: Phrases, cell: Told) -> None:
    sheet.line((cell["id"], "bold"), "  ", p.state(cell["shows"], "shows"))
    age = cell["reading_age_s"]
    sheet.facts(
        (p.t("cli.col.node"), f"{cell['node']} · {cell['pool'] or p.t('pool.none')}"),
        (p.t("cli.col.index"), DASH if cell["index"] is None else str(cell["index"])),
        (p.t("cli.col.type"), str(cell["type"])),
        (p.t("fact.vram"), p.filled(cell["vram_used_mib"], cell["vram_total_mib"]) + " GiB"),
        (p.t("fact.busy"), p.percent(cell["busy_percent"])),
        (p.t("fact.read"), p.t("fact.not_read") if age is None else p.t("time.ago", span=p.span(age))),
        (p.t("fact.cause"), p.told(CARD_CAUSE, cell["health_cause"])),
        (p.t("fact.lease"), p.when(cell["lease_ends_at"]) if cell["lease_ends_at"] else ""),
        (p.t("fact.note"), cell["note"]),
        (p.t("cli.version"), str(cell["version"])),
    )
    for one in cell["occupants"]:
        sheet.facts(
            (p.t("fact.task"), p.both(one["task"])),
            (p.t("fact.owner"), f"{p.both(one['owner'])} · {p.both(one['team'])}"),
            (p.t("fact.since"), p.when(one["since"])),
            (p.t("fact.until"), p.until(one["ending"])),
        )
    if cell["occupants"] or cell["promised"] is None:
        return
    sheet.facts((p.t("fact.next"), p.both(cell["promised"]["task"])), (p.t("fact.start_by"), until(p, cell)))


def drain(call: Call, *, card: str, reason: str | None) -> Answer:
    """No new runs on a card."""
    return _card_done(call, card, "drain", reason)


def undrain(call: Call, *, card: str, reason: str | None) -> Answer:
    """Give a card back."""
    return _card_done(call, card, "release", reason)


def _card_done(call: Call, card: str, verb: str, reason: str | None) -> Answer:
    told = call.client.send("POST", "cards", full_id(call, card), verb, body=_body(reason))
    return Answer(
        told,
        lambda sheet: sheet.line(
            (f"{told['id']}  ", "bold"), call.tongue.maybe(f"api.state.{told['health']}", told["health"])
        ),
    )


def _body(reason: str | None) -> dict[str, Any]:
    return {} if reason is None else {"reason": reason}


def ls_nodes(call: Call, *, limit: int | None, everything: bool) -> Answer:
    """Machines with their cards in short."""
    told = call.client.get("nodes")
    told = settled(told, told["rows"], most_of(call, limit, everything))
    return show_list(call, told, _NODES, node_row, empty="cli.none.nodes")


_NODES = (
    "cli.col.node",
    Column("cards.pool", loose=True),
    "cli.col.state",
    Column("cli.col.type", loose=True),
    Column("cli.col.cards", right=True),
    Column("shows.free", right=True),
    "fact.lease",
    Column("fact.cause", loose=True),
)


def node_row(p: Phrases, node: Told) -> Row:
    """One machine."""
    cells = node["cells"]
    free = sum(cell["shows"] in ("free", "promised") for cell in cells)
    cause = node["blind"] or node["state_cause"] or ("" if node["engine"] else p.t("node.no_engine")) or node["note"]
    row: tuple[Part, ...] = (
        str(node["id"]),
        str(node["pool"]),
        p.state(node["state"], "api.state"),
        p.listed(sorted({cell["type"] for cell in cells})),
        str(len(cells)),
        str(free),
        p.when(node["lease_ends_at"]) if node["lease_ends_at"] else "",
        str(cause),
    )
    return Row(row)


def drain_node(call: Call, *, node: str, reason: str | None) -> Answer:
    """No new runs on a machine."""
    return _node_done(call, node, "drain", reason)


def undrain_node(call: Call, *, node: str, reason: str | None) -> Answer:
    """Give a machine back."""
    return _node_done(call, node, "release", reason)


def _node_done(call: Call, node: str, verb: str, reason: str | None) -> Answer:
    told = call.client.send("POST", "nodes", node, verb, body=_body(reason))
    return Answer(
        told,
        lambda sheet: sheet.line((f"{told['id']}  ", "bold"), Phrases(call.tongue).state(told["state"], "api.state")),
    )


COMMANDS = (
    Command(
        "card ls",
        ls,
        (
            opt("node"),
            opt("pool"),
            opt("card_type", "--type", about="cli.opt.type"),
            opt("shows", many=True, metavar="free|…"),
            *LISTED,
        ),
    ),
    Command("card show", show, (arg("card"),)),
    Command("card drain", drain, (arg("card"), REASON)),
    Command("card undrain", undrain, (arg("card"), REASON)),
    Command("card release", undrain, (arg("card"), REASON)),
    Command("node ls", ls_nodes, LISTED),
    Command("node drain", drain_node, (arg("node"), REASON)),
    Command("node undrain", undrain_node, (arg("node"), REASON)),
)
