"""`paika top`: every card, who has it until when, and the head of the queue, as it changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paika.interfaces.cli.call import Call
from paika.interfaces.cli.cards import until, who
from paika.interfaces.cli.command import Answer, Command, opt, switch
from paika.interfaces.cli.exits import ExitCode
from paika.interfaces.cli.phrases import DASH, Phrases, Told
from paika.interfaces.cli.sheet import Column, Part, Row, Sheet
from paika.interfaces.cli.tasks import queue_row
from paika.interfaces.client import Refused, Unreachable

if TYPE_CHECKING:
    from rich.text import Text

QUEUE_ROWS = 8
EVERY_S = 2.0
BAR = 8
HUGE = 1_000_000


def top(call: Call, *, once: bool, every: str | None) -> Answer | int:
    """The board in the terminal; one look where nobody can watch."""
    if once or call.json or not (call.out.terminal and sys.stdin.isatty()):
        told = look(call)
        return Answer(told, lambda sheet: board(call, sheet, told, HUGE))
    try:
        return _live(call, _seconds(every))
    except KeyboardInterrupt:
        return ExitCode.OK


def _seconds(text: str | None) -> float:
    try:
        return max(0.5, min(3600.0, float(text or EVERY_S)))
    except ValueError:
        return EVERY_S


def look(call: Call) -> dict[str, Any]:
    """Nodes with their cards, and the head of the queue."""
    nodes, queue = call.client.get("nodes"), call.client.queue(QUEUE_ROWS)
    return {"at": nodes["at"], "nodes": nodes["rows"], "totals": nodes["totals"], "queue": queue}


def board(call: Call, sheet: Sheet, told: Told, height: int) -> None:
    """The board in at most `height` lines; what does not fit is counted."""
    p = Phrases(call.tongue, told["at"])
    queue = told["queue"]
    room = height - min(len(queue["rows"]), QUEUE_ROWS) * 2 - 6
    sheet.line((_summary(p, told["totals"][0]), "bold"), f"   {p.when(told['at'])}")
    rows = [row for node in told["nodes"] for row in _node(p, node)]
    if rows:
        sheet.table([Column(p.t(c.head) if c.head else "", c.loose, c.right) for c in _COLUMNS], rows[: max(1, room)])
    else:
        sheet.line((p.t("cli.none.cards"), "dim"))
    if len(rows) > max(1, room):
        left = len(rows) - max(1, room)
        sheet.line((p.t("cli.left_out_in", count=left, command="paika card ls --all"), "yellow"))
    sheet.line("")
    sheet.line((p.t("queue.count", count=queue["total"]), "bold"))
    if queue["rows"]:
        sheet.table([Column(p.t(c.head), c.loose, c.right) for c in _QUEUE], [_waiting(p, r) for r in queue["rows"]])
    if queue["left_out"]:
        sheet.line((p.t("cli.left_out_in", count=queue["left_out"], command="paika task ls --all"), "yellow"))


_COLUMNS = (
    Column("cli.col.node", loose=True),
    Column("cli.col.index", right=True),
    Column("cli.col.type", loose=True),
    Column("cli.col.state"),
    Column("fact.vram"),
    Column("fact.busy", right=True),
    Column("cli.col.who", loose=True),
    Column("cli.col.until", loose=True),
)
_QUEUE = (
    Column("col.position", right=True),
    Column("cli.col.id"),
    Column("col.task", loose=True),
    Column("col.owner", loose=True),
    Column("col.need", loose=True),
    Column("col.start", loose=True),
)


def _summary(p: Phrases, totals: Told) -> str:
    free, taken = totals["free"] + totals["promised"], totals["running"] + totals["external"]
    return p.t("cli.top.summary", free=free, all=totals["all"], taken=taken, unfit=totals["unfit"])


def _node(p: Phrases, node: Told) -> list[Row]:
    if not node["cells"]:
        return [Row((node["id"], "", "", p.state(node["state"], "api.state"), "", "", p.t("node.no_cards"), ""))]
    return [_card(p, cell, str(node["id"]) if n == 0 else "") for n, cell in enumerate(node["cells"])]


def _card(p: Phrases, cell: Told, node: str) -> Row:
    index = DASH if cell["index"] is None else str(cell["index"])
    cells: tuple[Part, ...] = (
        node,
        index,
        str(cell["type"]),
        p.state(cell["shows"], "shows"),
        bar(cell["fill_percent"]),
        p.percent(cell["busy_percent"]),
        who(p, cell),
        until(p, cell),
    )
    return Row(cells)


def bar(percent: float | None) -> str:
    """How full, as a bar; a dash when unknown."""
    if percent is None:
        return DASH
    full = round(min(100.0, max(0.0, percent)) * BAR / 100)
    return "█" * full + "░" * (BAR - full)


def _waiting(p: Phrases, row: Told) -> Row:
    whole = queue_row(p, row)
    cells = list(whole.cells)
    return Row((*cells[:4], *cells[5:]), whole.below)


def _live(call: Call, every_s: float) -> int:
    from rich.live import Live

    told, stale = look(call), ""
    console = call.out.console
    with _keys() as pressed, Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(_frame(call, told, stale), refresh=True)
            if pressed(every_s):
                return ExitCode.OK
            try:
                told, stale = look(call), ""
            except Unreachable:
                stale = call.t("cli.top.stale", at=Phrases(call.tongue).when(told["at"]))
            except Refused as refused:
                if refused.status in (401, 403):
                    raise
                stale = refused.message


def _frame(call: Call, told: Told, stale: str) -> Text:
    """The board as one text of the terminal's height."""
    from rich.console import Console
    from rich.text import Text

    real = call.out.console
    drawn = Console(
        width=real.width, force_terminal=True, color_system="standard", highlight=False, markup=False, emoji=False
    )
    with drawn.capture() as captured:
        board(call, Sheet(console=drawn), told, real.height - 1)
        foot = (stale, "bold red") if stale else (call.t("cli.top.keys"), "dim")
        Sheet(console=drawn).line(foot)
    return Text.from_ansi(captured.get().rstrip("\n"))


@contextmanager
def _keys() -> Iterator[Any]:
    """Keys one by one: the value given waits up to some seconds and tells whether 'q' or Ctrl-C was pressed.

    Ctrl-C is a key here too: an exception in the midst of anything may get lost. The second one is none any more.
    """
    import select
    import signal
    import termios
    import tty

    handle = sys.stdin.fileno()
    before, wakes = termios.tcgetattr(handle), os.pipe()

    def interrupted(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.write(wakes[1], b"q")

    def pressed(seconds: float) -> bool:
        ready, _, _ = select.select([handle, wakes[0]], [], [], seconds)
        return any(os.read(file, 64)[:1] in (b"q", b"Q", b"\x1b", b"\x04", b"") for file in ready)

    tty.setcbreak(handle)
    handler = signal.signal(signal.SIGINT, interrupted)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, handler)
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
        for end in wakes:
            os.close(end)


SHORTCUTS = (Command("top", top, (switch("once"), opt("every", metavar="SECONDS"))),)
