"""A real server on a loopback port: streams, many clients, large logs."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator

import httpx
import pytest
import uvicorn
from tests.interfaces.api.door import Door

from paika.domain.access import Scope
from paika.ports.engine import LogChunk
from paika.services.manage_access import revoke_token


class Served:
    """The API behind uvicorn."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/api/v1"
        config = uvicorn.Config(door.app, log_level="critical", timeout_graceful_shutdown=1, lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()
        deadline = time.monotonic() + 30
        while not self.server.started and time.monotonic() < deadline:
            time.sleep(0.02)

    def client(self, person: str = "mia", *scopes: Scope) -> httpx.Client:
        secret = self.door.secret(person, *scopes)
        return httpx.Client(base_url=self.url, headers={"Authorization": f"Bearer {secret}"}, timeout=30)

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served(Door())
    yield server
    server.close()


def changes(lines: Iterator[str]) -> Iterator[dict[str, object]]:
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_events_tell_what_changed_and_hold_no_thread(served):
    with served.client() as client:
        streams = [client.stream("GET", "/events") for _ in range(60)]  # more than the server has threads
        feeds = []
        for stream in streams:
            answer = stream.__enter__()
            assert answer.headers["content-type"].startswith("text/event-stream")
            feeds.append(changes(answer.iter_lines()))
        assert all(next(feed)["changed"] == ["hello"] for feed in feeds)
        assert client.post("/tasks", json={"name": "x", "command": "true"}).status_code == 201
        for feed in feeds:
            told = next(feed)
            assert {"tasks", "records"} <= set(told["changed"])
            assert told["version"] == served.door.lab.records.version
        served.door.box.set(alarms=("store.slow",))
        assert "alarm" in next(feeds[0])["changed"]
        for stream in streams:
            stream.__exit__(None, None, None)


def test_events_end_when_the_token_is_revoked(served, monkeypatch):
    monkeypatch.setattr("paika.interfaces.api.state.HEARTBEAT_S", 0.5)
    door = served.door
    with served.client() as client, client.stream("GET", "/events") as answer:
        lines = answer.iter_lines()
        next(changes(lines))
        revoke_token(door.lab.store, door.lab.clock, door.lab.actor("mia"), "k1")
        assert list(changes(lines))[-1]["changed"]  # the revocation itself, and then the stream is over


class EndlessLog:
    """An engine whose run has written much, with a gap in the middle."""

    SIZE = 40 * 1024 * 1024
    GAP = (10 * 1024 * 1024, 20 * 1024 * 1024)

    def read_log(self, run: str, token: str, offset: int, limit: int, rank: int = 0) -> LogChunk | None:
        start = max(0, self.SIZE + offset) if offset < 0 else offset
        dropped = 0
        if self.GAP[0] <= start < self.GAP[1]:
            start, dropped = self.GAP[1], self.GAP[1] - start
        stop = min(start + limit, self.GAP[0] if start < self.GAP[0] else self.SIZE)
        return LogChunk(start, b"x" * (stop - start), self.SIZE, dropped, False)


def test_a_large_log_is_tailed_and_streamed_with_its_gap_told(served):
    door = served.door
    door.lab.run(door.lab.submit("mia"), "a0")
    object.__setattr__(door.context, "engine", EndlessLog())
    with served.client() as client:
        tail = client.get("/tasks/t-1/log?tail=1000").json()
        assert (len(tail["text"]), tail["size"], tail["next_offset"]) == (1000, EndlessLog.SIZE, EndlessLog.SIZE)
        middle = client.get("/tasks/t-1/log", params={"offset": EndlessLog.GAP[0] + 5, "limit": 10}).json()
        assert middle["dropped_before"] == EndlessLog.GAP[1] - EndlessLog.GAP[0] - 5
        plain = client.get("/tasks/t-1/log?tail=10", headers={"Accept": "text/plain"})
        assert (plain.text, plain.headers["x-paika-size"]) == ("x" * 10, str(EndlessLog.SIZE))
        total, head = 0, b""
        with client.stream("GET", "/tasks/t-1/log/file") as answer:
            assert "attachment" in answer.headers["content-disposition"]
            for piece in answer.iter_bytes():
                total += len(piece)
                head = (head + piece)[-200:] if b"dropped" not in head else head
        gap = EndlessLog.GAP[1] - EndlessLog.GAP[0]
        assert total == EndlessLog.SIZE - gap + len(f"\n[paika: {gap} bytes dropped]\n")
    with served.client("tim") as stranger:
        assert stranger.get("/tasks/t-1/log").status_code == 403
        assert stranger.get("/tasks/t-1/log/file").status_code == 403
