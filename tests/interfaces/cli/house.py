"""The small lab behind a real server, and the command line in front of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from tests.interfaces.api.door import Door
from typer.testing import CliRunner

from paika.domain.access import Scope
from paika.interfaces.cli.app import build_cli
from paika.services.examine_machine import Finding, Level

ROOT = Path(__file__).parents[3]
CODE = (
    "from tests.interfaces.cli.house import ThisPretence\nfrom paika.interfaces.cli.app import build_cli\n"
    "build_cli(ThisPretence())(prog_name='paika')"
)


@dataclass
class ThisPretence:
    """Local commands that only remember what they were asked."""

    findings: tuple[Finding, ...] = (Finding("doctor.python", Level.OK, {"version": "3.11.2", "oldest": "3.11"}),)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    fails: Exception | None = None

    def serve(self, **settings: Any) -> int:
        self.asked.append(("serve", settings))
        if self.fails:
            raise self.fails
        return 0

    def demo(self, **settings: Any) -> int:
        self.asked.append(("demo", settings))
        return 0

    def examine(self, **settings: Any) -> Sequence[Finding]:
        self.asked.append(("examine", settings))
        return self.findings


@dataclass(frozen=True)
class Said:
    """What a command wrote and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def refusal(self) -> Any:
        return json.loads(self.err)


class House:
    """A served lab, and `paika` run as one of its people."""

    def __init__(self, url: str, door: Door, home: Path) -> None:
        self.url, self.door, self.home = url, door, home
        self.lab = door.lab
        self.local = ThisPretence()
        self.secrets: dict[str, str] = {}

    def env(self, person: str | None = "mia", lang: str = "en") -> dict[str, str | None]:
        found: dict[str, str | None] = dict.fromkeys(("PAIKA_TOKEN", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LC_ALL"))
        found |= {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config")}
        found |= {"PAIKA_URL": self.url, "PAIKA_LANG": lang}
        if person is not None:
            found["PAIKA_TOKEN"] = self.secret(person)
        return found

    def secret(self, person: str) -> str:
        if person not in self.secrets:
            self.secrets[person] = self.door.secret(person, Scope.ADMIN)
        return self.secrets[person]

    def paika(
        self, *args: str, by: str | None = "mia", lang: str = "en", stdin: str | bytes | None = None, **env: str | None
    ) -> Said:
        runner = CliRunner()
        result = runner.invoke(
            build_cli(self.local), list(args), input=stdin, env={**self.env(by, lang), **env}, prog_name="paika"
        )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Said(result.exit_code, result.stdout, result.stderr)

    def outside(self, *args: str, **more: str) -> subprocess.CompletedProcess[bytes]:
        """`paika` as a process of its own."""
        command = [sys.executable, "-c", CODE, *args]
        return subprocess.run(command, env=self.outside_env(**more), capture_output=True, timeout=120, check=False)

    def outside_env(self, **more: str) -> dict[str, str]:
        more = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **more}
        env = {**os.environ, **{k: v for k, v in self.env().items() if v is not None}, **more}
        return {k: v for k, v in env.items() if k not in ("COLUMNS", "FORCE_COLOR", "LC_ALL")}


@contextmanager
def served(door: Door) -> Iterator[str]:
    """A real server on a port of its own."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(door.app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
