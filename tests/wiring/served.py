"""A real server in a process of its own, on a free loopback port, that can be killed like a real one."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from paika.interfaces.client import Client
from paika.interfaces.wire import Unreachable

PATIENCE_S = 60.0
INVENTORY = """\
nodes:
  - {id: v1, virtual: true, cards: {type: A100-80G, count: 4}}
  - {id: v2, virtual: true, cards: {type: RTX 4090, count: 2}}
people: [{id: zhangsan, name: 张三, role: member, teams: [lab]}]
teams: [{id: lab, name: 实验室}]
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(condition: Callable[[], Any], what: str = "", patience_s: float = PATIENCE_S) -> Any:
    """The first true answer of the condition."""
    deadline = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"it never came true: {what}"
        time.sleep(0.05)
    return found


class Served:
    """`paika server start` on a data folder."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.data, self.port = folder / "data", port or free_port()
        self.log = folder / "server.log"
        self.data.mkdir(exist_ok=True)
        (self.data / "inventory.yaml").write_text(INVENTORY, encoding="utf-8")
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def argv(self) -> list[str]:
        inventory = str(self.data / "inventory.yaml")
        start = [sys.executable, "-m", "paika.wiring.main", "server", "start"]
        return [*start, "--data", str(self.data), "--port", str(self.port), "--inventory", inventory]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def launch(self) -> subprocess.Popen[bytes]:
        """Start it and do not wait."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self.process

    def start(self) -> Served:
        process = self.launch()
        eventually(lambda: process.poll() is not None or self._answers(), "the server answers")
        assert process.poll() is None, self.log.read_text(encoding="utf-8")
        return self

    def _answers(self) -> bool:
        try:
            with Client(self.url, "none") as client:
                return bool(client.get("health")["ok"])
        except Unreachable:
            return False

    def client(self, timeout_s: float = 60.0) -> Client:
        token = (self.data / "admin.token").read_text(encoding="ascii").strip()
        return Client(self.url, token, lang="en", timeout_s=timeout_s)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send the signal and wait; the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_S)

    def rss_mib(self) -> float:
        assert self.process is not None
        return float(psutil.Process(self.process.pid).memory_info().rss) / (1 << 20)

    def clean(self) -> None:
        """End what still runs of this house, so that no test leaves a process behind."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.end(signal.SIGKILL)
        for process in psutil.process_iter(["pid"]):
            try:
                mine = str(self.data) in " ".join(process.cmdline()) or process.environ().get("TEST_HOUSE") == self.mark
            except (psutil.Error, OSError):
                continue
            if mine and process.pid != os.getpid():
                process.kill()

    @property
    def mark(self) -> str:
        """What its tasks carry in their environment."""
        return str(self.data)

    def task(self, name: str, text: str, **fields: Any) -> dict[str, Any]:
        """The form of a task that runs a few lines of bash."""
        return {"name": name, "team": "lab", "script": text, "env": {"TEST_HOUSE": self.mark}, **fields}
