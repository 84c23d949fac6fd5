"""Since when cards are free: when the last run left each of them, found in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock

from paika.domain.ledger import EntryKind
from paika.domain.records import Records
from paika.ports.store import LedgerQuery, Store

PIECE = 50
FURTHEST = 500  # entries looked back over at most, which bounds the first look


class LastEnds:
    """Remembers what it has read, so that a later look reads only what is new."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ends: Mapping[str, datetime] = {}
        self._newest: tuple[str, datetime] | None = None
        self._version: int | None = None

    def of(self, store: Store, records: Records) -> Mapping[str, datetime]:
        """The end of the last run on each card, by card id; a card that no entry in reach tells of is left out."""
        with self._lock:
            if records.version != self._version:
                self._ends = {**self._ends, **self._newer(store)}
                self._version = records.version
            return self._ends

    def _newer(self, store: Store) -> dict[str, datetime]:
        found: dict[str, datetime] = {}
        newest, cursor, looked = self._newest, None, 0
        while looked < FURTHEST:
            page = store.ledger(LedgerQuery(kinds=(EntryKind.RELEASE,), cursor=cursor, limit=PIECE))
            for entry in page.rows:
                looked += 1
                if (entry.run, entry.at) == newest:
                    return found
                if self._newest == newest:
                    self._newest = entry.run, entry.at
                run = store.run(entry.run)
                for card in run.cards if run else ():
                    found.setdefault(card, entry.at)
            cursor = page.cursor
            if cursor is None:
                break
        return found
