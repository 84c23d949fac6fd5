"""Lines broken where both languages may be broken, measured in the cells of a terminal."""

from __future__ import annotations

from rich.cells import cell_len

NEVER_FIRST = frozenset("，。；：！？）】》」』”’、…—%,.;:!?)]}")
NEVER_LAST = frozenset("（【《「『“‘([{")


def spans(text: str, width: int) -> list[tuple[int, int]]:
    """Start and end of each line of at most `width` cells; blanks at a break belong to no line.

    A line breaks at a blank, or beside a Chinese sign where punctuation allows it; a word that is longer
    than a line is broken anywhere.
    """
    found: list[tuple[int, int]] = []
    start = cells = 0
    last = 0  # the latest place at which this line may break
    for place, sign in enumerate(text):
        if place > start and _may_break(text[place - 1], sign):
            last = place
        cells += cell_len(sign)
        while cells > width and place > start and sign != " ":
            end = last if last > start else place
            found.append((start, start + len(text[start:end].rstrip(" "))))
            start = last = end + len(text[end : place + 1]) - len(text[end : place + 1].lstrip(" "))
            cells = cell_len(text[start : place + 1])
    found.append((start, start + len(text[start:].rstrip(" "))))
    return found


def fold(text: str, width: int) -> list[str]:
    """The lines themselves."""
    return [text[start:end] for start, end in spans(text, max(1, width))]


def _may_break(before: str, after: str) -> bool:
    if before == " ":
        return True
    if after == " " or after in NEVER_FIRST or before in NEVER_LAST:
        return False
    return cell_len(before) > 1 or cell_len(after) > 1
