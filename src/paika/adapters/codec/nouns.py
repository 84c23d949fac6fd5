"""Values of the house as JSON text and back.

Times are RFC 3339 in UTC, enums their values, reasons carry their code. Reading is strict: a field or a
code that this version does not know is refused; a missing field with a default takes the default, so
that what an older version wrote can be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from cattrs import Converter
from cattrs.errors import ForbiddenExtraKeysError

from paika.domain import reason as reasons
from paika.domain.reason import Reason
from paika.ports.store import Unreadable

T = TypeVar("T")


def encode(value: object) -> str:
    """A frozen value as one line of JSON."""
    plain = _CONVERTER.unstructure(value)
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if _is_unicode(text) else json.dumps(plain, separators=(",", ":"), allow_nan=False)


def decode(kind: type[T], text: str) -> T:
    """The value of type `kind` in the text. Raises Unreadable."""
    try:
        return _CONVERTER.structure(json.loads(text), kind)
    except ForbiddenExtraKeysError as refusal:
        unknown = ", ".join(sorted(refusal.extra_fields))
        raise _unreadable(kind, f"unknown field: {unknown}") from None
    except KeyError as missing:
        raise _unreadable(kind, f"missing field: {missing.args[0]}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as fault:
        raise _unreadable(kind, str(fault)[:200]) from None


def reason_kinds() -> tuple[type[Reason], ...]:
    """All classes of reasons. `__subclasses__` would also name the slotless twins that dataclass leaves behind."""
    found = (kind for kind in vars(reasons).values() if isinstance(kind, type) and issubclass(kind, Reason))
    return tuple(kind for kind in found if kind is not Reason)


def _unreadable(kind: type[object], detail: str) -> Unreadable:
    return Unreadable(field=None, noun=kind.__name__, detail=detail)


def _is_unicode(text: str) -> bool:
    """False for lone surrogates, which no encoding takes; they are escaped instead."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time_text(at: datetime) -> str:
    if at.tzinfo is None:
        raise ValueError(f"a time without a zone: {at}")
    return at.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _time(text: Any, _: object) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"a time without a zone: {text}")
    return at.astimezone(UTC)


def _only(kind: type[T]) -> Callable[[Any, object], T]:
    """A hook that takes values of exactly this type: '5' is no number and 1 is not true."""

    def take(value: Any, _: object) -> T:
        if type(value) is not kind:
            raise TypeError(f"{value!r} is no {kind.__name__}")
        return value

    return take


def _number(value: Any, _: object) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=False)
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _only(kind))
    converter.register_structure_hook(StrEnum, lambda value, kind: kind(value))  # else the hook of str takes it
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(datetime, _time)
    converter.register_unstructure_hook(datetime, _time_text)
    by_code = {kind.code: kind for kind in reason_kinds()}
    fields_of = Converter.unstructure

    def reason_fields(reason: Reason) -> dict[str, Any]:
        return {"code": reason.code, **fields_of(converter, reason, type(reason))}

    def reason(fields: dict[str, Any], _: object) -> Reason:
        facts = dict(fields)
        kind = by_code.get(facts.pop("code"))
        if kind is None:
            raise ValueError(f"unknown reason: {fields['code']}")
        return converter.structure(facts, kind)

    converter.register_unstructure_hook_func(lambda kind: kind is Reason, reason_fields)
    converter.register_structure_hook_func(lambda kind: kind is Reason, reason)
    return converter


_CONVERTER = _converter()
