"""What people write, read as values: one pure reader for each kind of quantity.

Every reader takes the field's name and a value as a cell, a command line or JSON gives it (str, int,
float, bool, None, datetime, date, timedelta, list) and returns the value or raises BadValue. The same
text and the same number get the same answer at every door. Rules for all kinds:

- Surrounding blanks fall away; full-width digits and punctuation count as their plain forms.
- A bool is never a number; NaN and infinities are no numbers.
- VRAM and other memory: G, GB and GiB all mean GiB = 1024 MiB; M, MB and MiB all mean MiB. A number
  without a unit is refused unless the field's name carries the unit (`vram_mib`, `显存(GB)`).
  Parts of a MiB are rounded up.
- Durations: s, m, h, d, w in English or Chinese words, `1h30m`, `36:00:00`, `1-12:00:00`. Parts of a
  second are rounded up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import isfinite
from typing import ClassVar

from paika.domain.problem import BadValue
from paika.domain.units import MIB_PER_GIB

SHOWN_CHARS = 80
FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
INVISIBLE_EDGES = "\ufeff\u200b\u200e\u200f"
_NUMBER = r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?"
_PLAIN = re.compile(_NUMBER)
_MEMORY = re.compile(rf"({_NUMBER}) ?(gib|gb|g|mib|mb|m)?", re.IGNORECASE)
_SPAN_PART = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?) ?([a-z]+|[\u4e00-\u9fff]+) ?")
_CLOCK = re.compile(r"(?:([0-9]{1,4})-)?([0-9]{1,6}):([0-5][0-9]):([0-5][0-9])")
_MEMORY_UNITS = {"g": MIB_PER_GIB, "gb": MIB_PER_GIB, "gib": MIB_PER_GIB, "m": 1, "mb": 1, "mib": 1}
_SECONDS = {
    1: ("s", "sec", "secs", "second", "seconds", "秒", "秒钟"),
    60: ("m", "min", "mins", "minute", "minutes", "分", "分钟"),
    3600: ("h", "hr", "hrs", "hour", "hours", "时", "小时", "个小时"),
    86400: ("d", "day", "days", "天", "日"),
    604800: ("w", "week", "weeks", "周", "星期"),
}
_SPAN_UNITS = {word: seconds for seconds, names in _SECONDS.items() for word in names}


@dataclass(eq=False)
class UnitMissing(BadValue):
    """A bare number where only a number with its unit means something."""

    code: ClassVar[str] = "value.unit_missing"


@dataclass(eq=False)
class FractionOfCard(BadValue):
    """Part of a card asked for by a fraction; a share asks by VRAM and bandwidth."""

    code: ClassVar[str] = "value.fraction_of_card"


def tidy(text: str) -> str:
    """The text with full-width ASCII made plain and without blanks around it."""
    return text.translate(FULL_WIDTH).strip().strip(INVISIBLE_EDGES).strip()


def given(value: object) -> bool:
    """Whether something stands there; None, blanks and empty collections mean 'not given'."""
    if isinstance(value, str):
        return bool(tidy(value))
    return value is not None and not (isinstance(value, list | tuple | dict | set) and not value)


def shown(value: object) -> str:
    """The value as a refusal quotes it: at most 80 characters, always valid text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= 10**SHOWN_CHARS:
        return f"{'-' if value < 0 else ''}>=10^{SHOWN_CHARS}"
    try:
        text = value if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    cut = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    return cut.encode("utf-8", "replace").decode()


def number(value: object) -> Decimal | None:
    """The finite number that is written there, exactly; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if isfinite(value) else None
    if isinstance(value, str):
        text = tidy(value)
        return Decimal(text) if _PLAIN.fullmatch(text) else None
    return None


def allowed_whole(low: int, high: int) -> str:
    """Range text of `whole`."""
    return f"{low}..{high}"


def whole(field: str, value: object, low: int, high: int) -> int:
    """A whole number in low..high; 8, 8.0, '8' and '８' are the same, '1.5' is refused."""
    read = number(value)
    if read is None or not low <= read <= high or read != read.to_integral_value():
        raise BadValue(field=field, value=shown(value), allowed=allowed_whole(low, high))
    return int(read)


def cards(field: str, value: object, low: int, high: int) -> int:
    """A whole number of cards. Raises FractionOfCard for parts of one."""
    read = number(value)
    if read is not None and 0 < read <= high and read % 1:
        raise FractionOfCard(field=field, value=shown(value), allowed=allowed_whole(low, high))
    return whole(field, value, low, high)


def memory_text(mib: int) -> str:
    """MiB as `memory_mib` reads it: '80G' where it comes out even, else '81921M'."""
    return f"{mib // MIB_PER_GIB}G" if mib and mib % MIB_PER_GIB == 0 else f"{mib}M"


def allowed_memory(low: int, high: int) -> str:
    """Range text of `memory_mib`."""
    return f"{memory_text(low)}..{memory_text(high)}"


def memory_mib(field: str, value: object, low: int, high: int, unit: str = "") -> int:
    """Memory in MiB, rounded up. `unit` ('mib' or 'gib') is what the field's name says of bare numbers.

    Raises UnitMissing for a bare positive number when the name says nothing.
    """
    found = _MEMORY.fullmatch(tidy(value)) if isinstance(value, str) else None
    read = Decimal(found[1]) if found else number(value)
    asked = (found[2] or unit) if found else unit
    allowed = allowed_memory(low, high)
    if read is not None and read > 0 and not asked:
        raise UnitMissing(field=field, value=shown(value), allowed=allowed)
    mib = read * _MEMORY_UNITS[asked.lower()] if read is not None and asked else None
    if mib is None or not 0 < mib <= high or mib.to_integral_value(ROUND_CEILING) < low:
        raise BadValue(field=field, value=shown(value), allowed=allowed)
    return int(mib.to_integral_value(ROUND_CEILING))


def duration_text(seconds: int) -> str:
    """Seconds as `duration_s` reads them: '1d2h30m'."""
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{name}")
    return "".join(parts) or "0s"


def allowed_duration(low: int, high: int) -> str:
    """Range text of `duration_s`."""
    return (
        f"{duration_text(low)}..{high // 86400}d"
        if high % 86400 == 0
        else f"{duration_text(low)}..{duration_text(high)}"
    )


def _spans(text: str) -> Decimal | None:
    """Seconds of '1h30m', '2 小时' or '1-12:00:00'; None if it is none of these or names a unit twice."""
    if clock := _CLOCK.fullmatch(text):
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return Decimal(days * 86400 + hours * 3600 + minutes * 60 + seconds)
    total, used, at = Decimal(0), set[int](), 0
    while part := _SPAN_PART.match(text, at):
        size = _SPAN_UNITS.get(part[2])
        if size is None or size in used:
            return None
        used.add(size)
        total, at = total + Decimal(part[1]) * size, part.end()
    return total if used and at == len(text) else None


def _span_of(value: object, unit: str) -> Decimal | None:
    if isinstance(value, timedelta):
        return Decimal(str(value.total_seconds()))
    if isinstance(value, time):
        return Decimal(value.hour * 3600 + value.minute * 60 + value.second)
    if isinstance(value, str) and (spans := _spans(tidy(value).lower())) is not None:
        return spans
    bare = number(value)
    return bare * _SPAN_UNITS[unit] if bare is not None and unit else None


def duration_s(field: str, value: object, low: int, high: int, unit: str = "s") -> int:
    """A length of time in seconds, rounded up. `unit` is that of bare numbers, '' refuses them."""
    allowed = allowed_duration(low, high)
    bare = number(value)
    if not unit and bare is not None and bare > 0:
        raise UnitMissing(field=field, value=shown(value), allowed=allowed)
    seconds = _span_of(value, unit)
    if seconds is None or not 0 <= seconds <= high or seconds.to_integral_value(ROUND_CEILING) < low:
        raise BadValue(field=field, value=shown(value), allowed=allowed)
    return int(seconds.to_integral_value(ROUND_CEILING))


def percent(field: str, value: object, low: int = 0, high: int = 100, *, down: bool = False) -> int:
    """Percent with or without its sign. Decimals are refused, or rounded down with `down`.

    A bare number between 0 and 1 is refused in any case: it may be meant as a part of one.
    """
    signed = isinstance(value, str) and tidy(value).endswith("%")
    read = number(tidy(value).removesuffix("%") if isinstance(value, str) else value)
    if read is not None and down and low <= read <= high and (signed or read >= 1):
        read = read.to_integral_value(ROUND_FLOOR)
    if read is None or not low <= read <= high or read != read.to_integral_value():
        raise BadValue(field=field, value=shown(value), allowed=allowed_whole(low, high))
    return int(read)
