"""Values as JSON: one encoder for all nouns and views, with reasons and problems in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
HIDDEN = frozenset({"secret_sha256"})


class Json(Response):
    """JSON as UTF-8; what cannot be written as text is replaced, never a fault."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )


def plain(value: Any, speaker: Speaker) -> Any:
    """The value in JSON's own types: times as RFC 3339 in UTC, durations in seconds, unknown as null."""
    if value is None or isinstance(value, bool | int) or type(value) is str:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, datetime):
        return instant(value)
    if isinstance(value, Reason | Problem):
        return plain(say(value, speaker), speaker)
    if isinstance(value, Program):
        return _program(value, speaker)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name), speaker) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): plain(item, speaker) for key, item in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(item, speaker) for item in value]
    return _rest(value)


def instant(at: datetime) -> str:
    """An instant as RFC 3339 in UTC with 'Z'."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


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
    told = {name: plain(getattr(program, name), speaker) for name in _names(Program) if name != "variables"}
    return told | {"variables": dict(program.variables)}


def _rest(value: Any) -> Any:
    if isinstance(value, timedelta):
        return int(value.total_seconds())
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.isoformat() if isinstance(value, date) else str(value)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.name not in HIDDEN)
