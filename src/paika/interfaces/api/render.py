"""Values as JSON: one encoder for all nouns and views, with reasons and problems in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any

from starlette.responses import Response

from paika.domain.problem import Kind, Problem, VersionConflict
from paika.domain.reason import Reason
from paika.domain.task import Program
from paika.interfaces.wording.say import Speaker, say

STATUS = {
    Kind.INVALID: 422,
    Kind.REFUSED: 409,
    Kind.CONFLICT: 409,
    Kind.MISSING: 404,
    Kind.FORBIDDEN: 403,
    Kind.UNAUTHENTICATED: 401,
    Kind.SYSTEM: 503,
}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_LEAVES = frozenset({str, int, bool, type(None)})
HIDDEN = frozenset({"secret_sha256"})


class Json(Response):
    """JSON as UTF-8; what cannot be written as text is replaced, never a fault."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return text_of(content).encode("utf-8", "replace")


class JsonText(Response):
    """JSON that is text already."""

    media_type = "application/json"

    def render(self, content: str) -> bytes:
        """The body."""
        return content.encode("utf-8", "replace")


def text_of(content: Any) -> str:
    """JSON's own types as JSON."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def plain(value: Any, speaker: Speaker) -> Any:
    """The value in JSON's own types: times as RFC 3339 in UTC, durations in seconds, unknown as null."""
    kind: type = type(value)
    return _renderer(kind)(value, speaker)


@cache
def _renderer(kind: type) -> Callable[[Any, Speaker], Any]:
    """How values of a type are rendered; found once for each type, as answers hold thousands of values."""
    for known, render in _RENDERERS:
        if issubclass(kind, known):
            return render
    return _nouns(kind) if is_dataclass(kind) else lambda value, _: str(value)


def _nouns(kind: type) -> Callable[[Any, Speaker], Any]:
    names = tuple(f.name for f in fields(kind) if f.name not in HIDDEN)

    def render(value: Any, speaker: Speaker) -> dict[str, Any]:
        told: dict[str, Any] = {}
        for name in names:
            part = getattr(value, name)
            told[name] = part if type(part) in _LEAVES else plain(part, speaker)
        return told

    return render


def instant(at: datetime) -> str:
    """An instant as RFC 3339 in UTC with 'Z'."""
    utc = at if at.tzinfo is UTC else at.astimezone(UTC)
    return utc.isoformat().removesuffix("+00:00") + "Z"


def status_of(problem: Problem) -> int:
    """The HTTP status of a refusal."""
    return 412 if isinstance(problem, VersionConflict) else STATUS[problem.kind]


def problem_json(problem: Problem, speaker: Speaker, *, status: int | None = None) -> Response:
    """The refusal as problem+json, in the speaker's language."""
    told = plain(say(problem, speaker), speaker)
    code = status or status_of(problem)
    body = {"type": f"urn:paika:problem:{problem.code}", "title": told["message"], "status": code, **told}
    headers = HEADERS | {"Content-Language": speaker.lang.value}
    if code == 401:
        headers |= {"WWW-Authenticate": 'Bearer realm="paika"'}
    return Json(body, code, headers, media_type="application/problem+json")


def _program(program: Program, speaker: Speaker) -> dict[str, Any]:
    """Variables by name; who may not see their values gets a program without them (see doors.masked)."""
    told: dict[str, Any] = _nouns(Program)(program, speaker)
    return told | {"variables": dict(program.variables)}


def _reason(reason: Reason, speaker: Speaker) -> Any:
    """Tasks of one shape have the same reasons; each is rendered once for a language, zone and day."""
    rendered = speaker.memory.rendered
    known = rendered.get(reason)
    if known is None:
        known = rendered[reason] = plain(say(reason, speaker), speaker)
    return known


def _listed(value: Iterable[Any], speaker: Speaker) -> list[Any]:
    return [plain(item, speaker) for item in value]


_RENDERERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, Speaker], Any]], ...] = (
    (Enum, lambda value, _: value.value),
    ((str, bool, int, type(None)), lambda value, _: value),
    (float, lambda value, _: value if isfinite(value) else None),
    (datetime, lambda value, _: instant(value)),
    (date, lambda value, _: value.isoformat()),
    (timedelta, lambda value, _: int(value.total_seconds())),
    (bytes, lambda value, _: value.decode("utf-8", "replace")),
    (Reason, _reason),
    (Problem, lambda value, speaker: plain(say(value, speaker), speaker)),
    (Program, _program),
    (Mapping, lambda value, speaker: {str(key): plain(item, speaker) for key, item in value.items()}),
    ((tuple, list, set, frozenset), _listed),
)
