"""make bench-api: what readers wait for while a long queue is planned again and again.

A real server on virtual cards in a child process; tasks waiting in it, some submitted and cancelled every
second, so that cycles never stop. Four client threads read one page after the other: at once, which shows
what the server can do at most, and twice a second each, which is more than a lab's open boards ask. The
baseline in the same run is GET /health, which reads nothing: its times are what HTTP, the interpreter's lock
and the client cost. On a machine that does other work too, `others_cpu` and `cpu_wait` say how much of the
times is the machine's: what others took of its cores, and how long the server's threads stood ready for one.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
import psutil

from paika.interfaces.client import Client
from paika.interfaces.wire import Unreachable

WAITING = int(os.environ.get("BENCH_TASKS", "10000"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "15"))
PACED = 3  # times as long for pages that are read now and then: in 15 s two slow reads of 120 would be the p99
THREADS = 4
BATCH = 1000
CHURN = 5  # tasks submitted and cancelled each second
INVENTORY = """\
nodes:
  - {id: v1, virtual: true, cards: {type: A100-80G, count: 8}}
  - {id: v2, virtual: true, cards: {type: RTX 4090, count: 8}}
teams: [{id: lab, name: lab}]
"""
PAGES = {  # address, and seconds from one read of a thread to its next (0: at once, which shows the most it can do)
    "health (baseline)": ("/api/v1/health", 0.0),
    "tasks, 100 a page": ("/api/v1/tasks?limit=100", 0.0),
    "board: queue page": ("/queue", 0.0),
    "one task": ("/api/v1/tasks/t-500", 0.0),
    "health, 8 a second": ("/api/v1/health", 0.5),
    "tasks, 8 a second": ("/api/v1/tasks?limit=100", 0.5),
    "board, 8 a second": ("/queue", 0.5),
}


def form(number: int) -> dict[str, Any]:
    """A task of the bench; sizes, lengths and tiers vary."""
    hours = (1, 2, 4, 8, 12, 24)[number % 6]
    return {
        "name": f"bench-{number}",
        "team": "lab",
        "command": ["sleep", "1000000"],
        "cards": (1, 1, 1, 2, 4, 8)[number % 5],
        "tier": ("normal", "normal", "normal", "idle")[number % 4],
        "priority": 30 + number % 41,
        "limit": f"{hours}h",
        "vram": ("10G", "20G", "40G")[number % 3],
    }


@contextmanager
def server(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, Path]]:
    """A server of our own; its tasks are cancelled before it goes."""
    data = folder / "data"
    data.mkdir()
    (data / "inventory.yaml").write_text(INVENTORY, encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [sys.executable, "-m", "paika.wiring.main", "server", "start", "--data", str(data)]
    argv += ["--port", str(port), "--inventory", str(data / "inventory.yaml")]
    log = folder / "server.log"
    with log.open("wb") as output:
        env = os.environ | {"PAIKA_RUN_AS_ROOT": "1"}
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: _answers(url), process)
        yield process, url, data
    finally:
        with suppress(Exception), client_of(url, data) as client:
            for row in list(client.tasks("running")):
                client.cancel(row["id"])
            wait_for(lambda: not list(client.tasks("running")), process, 30)
        process.send_signal(signal.SIGKILL)
        process.wait()


def _answers(url: str) -> bool:
    try:
        with Client(url, "none") as client:
            return bool(client.get("health")["ok"])
    except Unreachable:
        return False


def wait_for(condition: Any, process: subprocess.Popen[bytes], patience_s: float = 120) -> None:
    """Until it is true. Raises RuntimeError if it does not come true or the server dies."""
    deadline = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > deadline or process.poll() is not None:
            raise RuntimeError("the server does not do what it should")
        time.sleep(0.1)


def client_of(url: str, data: Path) -> Client:
    """An admin's client."""
    return Client(url, (data / "admin.token").read_text(encoding="ascii").strip(), timeout_s=120)


@contextmanager
def signed_in(url: str, data: Path) -> Iterator[httpx.Client]:
    """A client that may read both the API and the board."""
    token = (data / "admin.token").read_text(encoding="ascii").strip()
    with httpx.Client(base_url=url, timeout=120, trust_env=False, follow_redirects=True) as client:
        client.post("/login", data={"secret": token, "next": "/queue"}, headers={"Origin": url})
        assert "login" not in str(client.get("/queue").url), "the login did not work"
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


class Churn:
    """Tasks come and go every second, and are counted."""

    def __init__(self, url: str, data: Path, first: int) -> None:
        self.done = threading.Event()
        self.acts = 0
        self.thread = threading.Thread(target=self._run, args=(url, data, first), daemon=True)
        self.thread.start()

    def _run(self, url: str, data: Path, number: int) -> None:
        with client_of(url, data) as client:
            while not self.done.is_set():
                begun = time.monotonic()
                for _ in range(CHURN):
                    task = client.submit(form(number))
                    client.cancel(task["id"])
                    number, self.acts = number + 1, self.acts + 2
                self.done.wait(max(0.0, 1.0 - (time.monotonic() - begun)))


def read_page(path: str, every_s: float, seconds: float, url: str, data: Path) -> list[float]:
    """Seconds of each read, of all threads together; a thread begins one every `every_s` at most."""
    times: list[float] = []
    until = time.monotonic() + seconds

    def reader(number: int) -> None:
        with signed_in(url, data) as client:
            time.sleep(every_s * number / THREADS)  # people do not read in step
            while time.monotonic() < until:
                begun = time.perf_counter()
                answer = client.get(path)
                times.append(time.perf_counter() - begun)
                assert answer.status_code == 200, answer.text[:300]
                time.sleep(max(0.0, every_s - times[-1]))

    threads = [threading.Thread(target=reader, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


class Cpu:
    """CPU seconds of the server, of all that the bench began, and of the machine; what the server waited for a core."""

    def __init__(self, server: int) -> None:
        here = psutil.Process(server)
        self.server = _cpu_s(here)
        self.ours = self.server + sum(map(_cpu_s, here.children(recursive=True))) + _cpu_s(psutil.Process())
        self.machine = sum(psutil.cpu_times()[:3])
        self.waited = {thread.name: _waited_s(thread) for thread in Path(f"/proc/{server}/task").iterdir()}
        self.at = time.monotonic()

    def shares(self, since: Cpu) -> tuple[float, float, float]:
        """Of one core: the server's, that of everybody else on the machine, and what the server waited for one."""
        seconds = self.at - since.at
        others = (self.machine - since.machine) - (self.ours - since.ours)
        waited = sum(now_s - since.waited.get(thread, 0.0) for thread, now_s in self.waited.items())  # of who still is
        return (self.server - since.server) / seconds, max(0.0, others / seconds), waited / seconds


def _cpu_s(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])


def _waited_s(thread: Path) -> float:
    """How long a thread was ready to run and had no core."""
    try:
        return int((thread / "schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except OSError:
        return 0.0  # it has just ended, or this kernel does not say


def measure(name: str, path: str, every_s: float, url: str, data: Path, client: Client, server: int) -> dict[str, Any]:
    """One row of the table, printed."""
    before, cpu, seconds = client.get("overview")["cycle"]["cycles"], Cpu(server), SECONDS * (PACED if every_s else 1)
    times = read_page(path, every_s, seconds, url, data)
    server_cpu, others_cpu, cpu_wait = Cpu(server).shares(cpu)
    cycle = client.get("overview")["cycle"]
    cuts = quantiles(times, n=100)
    row = {
        "page": name,
        "reads_per_s": round(len(times) / seconds, 1),
        "p50_ms": round(cuts[49] * 1000, 1),
        "p99_ms": round(cuts[98] * 1000, 1),
        "max_ms": round(max(times) * 1000, 1),
        "cycles": cycle["cycles"] - before,
        "cycle_s": round(cycle["seconds"], 3),
        "server_cpu": f"{server_cpu:.0%}",
        "others_cpu": f"{others_cpu:.0%}",
        "cpu_wait": f"{cpu_wait:.0%}",
    }
    print(f"{name:<20}", *(f"{row[key]:>11}" for key in COLUMNS), flush=True)
    return row


COLUMNS = ("reads_per_s", "p50_ms", "p99_ms", "max_ms", "cycles", "cycle_s", "server_cpu", "others_cpu", "cpu_wait")


def main() -> int:
    """Print the table and one JSON line."""
    with (
        tempfile.TemporaryDirectory(prefix="paika-bench-") as place,
        server(Path(place)) as (process, url, data),
        client_of(url, data) as client,
    ):
        begun = time.monotonic()
        for first in range(0, WAITING, BATCH):
            client.submit_many([form(n) for n in range(first, min(first + BATCH, WAITING))])
        took = time.monotonic() - begun
        wait_for(lambda: client.get("overview")["unseen"] == 0, process)
        waiting = client.queue(1)["total"]
        print(f"{waiting} waiting, 16 virtual cards, {THREADS} readers, {SECONDS:.0f} s a page "
              f"({PACED * SECONDS:.0f} s if paced), "
              f"{2 * CHURN} changes a second; submitted in {took:.1f} s; {os.cpu_count()} CPUs, "
              f"Python {platform.python_version()}")  # fmt: skip
        print(f"{'page':<20}", *(f"{key:>11}" for key in COLUMNS))
        churn = Churn(url, data, WAITING)
        rows = [measure(name, path, every, url, data, client, process.pid) for name, (path, every) in PAGES.items()]
        churn.done.set()
        churn.thread.join()
        rss = int(Path(f"/proc/{process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]) // 1024
        print(json.dumps({"bench": "api", "waiting": waiting, "rows": rows, "acts": churn.acts, "rss_mib": rss}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
