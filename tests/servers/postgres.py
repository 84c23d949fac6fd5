"""A PostgreSQL server of its own, in a temporary folder, on loopback, gone after use.

By hand: `python -m tests.servers.postgres` prints its address and runs until interrupted.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from itertools import count
from pathlib import Path

from tests.servers.machine import ServerMissing, debian_packages, free_ports, stop, wait_until

SETTINGS = {"listen_addresses": "127.0.0.1", "fsync": "off", "max_connections": "200"}


class PostgresServer:
    """Started by the constructor; PostgreSQL refuses root, so root runs it as the user postgres."""

    def __init__(self) -> None:
        self._bin = _binaries()
        self.folder = Path(tempfile.mkdtemp(prefix="paika-postgres-"))
        self.port = free_ports()
        self._names = (f"test_{number}" for number in count(1))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
        try:
            self._init()
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def url(self) -> str:
        """The address of the database 'postgres'."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def fresh_database(self) -> str:
        """The address of a new, empty database."""
        name = next(self._names)
        self.sql(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name

    def sql(self, statement: str) -> None:
        """Run one statement in the database 'postgres', outside a transaction."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = [word for key, value in SETTINGS.items() for word in ("-c", f"{key}={value}")]
        server = [str(self._bin / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_postgres("--pdeathsig=KILL"), *server, "-k", str(self.folder), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
            )
        wait_until(self._answers, self._process, self._log)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop the server (SIGINT: fast, SIGQUIT: as if it had crashed); the data stay."""
        stop(self._process, how)

    def remove(self) -> None:
        """Stop the server and delete its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _init(self) -> None:
        data = ["-D", str(self.folder / "data"), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8"]
        command = [*_as_postgres(), str(self._bin / "initdb"), *data, "--no-sync"]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False, timeout=120)
        if done.returncode:
            raise ServerMissing(f"initdb: {done.stderr[-500:]}")

    def _answers(self) -> bool:
        import psycopg

        try:
            self.sql("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


def _as_postgres(*options: str) -> list[str]:
    rights = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return ["setpriv", *rights, *options] if rights or options else []


def _binaries() -> Path:
    """The folder of the newest installed server."""
    debian_packages("postgresql", present=lambda: bool(_found()))
    return _found()[-1]


def _found() -> list[Path]:
    if path := shutil.which("initdb"):
        return [Path(path).resolve().parent]
    folders = (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return sorted(folders, key=lambda folder: int(re.sub(r"\D", "", folder.parent.name)))


if __name__ == "__main__":
    server = PostgresServer()
    print(server.url, flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        server.remove()
