"""Points in time as people write them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from paika.domain.problem import BadValue
from paika.domain.quantity import shown, tidy

FIRST_YEAR, LAST_YEAR = 2000, 2100
_INSTANT = re.compile(
    r"([0-9]{4})[-/年.]([0-9]{1,2})[-/月.]([0-9]{1,2})日?"
    r"(?:[Tt ]{0,2}([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?)? ?([Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)


@lru_cache(maxsize=64)
def zone_named(name: str) -> ZoneInfo:
    """The time zone of that IANA name. Raises BadValue for an unknown one."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadValue(field="zone", value=shown(name), allowed="Area/City") from None


ALLOWED_INSTANT = f"{FIRST_YEAR}-01-01..{LAST_YEAR}-12-31, 2026-12-01 09:00"


def _local(wall: datetime, zone: str) -> datetime | None:
    """UTC of a wall-clock time in the zone; None where the clock skips it."""
    local = wall.replace(tzinfo=zone_named(zone))
    utc = local.astimezone(UTC)
    return utc if utc.astimezone(local.tzinfo).replace(tzinfo=None) == wall else None


def _written_instant(text: str, zone: str, day_end: bool) -> datetime | None:
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, offset = found.groups()
    if offset and not hour:
        return None
    clock = (int(hour), int(minute), int(second or 0)) if hour else ((23, 59, 59) if day_end else (0, 0, 0))
    wall = datetime(int(year), int(month), int(day), *clock)
    if not offset:
        return _local(wall, zone)
    if offset in "Zz":
        return wall.replace(tzinfo=UTC)
    if int(offset[1:3]) > 23 or int(offset[-2:]) > 59:
        return None
    ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:]))
    return wall.replace(tzinfo=UTC) - (ahead if offset[0] == "+" else -ahead)


def instant(field: str, value: object, zone: str, *, day_end: bool = False) -> datetime:
    """An instant in UTC, whole seconds: RFC 3339, or a wall-clock time in `zone` (IANA name).

    A date alone means its first second, with `day_end` its last one (for deadlines).
    """
    found: datetime | None = None
    try:
        if isinstance(value, datetime):
            plain = value.replace(microsecond=0)
            found = _local(plain, zone) if value.tzinfo is None else plain.astimezone(UTC)
        elif isinstance(value, date):
            found = _written_instant(value.isoformat(), zone, day_end)
        elif isinstance(value, str):
            found = _written_instant(tidy(value), zone, day_end)
    except (ValueError, OverflowError):
        found = None
    if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise BadValue(field=field, value=shown(value), allowed=ALLOWED_INSTANT)
    return found
