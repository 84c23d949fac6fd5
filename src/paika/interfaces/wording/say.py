"""Turn typed values into words: one dict for API, command line and pages alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import fields
from datetime import date, datetime, tzinfo
from string import Formatter
from typing import Any, TypeVar

from paika.domain.problem import Problem, Several
from paika.domain.reason import Holder, Reason
from paika.domain.units import MIB_PER_GIB, PARTS_PER_CARD
from paika.domain.visible import shown
from paika.interfaces.wording.catalogue import Lang, messages, words

MOST_SAID, MOST_ROWS = 5000, 2000  # then what was said is forgotten, and said anew when asked for
T = TypeVar("T")
_RANGE = re.compile(r"\d+(?:\.\.\d+)?")


def signed(points: int) -> str:
    """Points with their sign; 0 has none."""
    return f"{points:+d}" if points else "0"


def gib(mib: int | None) -> str:
    """MiB as GiB for people, rounded down so that it never promises more: '24 GiB', '79.6 GiB'; a dash if unknown."""
    if mib is None:
        return "—"
    whole, rest = divmod(mib, MIB_PER_GIB)
    return f"{whole}.{tenths} GiB" if (tenths := rest * 10 // MIB_PER_GIB) else f"{whole} GiB"


def span(seconds: int | None, lang: Lang) -> str:
    """Seconds as a short span: '45 s', '20 min', '1 h 30 min', '3 d 4 h'."""
    if seconds is None:
        return "—"
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    names = (
        {"d": " 天", "h": " 小时", "min": " 分钟", "s": " 秒"} if lang is Lang.ZH else {u: f" {u}" for u, _ in units}
    )
    left = max(0, seconds)
    said: list[str] = []
    for unit, size in units:
        if left >= size or (unit == "s" and not said):
            said.append(f"{left // size}{names[unit]}")
            left %= size
        elif said:
            break
        if len(said) == 2 or (unit == "min" and said):
            break
    return " ".join(said)


def when(at: datetime | None, zone: tzinfo, now: datetime | None = None) -> str:
    """An instant in the site's zone: time of day today, else with the date; a dash when unknown."""
    if at is None:
        return "—"
    local = at.astimezone(zone)
    if now is not None and local.date() == now.astimezone(zone).date():
        return local.strftime("%H:%M")
    if now is not None and local.year == now.astimezone(zone).year:
        return local.strftime("%m-%d %H:%M")
    return local.strftime("%Y-%m-%d %H:%M")


class Memory:
    """What was already said in one language, zone and day: a reason is put into words once, not for each reader."""

    def __init__(self) -> None:
        self.said: dict[Reason, dict[str, object]] = {}
        self.rendered: dict[Reason, object] = {}  # the same for whoever turns the words into more
        self.rows: dict[Hashable, tuple[object, Any]] = {}  # whole rows: what one was made of, and what was made

    def row(self, key: Hashable, made_of: object, make: Callable[[], T]) -> T:
        """What was made of the same before, else made now. `made_of` holds all that the row shows."""
        known = self.rows.get(key)
        if known is None or known[0] != made_of:
            known = self.rows[key] = made_of, make()
        made: T = known[1]
        return made

    def room(self) -> None:
        """Forget everything when it has become too much."""
        if len(self.said) >= MOST_SAID:
            self.said, self.rendered = {}, {}
        if len(self.rows) >= MOST_ROWS:
            self.rows = {}


_MEMORIES: dict[tuple[Lang, str, date | None], Memory] = {}


def _memory(lang: Lang, zone: tzinfo, now: datetime | None) -> Memory:
    """Times are told by the day they are told on, so each day has words of its own; older days are forgotten."""
    day = now.astimezone(zone).date() if now else None
    key = (lang, str(zone), day)
    known = _MEMORIES.get(key)
    if known is None:
        if len(_MEMORIES) > 16 or any(day and other not in (None, day) for _, _, other in tuple(_MEMORIES)):
            _MEMORIES.clear()
        known = _MEMORIES[key] = Memory()
    known.room()
    return known


class Speaker(Formatter):
    """`str.format` with the specs gib, span, when, cards (parts as cards), percent, holders,
    allowed, word.PREFIX and opt.KEY.

    `word.PREFIX` looks PREFIX.value up; `opt.KEY` says the words of KEY, or those of KEY.none for an unknown.
    """

    def __init__(self, lang: Lang, zone: tzinfo, now: datetime | None = None) -> None:
        self.lang, self.zone, self.now = lang, zone, now
        self.memory = _memory(lang, zone, now)

    def format_field(self, value: object, format_spec: str) -> str:
        """Format one fact. `:word.PREFIX` looks PREFIX.value up among the words."""
        if format_spec.startswith("opt."):
            key = format_spec if value not in (None, "") else f"{format_spec}.none"
            return self.vformat(self.word(key), (), {"value": value})
        if format_spec == "gib":
            return gib(_whole(value))
        if format_spec == "span":
            return span(_whole(value), self.lang)
        if format_spec == "percent":
            percent = _whole(value)
            return "—" if percent is None else f"{percent}%"
        if format_spec == "cards":
            parts = _whole(value)
            return "—" if parts is None else f"{parts / PARTS_PER_CARD:g}"
        if format_spec == "when" or isinstance(value, datetime):
            return when(value if isinstance(value, datetime) else None, self.zone, self.now)
        if format_spec == "holders" and isinstance(value, tuple):
            return self._holders(value)
        if format_spec == "allowed":
            return self.allowed(str(value))
        if format_spec.startswith("word."):
            return self.word(f"{format_spec.removeprefix('word.')}.{value}")
        if isinstance(value, tuple):
            return ("、" if self.lang is Lang.ZH else ", ").join(shown(str(item)) for item in value) or "—"
        return "—" if value is None or value == "" else shown(str(value))

    def allowed(self, text: str) -> str:
        """A range text in words: WORDS of 'allowed.' and the text with '#' for its numbers; else as it is."""
        numbers = _RANGE.findall(text)
        said = words(self.lang).get("allowed." + _RANGE.sub("#", text), "")
        for number in numbers if said else ():
            said = said.replace("#", number, 1)
        return said or shown(text)

    def word(self, key: str) -> str:
        """A word of the catalogue; a missing key shows itself, and a test insists that none is missing."""
        return words(self.lang).get(key, key)

    def say(self, code: str, facts: dict[str, object]) -> tuple[str, str]:
        """Message and hint of a code, with its facts filled in."""
        message, hint = messages(self.lang)[code]
        return self.vformat(message, (), facts), self.vformat(hint, (), facts)

    def _holders(self, holders: tuple[Holder, ...], most: int = 3) -> str:
        said = [self._holder(holder) for holder in holders[:most]]
        if len(holders) > most:
            said.append(self.vformat(self.word("holders.more"), (), {"count": len(holders) - most}))
        return ("；" if self.lang is Lang.ZH else "; ").join(said) or "—"

    def _holder(self, holder: Holder) -> str:
        key = "holder.run" if holder.run is not None else "holder.starting" if holder.task else "holder.external"
        until = (
            "until_unknown" if holder.until is None else "until_limit" if holder.until_is_limit else "until_estimate"
        )
        facts = {name: getattr(holder, name) for name in Holder.__slots__}
        return self.vformat(self.word(key), (), facts | {"until": self.vformat(self.word(until), (), facts)})


# Prefixes of words for machine text.
CARD_CAUSE, RUN_DETAIL, BOOKING_CAUSE = "card.cause", "engine.detail", "booking.cause"


def told_of(prefix: str, text: str, lang: Lang) -> str:
    """Machine text `word` or `word: fact` in words, `prefix.word` being the key; a tool's own text as it stands.

    Two of them may be joined by "; ", each with a word of its own.
    """
    known, said = words(lang), []
    for piece in text.split("; "):
        word, colon, fact = piece.partition(": ")
        told = known.get(f"{prefix}.{piece}") or known.get(f"{prefix}.{word}")
        if told is None:
            said.append(shown(piece))
        else:
            said.append(told + (f"{'：' if lang is Lang.ZH else ': '}{shown(fact)}" if colon and fact else ""))
    return ("；" if lang is Lang.ZH else "; ").join(said)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def facts_of(what: Reason | Problem) -> dict[str, object]:
    """The fields of a typed value, by name."""
    return {f.name: getattr(what, f.name) for f in fields(what)}


def say(what: Reason | Problem, speaker: Speaker) -> dict[str, object]:
    """code, message, hint, facts (and for problems field, for several the list) of one typed value.

    Tasks of one shape share their reasons, so a speaker says each of them once; the answer is not to be changed.
    """
    if not isinstance(what, Reason):
        return _said(what, speaker)
    said = speaker.memory.said
    known = said.get(what)
    if known is None:
        known = said[what] = _said(what, speaker)
    return known


def _said(what: Reason | Problem, speaker: Speaker) -> dict[str, object]:
    facts = facts_of(what)
    message, hint = speaker.say(what.code, facts)
    told: dict[str, object] = {"code": what.code, "message": message, "hint": hint}
    if isinstance(what, Problem):
        told["field"] = what.field
        facts.pop("field")
    if isinstance(what, Several):
        told["problems"] = [say(problem, speaker) for problem in what.problems]
        facts.pop("problems")
    return told | {"facts": facts}
