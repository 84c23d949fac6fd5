"""Text that a spreadsheet would take for a formula, made harmless, and read back as it was.

A cell whose first sign is = + - @ (or the full-width form), or that begins with a tab or a line break, gets an
apostrophe in front. So does one that has such a sign behind apostrophes, which makes the way back unambiguous.
"""

from __future__ import annotations

import re

_ACTIVE = r"(?:[\s\u200b\ufeff]*[=+\-@＝＋－＠]|[\t\r\n])"
_BITES = re.compile(rf"'*{_ACTIVE}")
_TAMED = re.compile(rf"'+{_ACTIVE}")


def harmless(text: str) -> str:
    """The text as a cell that no spreadsheet evaluates."""
    return f"'{text}" if _BITES.match(text) else text


def as_it_was(cell: str) -> str:
    """The text that `harmless` was given; other text as it is."""
    return cell[1:] if _TAMED.match(cell) else cell
