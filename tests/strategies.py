"""Hypothesis strategies for every noun, built from the fields themselves, so that a new field is covered at once."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from paika.adapters.codec.nouns import reason_kinds
from paika.domain.reason import Reason

BITING = tuple((Path(__file__).parent / "cases/C53/names.txt").read_text(encoding="utf-8").splitlines())
AWKWARD = ("", " ", "a\0b", "x\ud800y", "back\\slash", "\\u0000", "%_%", "line\none", "名字", "🙂", "İ", *BITING)

texts = st.text(max_size=6) | st.sampled_from(AWKWARD)
times = st.datetimes(datetime(1971, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC))
whole_numbers = st.integers(-(2**53), 2**53) | st.integers(0, 100)
REASONS = reason_kinds()

_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: whole_numbers,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    datetime: times,
    type(None): st.none(),
}


def values(kind: type[Any], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of a noun's class; `fixed` replaces the strategy of single fields."""
    hints = typing.get_type_hints(kind)
    free = {field.name: of(hints[field.name]) for field in fields(kind) if field.name not in fixed}
    return st.builds(kind, **free, **fixed)


@cache
def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as it stands in a field."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is Reason:
        return st.one_of([values(kind) for kind in REASONS])
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return st.one_of([of(one) for one in inner])
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(of(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*(of(one) for one in inner))
    if origin is dict:
        return st.dictionaries(of(inner[0]), of(inner[1]), max_size=2)
    return _of_class(hint)


def _of_class(kind: type[Any]) -> st.SearchStrategy[Any]:
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    assert is_dataclass(kind), f"no strategy for {kind}"
    return values(kind)
