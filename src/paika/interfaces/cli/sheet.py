"""Writing for people: lines and tables that fit the terminal, with the widths of Chinese right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from paika.domain.visible import shown
from paika.interfaces.cli.fold import fold, spans

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

GAP = 2
LEAST = 6
Part = str | tuple[str, str]  # text, or text and its style


@dataclass(frozen=True, slots=True)
class Column:
    """A column. A `loose` one gives way, with an ellipsis, when the table is too wide; `right` aligns numbers."""

    head: str
    loose: bool = False
    right: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells in the order of the columns, and a line of its own below them."""

    cells: Sequence[Part]
    below: str = ""


def cut(text: str, width: int) -> str:
    """The text in at most `width` cells, with an ellipsis if something is left out."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 1 else "…"[:width]


def widths_of(columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int) -> list[int]:
    """Cells for each column so that all fit into `room`: loose columns give way first, the widest most."""
    widths = [
        max([cell_len(column.head), *(cell_len(row[place]) for row in rows)]) for place, column in enumerate(columns)
    ]
    for may_shrink in ([n for n, column in enumerate(columns) if column.loose], list(range(len(columns)))):
        over = sum(widths) + GAP * (len(widths) - 1) - room
        while over > 0 and may_shrink:
            widest = max(may_shrink, key=lambda n: widths[n])
            if widths[widest] <= LEAST:
                break
            widths[widest] -= 1
            over -= 1
    return widths


class Sheet:
    """Where a command writes. Colours only on a terminal, and not with NO_COLOR; invisible signs are shown."""

    def __init__(self, *, err: bool = False, console: Console | None = None) -> None:
        from rich.console import Console

        self.console = console or Console(stderr=err, highlight=False, markup=False, emoji=False)

    @property
    def width(self) -> int:
        """Cells in a line."""
        return self.console.width

    @property
    def terminal(self) -> bool:
        """Whether somebody looks."""
        return self.console.is_terminal

    def line(self, *parts: Part) -> None:
        """One line, folded where it is too long."""
        text = text_of(parts)
        for start, end in spans(text.plain, self.width):
            self.console.print(text[start:end], no_wrap=True, overflow="ignore", crop=False)

    def raw(self, text: str) -> None:
        """Text that stands already as it should; nothing is folded or ended."""
        self.console.file.write(text)
        self.console.file.flush()

    def facts(self, *pairs: tuple[str, Part]) -> None:
        """Names and values below each other; an empty value is left out."""
        told = [(name, value) for name, value in pairs if _plain(value)]
        wide = max((cell_len(name) for name, _ in told), default=0)
        for name, value in told:
            lines = fold(shown(_plain(value)), self.width - wide - GAP)
            style = value[1] if isinstance(value, tuple) else ""
            for n, line in enumerate(lines):
                head = set_cell_size(name if n == 0 else "", wide)
                self.console.print(text_of(((head + " " * GAP, "dim"), (line, style))), no_wrap=True, overflow="ignore")

    def table(self, columns: Sequence[Column], rows: Sequence[Row | Sequence[Part]]) -> None:
        """Heads and rows, never wider than the line. Columns in which nothing stands are left out."""
        listed = [row if isinstance(row, Row) else Row(row) for row in rows]
        kept = [n for n in range(len(columns)) if any(_plain(row.cells[n]) for row in listed)]
        columns = [columns[n] for n in kept]
        plain = [[shown(_plain(row.cells[n])) for n in kept] for row in listed]
        widths = widths_of(columns, plain, self.width)
        self._print([(column.head, "dim") for column in columns], columns, widths)
        for row in listed:
            self._print([row.cells[n] for n in kept], columns, widths)
            if row.below:
                self.console.print(text_of(((cut("   └ " + shown(row.below), self.width), "dim"),)), no_wrap=True)

    def _print(self, cells: Sequence[Part], columns: Sequence[Column], widths: Sequence[int]) -> None:
        parts: list[Part] = []
        for n, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
            text = cut(shown(_plain(cell)), width)
            space = " " * (width - cell_len(text))
            text = space + text if column.right else text if n + 1 == len(cells) else text + space
            parts += [(text, cell[1] if isinstance(cell, tuple) else ""), " " * GAP if n + 1 < len(cells) else ""]
        self.console.print(text_of(parts), no_wrap=True, overflow="ignore", crop=False)


def text_of(parts: Sequence[Part]) -> Text:
    """Styled text in which no sign is invisible and nothing is markup."""
    from rich.text import Text

    made = Text()
    for part in parts:
        made.append(shown(_plain(part)), part[1] if isinstance(part, tuple) else "")
    return made


def _plain(part: Part) -> str:
    return part[0] if isinstance(part, tuple) else part
