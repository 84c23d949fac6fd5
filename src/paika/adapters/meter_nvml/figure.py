"""One value as nvidia-smi prints it.

What the tool says when it does not know stands in brackets ("[N/A]", "[Not Supported]", "[Unknown Error]")
or is one of a few words; anything else that is no number with a unit is unknown too, and odd.
"""

from __future__ import annotations

import re

from paika.domain.card import Health

LOST = "gpu is lost"
NEEDS_RESET = ("gpu requires reset", "requires reset")
_SAYS_NOTHING = frozenset(
    {"", "-", "--", "n/a", "na", "not supported", "unknown error", "insufficient permissions", "err!", "error"}
    | {"unknown", "not available", "not active", "none", "disabled", "no data"}
)
_NUMBER = re.compile(r"([+-]?\d+(?:[.,]\d+)?)\s*(?:[a-zA-Z%°/]{0,8})?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")


def bare(text: str) -> str:
    """The value without blanks and brackets, in lower case."""
    return text.strip().strip("[]").strip().lower()


def says_nothing(text: str) -> bool:
    """The tool does not know, does not support or does not allow it."""
    return bare(text) in _SAYS_NOTHING


def figure(text: str | None) -> float | None:
    """The number before its unit; None when it is unknown.

    A decimal comma is read as a point, but not before three digits, where it may part thousands instead.
    """
    found = _NUMBER.fullmatch(text.strip()) if text is not None else None
    if found is None or _THOUSANDS.fullmatch(found[1]):
        return None
    return float(found[1].replace(",", "."))


def whole(text: str | None) -> int | None:
    """The figure rounded to the nearest whole number; None when it is unknown or below 0."""
    read = figure(text)
    return None if read is None or read < 0 else round(read)


def health_said(texts: list[str]) -> tuple[Health, str]:
    """Health as the values of one card tell it, with the tool's words."""
    said = [bare(text) for text in texts]
    if LOST in said:
        return Health.LOST, LOST
    for word in NEEDS_RESET:
        if word in said:
            return Health.NEEDS_RESET, word
    return Health.OK, ""
