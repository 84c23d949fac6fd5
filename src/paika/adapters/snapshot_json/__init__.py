"""Snapshots, support cases and plans as JSON files, in the same words as the store's bodies."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from paika.adapters.codec.nouns import decode, encode
from paika.domain.plan import Plan
from paika.domain.policy import Policy
from paika.domain.snapshot import Snapshot
from paika.domain.support_case import SupportCase
from paika.ports.store import Unreadable

T = TypeVar("T")
FORMAT = 1


class JsonSnapshotFile:
    """The SnapshotFile port: an envelope that says what is inside and in which format, then the value."""

    def encode_snapshot(self, snapshot: Snapshot) -> str:
        """The snapshot as JSON."""
        return _wrap("snapshot", snapshot)

    def decode_snapshot(self, text: str) -> Snapshot:
        """The snapshot in the text. Raises Unreadable."""
        return _unwrap("snapshot", Snapshot, text)

    def encode_case(self, case: SupportCase) -> str:
        """The case as JSON."""
        return _wrap("case", case)

    def decode_case(self, text: str) -> SupportCase:
        """The case in the text; a bare snapshot is one of the default policy. Raises Unreadable."""
        envelope = _envelope("case", text)
        if envelope.get("paika") == "snapshot":
            snapshot = _inside("snapshot", Snapshot, envelope)
            return SupportCase(snapshot.taken_at, snapshot, Policy())
        return _inside("case", SupportCase, envelope)

    def encode_plan(self, plan: Plan) -> str:
        """The plan as JSON."""
        return _wrap("plan", plan)

    def decode_plan(self, text: str) -> Plan:
        """The plan in the text. Raises Unreadable."""
        return _unwrap("plan", Plan, text)


def _wrap(what: str, value: object) -> str:
    return f'{{"paika":"{what}","format":{FORMAT},"{what}":{encode(value)}}}\n'


def _unwrap(what: str, kind: type[T], text: str) -> T:
    return _inside(what, kind, _envelope(what, text))


def _envelope(what: str, text: str) -> dict[str, Any]:
    try:
        envelope: Any = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise Unreadable(field=None, noun=what, detail=str(fault)) from None
    if not isinstance(envelope, dict):
        raise Unreadable(field=None, noun=what, detail=f"not a {what} file")
    return envelope


def _inside(what: str, kind: type[T], envelope: dict[str, Any]) -> T:
    if envelope.get("paika") != what or what not in envelope:
        raise Unreadable(field=None, noun=what, detail=f"not a {what} file")
    if envelope.get("format") != FORMAT:
        raise Unreadable(field=None, noun=what, detail=f"format {envelope.get('format')}, known is {FORMAT}")
    return decode(kind, json.dumps(envelope[what]))
