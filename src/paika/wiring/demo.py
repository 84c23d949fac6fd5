"""`paika demo`: the main job on virtual cards, with real processes, a real server and a real kill -9."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paika.interfaces.client import Client
from paika.interfaces.wire import Unreachable
from paika.wiring.demo_account import Account, account_of, print_account
from paika.wiring.demo_lab import INVENTORY, DemoLab

PATIENCE_S = 110.0
START_S = 60.0


class DemoServer:
    """A server of our own in a child process, so that it can be killed like a real one."""

    def __init__(self, data: Path, port: int) -> None:
        self.data, self.port = data, port
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers. Raises RuntimeError if it does not."""
        (self.data / "inventory.yaml").write_text(INVENTORY, encoding="utf-8")
        argv = [sys.executable, "-m", "paika.wiring.main", "server", "start", "--data", str(self.data)]
        argv += ["--port", str(self.port), "--inventory", str(self.data / "inventory.yaml")]
        own = os.environ | {"PAIKA_RUN_AS_ROOT": "1"}  # our own harmless tasks, whoever plays the demo
        with (self.data / "server.log").open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603
                argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=own
            )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with Client(self.url, "none") as client:
                    client.get("health")
                return
            except Unreachable:
                time.sleep(0.1)
        raise RuntimeError(f"the server did not come up, see {self.data / 'server.log'}")

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Send the signal and wait for the end."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(timeout=30)

    def client(self) -> Client:
        """A client with the first admin's token."""
        return Client(self.url, (self.data / "admin.token").read_text(encoding="ascii").strip())


def play(*, once: bool, port: int | None, data: Path | None, keep: bool) -> int:
    """Play the demo. With `once`: to its end, with an account; exit code 0 only if all of it holds."""
    with _folder(data, keep) as folder:
        server = DemoServer(folder, port or _free_port())
        lab = DemoLab(folder / "work")
        lab.folder.mkdir(exist_ok=True)
        server.start()
        try:
            with server.client() as client:
                for form in lab.datasets():
                    client.send("POST", "datasets", body=form)
            return _once(server, lab) if once else _open_end(server, lab)
        finally:
            _cancel_all(server)
            server.stop()


def _once(server: DemoServer, lab: DemoLab) -> int:
    """Submit, look every second, kill the server in the middle, and add up."""
    account = Account()
    with server.client() as client:
        client.submit_many(lab.first(), key="demo-first")
        _say("1  满载：两个任务占满 A100 / the A100s are full")
        time.sleep(1.5)
        tasks = client.submit_many(lab.then(), key="demo-then")
        again = client.submit_many(lab.then(), key="demo-then")
        account.note("同一个键再交一次还是同一批任务 / the same key twice is the same tasks",
                     [t["id"] for t in tasks] == [t["id"] for t in again])  # fmt: skip
        _say(f"2  交了 {len(tasks)} 个任务，闲时的在前、核心的在后 / {len(tasks)} tasks, idle first, core last")
    killed = False
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with server.client() as client:
            account.look(client)
            left = [*client.tasks("queue"), *client.tasks("running")]
        waiting = [row for row in left if row["name"] != "dreams-of-a-huge-card"]
        _say(f"   在跑 running {sum(r['state'] == 'running' for r in left)}，未完 left {len(waiting)}")
        if not killed and account.has_run("core-gang"):
            killed = True
            _say("3  kill -9 服务器，任务照跑 / kill -9 of the server, tasks go on")
            server.stop(signal.SIGKILL)
            time.sleep(1.0)
            server.start()
        if killed and not lab.corpus.exists() and account.looks > 8:
            _say("4  语料到位 / the corpus is there")
            account.corpus_ready()
            lab.corpus.touch()
        if not waiting:
            break
        time.sleep(1.0)
    with server.client() as client:
        _cancel_by_name(client, "dreams-of-a-huge-card")
        account_of(account, client, lab)
    return print_account(account)


def _open_end(server: DemoServer, lab: DemoLab) -> int:
    """Keep the lab busy until Ctrl-C."""
    _say(f"看板 board: {_login_link(server)}")
    _say("Ctrl-C 结束 / Ctrl-C ends it")
    number = 0
    try:
        while True:
            with server.client() as client:
                while client.queue(1)["total"] < 12:
                    client.submit(lab.stream(number))
                    number += 1
            if number > 16 and number % 24 < 12:
                lab.corpus.touch()
            else:
                lab.corpus.unlink(missing_ok=True)
            time.sleep(3.0)
    except KeyboardInterrupt:
        _say("")
    return 0


def _login_link(server: DemoServer) -> str:
    """The link that the server printed when it started; it works once."""
    for line in (server.data / "server.log").read_text(encoding="utf-8").splitlines():
        if "/login?once=" in line:
            return server.url + "/login?once=" + line.partition("/login?once=")[2].strip()
    return server.url


def _cancel_all(server: DemoServer) -> None:
    """Leave nothing running behind."""
    try:
        with server.client() as client:
            for row in [*client.tasks("queue"), *client.tasks("running")]:
                client.cancel(row["id"], "demo ends")
            deadline = time.monotonic() + 15
            while time.monotonic() < deadline and list(client.tasks("running")):
                time.sleep(0.3)
    except Exception as fault:
        _say(f"! {fault}")


def _cancel_by_name(client: Client, name: str) -> None:
    for row in client.tasks("queue"):
        if row["name"] == name:
            client.cancel(row["id"], "demo ends")


@contextmanager
def _folder(data: Path | None, keep: bool) -> Iterator[Path]:
    if data is not None:
        data.mkdir(parents=True, exist_ok=True)
        yield data.absolute()
        return
    folder = Path(tempfile.mkdtemp(prefix="paika-demo-"))
    try:
        yield folder
    finally:
        if keep:
            _say(f"留下的数据 data kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _say(line: Any) -> None:
    print(line, flush=True)
