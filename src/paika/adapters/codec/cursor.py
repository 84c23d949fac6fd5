"""Cursors: opaque text that says after which row the next page begins."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from paika.domain.problem import BadValue

CHECK_CHARS = 8


def encode_cursor(listing: str, *after: int | str) -> str:
    """The cursor of `listing` whose next page begins after the row with the keys `after`."""
    body = json.dumps([listing, *after], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(body) + body).decode().rstrip("=")


def decode_cursor(listing: str, cursor: str, *shape: type) -> tuple[Any, ...]:
    """The keys in the cursor, of the types `shape`. Raises BadValue for one that this listing did not give out."""
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        name, *after = json.loads(raw[CHECK_CHARS:])
        if name == listing and encode_cursor(name, *after) == cursor and [type(key) for key in after] == list(shape):
            return tuple(after)
    except (ValueError, TypeError):
        pass
    raise BadValue(field="cursor", value=cursor[:80], allowed=f"a cursor of {listing}")


def _check(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:CHECK_CHARS].encode()
