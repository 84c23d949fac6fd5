"""A lab to look at: people, machines in every state, runs, a queue, all at one fixed instant; and its server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import uvicorn
from fastapi import FastAPI

from paika.adapters.in_memory.engine import InMemoryEngine
from paika.adapters.in_memory.store import InMemoryStore
from paika.adapters.table_reader.reader import FileTableReader
from paika.domain.records import Change, Noun
from paika.interfaces.api.app import build_api
from paika.interfaces.api.context import Context
from paika.interfaces.board.mount import mount_board
from paika.planning.planner import plan
from paika.services.live import LiveBox
from paika.services.take_snapshot import take_snapshot

T0 = datetime(2026, 3, 2, 2, 12, tzinfo=UTC)  # 10:12 in Shanghai


class StillClock:
    """A clock that stands until it is moved."""

    def __init__(self, at: datetime = T0) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


class CountedIds:
    """Ids in order."""

    def __init__(self) -> None:
        self.given = 0

    def token(self, size_bytes: int = 16) -> str:
        self.given += 1
        return f"{self.given:0{2 * size_bytes}x}"


@dataclass
class Lab:
    """A running board with handles to change what it shows."""

    store: InMemoryStore = field(default_factory=InMemoryStore)
    live: LiveBox = field(default_factory=LiveBox)
    clock: StillClock = field(default_factory=StillClock)
    url: str = ""
    closing: bool = False

    def __post_init__(self) -> None:
        self.engine = InMemoryEngine(self.clock, name="local")
        self.context = Context(
            store=self.store,
            live=self.live,
            clock=self.clock,
            ids=CountedIds(),
            engine=self.engine,
            session_key="a key for tests only",
            zone=ZoneInfo("Asia/Shanghai"),
            tables=FileTableReader(),
            closing=lambda: self.closing,
        )

    def put(self, *nouns: Noun, **more: object) -> None:
        """Write nouns as they are."""
        self.store.update(lambda _: Change(puts=nouns, **more))  # type: ignore[arg-type]

    def change(self, noun: Noun, **fields: object) -> None:
        """Write a noun with some fields changed, one version on."""
        self.put(replace(noun, **fields, version=noun.version + 1))  # type: ignore[arg-type, call-arg]

    def plan(self) -> None:
        """Let the real planner look at it, starting nothing."""
        records = self.store.read()
        made = plan(take_snapshot(records, self.live.read().external, self.clock.at), records.policy, self.clock.at)
        self.live.set(plan=made, waits={wait.task: wait for wait in made.waits})

    def app(self) -> FastAPI:
        """API and board together."""
        app = build_api(self.context)
        mount_board(app, self.context)
        return app


@contextmanager
def served(lab: Lab) -> Iterator[Lab]:
    """The lab behind a real server on a port of its own."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    lab.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(uvicorn.Config(lab.app(), log_level="warning", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield lab
    finally:
        lab.closing = True
        server.should_exit = True
        thread.join(20)
