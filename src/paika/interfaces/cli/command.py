"""A command as data: its place, its parameters, what it does. Help, the parser and the reference come from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paika.domain.form import FieldKind, FormField, Group

if TYPE_CHECKING:
    from paika.interfaces.cli.sheet import Sheet

METAVARS = {
    FieldKind.WHOLE: "N",
    FieldKind.CARDS: "N",
    FieldKind.PERCENT: "N",
    FieldKind.PROGRESS: "N",
    FieldKind.MEMORY: "24G",
    FieldKind.DURATION: "2h",
    FieldKind.INSTANT: "TIME",
    FieldKind.DEADLINE: "TIME",
    FieldKind.FLAG: "yes|no",
}
SHORT = {
    "name": "-n",
    "cards": "-c",
    "estimate_likely": "--estimate",
    "starts_at": "--from",
    "ends_at": "--until",
    "duration": "--for",
}
MANY = frozenset({"env", "inputs", "after", "tags", "types", "capabilities", "teams", "leads", "scopes"})


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. Text goes to the server as it was written, which judges it as every other door does.

    `about` and `field` are how its help is found: a word of the catalogue, or a field of a form.
    """

    name: str
    kind: type = str
    flags: tuple[str, ...] = ()
    positional: bool = False
    many: bool = False
    required: bool = False
    metavar: str = ""
    about: str = ""
    field: FormField | None = None
    noun: str = ""

    @property
    def spelt(self) -> tuple[str, ...]:
        """How an option is written, the long form last."""
        long = f"--{self.name.replace('_', '-')}"
        return self.flags or ((SHORT[self.name], long) if self.field and self.name in SHORT else (long,))

    @property
    def advanced(self) -> bool:
        """Whether help shows it below the others."""
        return self.field is not None and self.field.group is Group.ADVANCED


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command found: `data` for --json, `view` to write it for a person, and the exit code."""

    data: Any
    view: Callable[[Sheet], None]
    code: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """`path` is noun and verb; `do` gets the call and a value for every parameter (None or () if not given)."""

    path: str
    do: Callable[..., Answer | int]
    params: tuple[Param, ...] = ()
    group: str = ""

    @property
    def key(self) -> str:
        """The word that tells what it does."""
        return "cli.do." + self.path.replace(" ", ".")


def arg(name: str, *, many: bool = False, required: bool = True, about: str = "", metavar: str = "") -> Param:
    """A positional parameter."""
    return Param(name, positional=True, many=many, required=required, about=about, metavar=metavar or name.upper())


def opt(name: str, *flags: str, kind: type = str, many: bool = False, metavar: str = "", about: str = "") -> Param:
    """An option with a value."""
    return Param(name, kind, flags, many=many, about=about, metavar=metavar or ("N" if kind is int else "TEXT"))


def switch(name: str, *flags: str, about: str = "") -> Param:
    """An option that is there or not."""
    return Param(name, bool, flags, about=about)


def fields_as_options(fields: Iterable[FormField], noun: str, *, but: Iterable[str] = ()) -> tuple[Param, ...]:
    """One option for each field of a form, under its key."""
    left_out = frozenset(but)
    return tuple(
        Param(
            field.key,
            many=field.key in MANY,
            metavar=_metavar(field),
            field=field,
            noun=noun,
        )
        for field in fields
        if field.key not in left_out
    )


def _metavar(field: FormField) -> str:
    if field.kind is FieldKind.CHOICE:
        shown: dict[object, str] = {}
        for word, value in field.choices:
            shown.setdefault(value, word)
        return "|".join(shown.values())
    return METAVARS.get(field.kind, "TEXT")


def form_of(values: dict[str, Any], fields: Iterable[FormField]) -> dict[str, Any]:
    """The fields that were given, as the form reads them: several names become one text, variables stay a list."""
    form: dict[str, Any] = {}
    for field in fields:
        value = values.get(field.key)
        if value is None or value in ((), []):
            continue
        if isinstance(value, list | tuple):
            value = list(value) if field.key == "env" else ", ".join(value)
        form[field.key] = value
    return form
