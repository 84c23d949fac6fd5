"""Forms: one table of fields drives every door (pages, command line, API, CSV and XLSX, YAML).

A field is found by its key or by any alias, whatever its case, width, blanks and hyphens. A heading may
carry the unit of bare numbers: `显存(GB)`, `vram_mib`, `预计时长（小时）`, `limit_s`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import ClassVar

from paika.domain import instant, quantity, written
from paika.domain.problem import Kind, Problem, UnknownField
from paika.domain.quantity import given, shown, tidy

NEAREST = 3
GUESSES = 10  # unknown fields beyond these are refused without the likeliest meant


class FieldKind(StrEnum):
    """What a field holds, which decides how it is read."""

    TEXT = "text"
    LINES = "lines"
    WHOLE = "whole"
    CARDS = "cards"
    MEMORY = "memory"
    DURATION = "duration"
    INSTANT = "instant"
    DEADLINE = "deadline"
    PERCENT = "percent"
    PROGRESS = "progress"
    FLAG = "flag"
    CHOICE = "choice"
    NAMES = "names"
    ARGV = "argv"
    OTHER = "other"  # read by a function of its own


class Group(StrEnum):
    """Where the web form shows a field."""

    BASIC = "basic"
    ADVANCED = "advanced"


@dataclass(frozen=True, slots=True)
class FormField:
    """One field. `low` and `high` bound numbers (MiB, seconds), lengths and counts; `default` is as written.

    `choices` are (word, value) pairs, the first word of each value is the one to show. `read` reads kind OTHER.
    """

    key: str
    kind: FieldKind
    aliases: tuple[str, ...] = ()
    low: int = 1
    high: int = 200
    default: str = ""
    required: bool = False
    group: Group = Group.ADVANCED
    choices: tuple[tuple[str, object], ...] = ()
    allowed_as: str = ""
    read: Callable[[str, object], object] | None = None

    @property
    def allowed(self) -> str:
        """The range as text, the same as a refusal gives."""
        return self.allowed_as or _ALLOWED[self.kind](self)

    @property
    def names(self) -> tuple[str, ...]:
        """The key and its aliases, as compared."""
        return (heading(self.key), *(heading(alias) for alias in self.aliases))


@dataclass(frozen=True, slots=True)
class Match:
    """What a heading means: a field, and the unit of bare numbers below it ('' none, None: the field's own)."""

    field: FormField
    unit: str


@dataclass(eq=False)
class GivenTwice(Problem):
    """Two headings that mean the same field; `headings` are as written."""

    code: ClassVar[str] = "field.given_twice"
    kind: ClassVar[Kind] = Kind.INVALID
    headings: tuple[str, ...]


_ALLOWED: dict[FieldKind, Callable[[FormField], str]] = {
    FieldKind.TEXT: lambda f: written.allowed_text(f.high, False),
    FieldKind.LINES: lambda f: written.allowed_text(f.high, True),
    FieldKind.WHOLE: lambda f: quantity.allowed_whole(f.low, f.high),
    FieldKind.CARDS: lambda f: quantity.allowed_whole(f.low, f.high),
    FieldKind.MEMORY: lambda f: quantity.allowed_memory(f.low, f.high),
    FieldKind.DURATION: lambda f: quantity.allowed_duration(f.low, f.high),
    FieldKind.INSTANT: lambda _: instant.ALLOWED_INSTANT,
    FieldKind.DEADLINE: lambda _: instant.ALLOWED_INSTANT,
    FieldKind.PERCENT: lambda f: quantity.allowed_whole(f.low, f.high),
    FieldKind.PROGRESS: lambda f: quantity.allowed_whole(f.low, f.high),
    FieldKind.FLAG: lambda _: written.ALLOWED_FLAG,
    FieldKind.CHOICE: lambda f: ", ".join(word for word, _ in f.choices),
    FieldKind.NAMES: lambda f: written.allowed_names(f.low, f.high),
    FieldKind.ARGV: lambda _: written.ALLOWED_ARGV,
    FieldKind.OTHER: lambda f: f.allowed_as,
}

Reader = Callable[[FormField, str, object, str, str], object]  # field, name to blame, value, unit, zone

_READERS: dict[FieldKind, Reader] = {
    FieldKind.TEXT: lambda f, key, v, u, z: written.text(key, v, f.high),
    FieldKind.LINES: lambda f, key, v, u, z: written.text(key, v, f.high, lines=True),
    FieldKind.WHOLE: lambda f, key, v, u, z: quantity.whole(key, v, f.low, f.high),
    FieldKind.CARDS: lambda f, key, v, u, z: quantity.cards(key, v, f.low, f.high),
    FieldKind.MEMORY: lambda f, key, v, u, z: quantity.memory_mib(key, v, f.low, f.high, u),
    FieldKind.DURATION: lambda f, key, v, u, z: quantity.duration_s(key, v, f.low, f.high, u),
    FieldKind.INSTANT: lambda f, key, v, u, z: instant.instant(key, v, z),
    FieldKind.DEADLINE: lambda f, key, v, u, z: instant.instant(key, v, z, day_end=True),
    FieldKind.PERCENT: lambda f, key, v, u, z: quantity.percent(key, v, f.low, f.high),
    FieldKind.PROGRESS: lambda f, key, v, u, z: quantity.percent(key, v, f.low, f.high, down=True),
    FieldKind.FLAG: lambda f, key, v, u, z: written.flag(key, v),
    FieldKind.CHOICE: lambda f, key, v, u, z: written.choice(key, v, dict(f.choices), f.allowed),
    FieldKind.NAMES: lambda f, key, v, u, z: written.names(key, v, f.low, f.high),
    FieldKind.ARGV: lambda f, key, v, u, z: written.argv(key, v),
    FieldKind.OTHER: lambda f, key, v, u, z: f.read(key, v) if f.read else v,
}

_UNITS: dict[FieldKind, dict[str, str]] = {
    FieldKind.MEMORY: {"g": "gib", "gb": "gib", "gib": "gib", "m": "mib", "mb": "mib", "mib": "mib"},
    FieldKind.DURATION: {
        **dict.fromkeys(("s", "sec", "秒"), "s"),
        **dict.fromkeys(("min", "分", "分钟"), "m"),
        **dict.fromkeys(("h", "hour", "hours", "小时", "时"), "h"),
        **dict.fromkeys(("d", "day", "days", "天"), "d"),
    },
    FieldKind.PERCENT: {"%": "%"},
    FieldKind.PROGRESS: {"%": "%"},
}
_GAPS = re.compile(r"[\s_-]+")
_WITH_UNIT = re.compile(r"(.+?)(?:[(\[] ?([^()\[\]]+?) ?[)\]]|[/_]([^/_()\[\]]+)|(gib|gb|mib))")


def heading(text: str) -> str:
    """A heading as compared: plain width, lower case, gaps as one '_', without marks like * or : at the end."""
    return _GAPS.sub("_", tidy(tidy(text).rstrip("*:")).lower()).strip("_")


class Form:
    """A table of fields with all their headings. Raises ValueError if two fields share a heading."""

    def __init__(self, fields: tuple[FormField, ...]) -> None:
        self.fields = fields
        self.by_key = {f.key: f for f in fields}
        self._by_name: dict[str, FormField] = {}
        for form_field in fields:
            for name in form_field.names:
                if self._by_name.setdefault(name, form_field) is not form_field:
                    raise ValueError(f"two fields are called {name}")

    def match(self, text: str) -> Match | None:
        """What a heading means, or None if nothing."""
        name = heading(text)
        if found := self._by_name.get(name):
            own = "s" if found.kind is FieldKind.DURATION and name == found.key else ""
            return Match(found, own)
        split = _WITH_UNIT.fullmatch(name)
        base = self._by_name.get(split[1].strip("_")) if split else None
        unit = _UNITS.get(base.kind, {}).get((split[2] or split[3] or split[4]).strip("_")) if split and base else None
        return Match(base, unit) if base and unit else None

    def nearest(self, text: str) -> tuple[str, ...]:
        """Headings that look most like it, as keys; likeliest first."""
        close = get_close_matches(heading(text[: quantity.SHOWN_CHARS]), list(self._by_name), n=NEAREST, cutoff=0.5)
        return tuple(dict.fromkeys(self._by_name[name].key for name in close))

    def read(self, raw: Mapping[str, object], zone: str) -> tuple[dict[str, object], tuple[Problem, ...]]:
        """Values by key of what is given, and all problems of single fields. `zone`: that of naive times."""
        unknown: list[Problem] = []
        cells: list[tuple[str, Match, object]] = []
        for name, value in raw.items():
            if found := self.match(str(name)):
                cells.append((str(name), found, value))
            else:
                near = self.nearest(str(name)) if len(unknown) < GUESSES else ()
                unknown.append(UnknownField(field=shown(name), nearest=near))
        values, problems = read_cells(cells, zone)
        return values, (*unknown, *problems)

    def defaults(self) -> Iterator[tuple[FormField, str]]:
        """Fields that have a default, and it as written."""
        return ((f, f.default) for f in self.fields if f.default)


def read_cells(cells: Iterable[tuple[str, Match, object]], zone: str) -> tuple[dict[str, object], tuple[Problem, ...]]:
    """Values by key of (heading, its match, value) triples, and the problems of single fields."""
    by_key: dict[str, list[tuple[str, Match, object]]] = {}
    for name, found, value in cells:
        if given(value):
            by_key.setdefault(found.field.key, []).append((name, found, value))
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for key, group in by_key.items():
        if len(group) > 1:
            problems.append(GivenTwice(field=key, headings=tuple(shown(name) for name, _, _ in group)))
            continue
        _, found, value = group[0]
        try:
            values[key] = _READERS[found.field.kind](found.field, key, value, found.unit, zone)
        except Problem as problem:
            problems.append(problem)
    return values, tuple(problems)


def schema(form: Form) -> dict[str, object]:
    """JSON schema of an object with the form's keys (aliases are accepted too, and named in x-aliases)."""
    return {
        "type": "object",
        "properties": {f.key: _property(f) for f in form.fields},
        "required": [f.key for f in form.fields if f.required],
    }


def _property(form_field: FormField) -> dict[str, object]:
    about: dict[str, object] = {
        **_shape(form_field),
        "description": form_field.allowed,
        "x-kind": form_field.kind.value,
        "x-group": form_field.group.value,
        "x-aliases": list(form_field.aliases),
    }
    if form_field.default:
        about["default"] = _as_json(form_field)
    return about


def _shape(form_field: FormField) -> dict[str, object]:
    text: dict[str, object] = {"type": "string"}
    many: dict[str, object] = {"type": "array", "items": text}
    match form_field.kind:
        case FieldKind.WHOLE | FieldKind.CARDS | FieldKind.PERCENT | FieldKind.PROGRESS:
            return {"type": "integer", "minimum": form_field.low, "maximum": form_field.high}
        case FieldKind.DURATION:
            return {"anyOf": [{"type": "integer", "minimum": form_field.low, "maximum": form_field.high}, text]}
        case FieldKind.FLAG:
            return {"type": "boolean"}
        case FieldKind.CHOICE:
            words = {value: word for word, value in reversed(form_field.choices)}
            return {"type": "string", "enum": list(reversed(words.values()))}
        case FieldKind.NAMES | FieldKind.ARGV:
            return {"anyOf": [many, text]}
        case FieldKind.INSTANT | FieldKind.DEADLINE:
            return {"type": "string", "format": "date-time"}
        case FieldKind.OTHER:
            return {}
        case _:
            return {"type": "string", "maxLength": form_field.high}


def _as_json(form_field: FormField) -> object:
    if form_field.kind in (FieldKind.WHOLE, FieldKind.CARDS, FieldKind.PERCENT):
        return int(form_field.default)
    return form_field.default == "true" if form_field.kind is FieldKind.FLAG else form_field.default
