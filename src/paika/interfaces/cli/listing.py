"""Lists: as many rows as asked for over all pages, and a word on what was left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.command import Answer, opt, switch
from paika.interfaces.cli.phrases import Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.interfaces.client import PAGE

LIMIT = opt("limit", kind=int, about="cli.opt.limit")
ALL = switch("everything", "--all", about="cli.opt.all")
LISTED = (LIMIT, ALL)
EVERYTHING = 1_000_000_000
MakeRow = Callable[[Phrases, Told], Row | Sequence[Part]]


def fetch(call: Call, most: int, *path: str, **params: Any) -> dict[str, Any]:
    """Rows of a listing, page by page up to `most`, with `total` and how many were `left_out`."""
    first: dict[str, Any] = {}
    rows: list[Any] = []
    cursor: str | None = None
    while True:
        page = call.client.get(*path, cursor=cursor, limit=max(1, min(PAGE, most - len(rows))), **params)
        first = first or {name: value for name, value in page.items() if name not in ("rows", "cursor", "left_out")}
        rows += page["rows"]
        cursor = page.get("cursor")
        if not cursor or len(rows) >= most:
            break
    return settled(first, rows, most, cursor)


def settled(head: dict[str, Any], rows: list[Any], most: int, cursor: str | None = None) -> dict[str, Any]:
    """The listing cut to `most` rows, with what is left out."""
    shown = list(islice(rows, most))
    total = max(int(head.get("total", len(rows))), len(rows))
    return {**head, "rows": shown, "total": total, "left_out": total - len(shown), "cursor": cursor}


def most_of(call: Call, limit: int | None, everything: bool) -> int:
    """How many rows: all, what was said, or what suits the reader."""
    return EVERYTHING if everything else max(0, call.most(limit))


def show_list(
    call: Call,
    told: dict[str, Any],
    columns: Sequence[str | Column],
    make: MakeRow,
    *,
    empty: str = "cli.none",
    foot: Callable[[Sheet, Phrases], None] | None = None,
) -> Answer:
    """The listing as an answer: a table, or a word that there is nothing, and what was left out."""
    phrases = Phrases(call.tongue, told.get("at"))

    def view(sheet: Sheet) -> None:
        if told["rows"]:
            heads = [Column(call.t(c)) if isinstance(c, str) else head(call, c) for c in columns]
            sheet.table(heads, [make(phrases, row) for row in told["rows"]])
        elif not told["left_out"]:
            sheet.line((call.t(empty), "dim"))
        if foot:
            foot(sheet, phrases)
        if told["left_out"]:
            sheet.line((call.t("cli.left_out", count=told["left_out"]), "yellow"))

    return Answer(told, view)


def head(call: Call, column: Column) -> Column:
    """The column with its head in words."""
    return Column(call.t(column.head), column.loose, column.right)
