"""When a task starts, in words: one way to say it at every door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from paika.interfaces.wording.say import when

Say = Callable[..., str]


@dataclass(frozen=True, slots=True)
class ToldStart:
    """What is told of a start: the fields of a forecast that people read."""

    start_by: datetime
    start_from: datetime | None
    hit_permille: int | None
    holds: bool
    rough: bool


def start_said(t: Say, told: ToldStart, zone: tzinfo, now: datetime | None) -> str:
    """'14:20–15:10', 'by 15:10 at the latest', 'about 15:10, not held', 'in about 4–6 days'. `t` says words by key."""
    if told.rough and now is not None:
        return _rough(t, told, zone, now)
    by = when(told.start_by, zone, now)
    if not told.holds or told.rough:
        return t("start.not_held", at=by)
    if told.start_from is None:
        return t("start.by", at=by)
    first = told.start_from.astimezone(zone)
    same_day = first.date() == told.start_by.astimezone(zone).date()
    until = told.start_by.astimezone(zone).strftime("%H:%M") if same_day else by
    return t("start.range", first=when(told.start_from, zone, now), last=until)


def hit_said(t: Say, told: ToldStart) -> str:
    """How many of such ranges held; '' where no range is told or no history is known."""
    if told.start_from is None or told.hit_permille is None or told.rough or not told.holds:
        return ""
    return t("start.hit", percent=told.hit_permille // 10)


def _rough(t: Say, told: ToldStart, zone: tzinfo, now: datetime) -> str:
    """In whole days, by the calendar, so that the words stay the same all day."""
    today = now.astimezone(zone).date()
    last = max(1, (told.start_by.astimezone(zone).date() - today).days)
    first = max(1, (told.start_from.astimezone(zone).date() - today).days) if told.start_from else last
    return t("start.rough", days=str(last) if first >= last else f"{first}–{last}")
