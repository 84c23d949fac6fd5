"""What every edit of a noun has in common: it exists, nobody changed it meanwhile, its id and name are plain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import ClassVar, Protocol, TypeVar

from paika.domain.problem import BadValue, FieldMissing, Kind, NotFound, Problem, VersionConflict

N = TypeVar("N")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
SLUG = "[a-z0-9][a-z0-9-]{0,39}"
NAME_LONGEST = 200


class HasName(Protocol):
    """A noun that people gave a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


@dataclass(eq=False)
class UnknownNoun(Problem):
    """A field names a noun that is not there; `nearest` are the likeliest meant."""

    code: ClassVar[str] = "noun.unknown"
    kind: ClassVar[Kind] = Kind.INVALID
    noun: str
    asked: str
    nearest: tuple[str, ...]


def found(nouns: Mapping[str, N], noun: str, key: str, field: str | None = None) -> N:
    """The noun of this id. Raises NotFound."""
    try:
        return nouns[key]
    except KeyError:
        raise NotFound(field=field, noun=noun, id=key) from None


def must_be_read(noun: str, key: str, current: int, read: int | None) -> None:
    """Raises VersionConflict if the editor says what he read (not None) and it is not the current version."""
    if read is not None and read != current:
        raise VersionConflict(field=None, noun=noun, id=key, read=read, current=current)


def must_be_slug(text: str, field: str = "id") -> str:
    """An id that people choose. Raises BadValue."""
    if not _SLUG.fullmatch(text):
        raise BadValue(field=field, value=text[:NAME_LONGEST], allowed=SLUG)
    return text


def must_be_name(text: str, field: str = "name") -> str:
    """A name for people: any text of 1 to 200 characters that is not only blanks. Raises FieldMissing, BadValue."""
    if not text.strip():
        raise FieldMissing(field=field)
    if len(text) > NAME_LONGEST:
        raise BadValue(field=field, value=f"{text[:20]}… ({len(text)})", allowed=f"1..{NAME_LONGEST}")
    return text


def nearest(asked: str, known: Iterable[str], most: int = 3) -> tuple[str, ...]:
    """The known names that look most like the asked one, likeliest first; looks at 20,000 names at most."""
    return tuple(get_close_matches(asked[:NAME_LONGEST], list(dict.fromkeys(islice(known, 20_000))), most, 0.5))


def by_id_or_name(nouns: Mapping[str, HasName], noun: str, asked: str, field: str) -> str:
    """The id of the noun meant by its id, or by a name that only one has. Raises UnknownNoun."""
    if asked in nouns:
        return asked
    same = [key for key, known in nouns.items() if known.name == asked]
    if len(same) == 1:
        return same[0]
    near = tuple(same) or nearest(asked, (*nouns, *(known.name for known in nouns.values())))
    raise UnknownNoun(field=field, noun=noun, asked=asked, nearest=near)
