"""What every edit of a noun has in common: it exists, nobody changed it meanwhile, its id and name are plain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from paika.domain.problem import BadValue, FieldMissing, NotFound, VersionConflict

N = TypeVar("N")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
SLUG = "[a-z0-9][a-z0-9-]{0,39}"
NAME_LONGEST = 200


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
