"""One server a store: an exclusive lock on a file beside SQLite, an advisory lock in PostgreSQL."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from paika.adapters.store_sql.engine import sqlite_path
from paika.ports.store import StoreFailed, StoreTaken

ADVISORY_KEY = 0x7061696B61  # 'paika'
PATIENCE_S = 5.0  # PostgreSQL frees the lock of a killed server once it has noticed the death


class Claim(Protocol):
    """The right to be the only writer, held until released or until the process dies."""

    def renew(self) -> None:
        """Make sure that it is still ours, taking it again if it was lost. Raises StoreTaken."""
        ...

    def release(self) -> None:
        """Let another server in."""
        ...


def claim(engine: Engine) -> Claim:
    """Become the only server of this database. Raises StoreTaken."""
    path = sqlite_path(engine.url)
    return FileClaim(path) if path else AdvisoryClaim(engine)


class FileClaim:
    """An exclusive lock on '<database>.lock'; the kernel drops it when the process dies."""

    def __init__(self, database: Path) -> None:
        try:
            self._fd = os.open(f"{database}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as fault:
            raise StoreFailed(field="database", detail=str(fault)) from None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip()
            os.close(self._fd)
            raise StoreTaken(field="database", place=f"{database} (pid {holder})") from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def renew(self) -> None:
        """A file lock is never lost while the process lives."""

    def release(self) -> None:
        """Let another server in."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


class AdvisoryClaim:
    """A session's advisory lock on a connection that is kept for nothing else."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self.renew()

    def renew(self) -> None:
        """Ask whether the session lives; if not, take the lock in a new one."""
        if self._connection is not None and self._alive(self._connection):
            return
        self.release()
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        give_up = time.monotonic() + PATIENCE_S
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": ADVISORY_KEY}):
            if time.monotonic() > give_up:
                connection.close()
                raise StoreTaken(field="database", place=self._engine.url.render_as_string())
            time.sleep(0.1)
        self._connection = connection

    def release(self) -> None:
        """End the session, which frees the lock; the pool must not keep it alive."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
        self._connection = None

    @staticmethod
    def _alive(connection: Connection) -> bool:
        try:
            connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True
