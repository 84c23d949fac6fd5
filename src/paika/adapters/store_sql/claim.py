"""One server a store: an exclusive lock on a file beside SQLite, an advisory lock in PostgreSQL."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

from paika.adapters.store_sql.engine import sqlite_path
from paika.ports.store import StoreFailed, StoreTaken

ADVISORY_KEY = 0x7061696B61  # 'paika'
START_PATIENCE_S = 3.0  # PostgreSQL frees the lock of a killed server once it has noticed the death
RENEW_PATIENCE_S = 1.0


class Claim(Protocol):
    """The right to be the only writer, held until released or until the process dies."""

    def renew(self) -> bool:
        """Make sure that it is still ours. True if it was lost and taken again: somebody may have written
        meanwhile. Raises StoreTaken."""
        ...

    def begin(self) -> AbstractContextManager[Connection]:
        """A transaction that can only succeed while the claim holds."""
        ...

    def release(self) -> None:
        """Let another server in."""
        ...


def claim(engine: Engine) -> Claim:
    """Become the only server of this database. Raises StoreTaken."""
    path = sqlite_path(engine.url)
    return FileClaim(engine, path) if path else SessionClaim(engine)


class FileClaim:
    """An exclusive lock on '<database>.lock'; the kernel drops it when the process dies."""

    def __init__(self, engine: Engine, database: Path) -> None:
        self._engine = engine
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

    def renew(self) -> bool:
        """A file lock is never lost while the process lives."""
        return False

    def begin(self) -> AbstractContextManager[Connection]:
        """A transaction of any connection."""
        return self._engine.begin()

    def release(self) -> None:
        """Let another server in."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


class SessionClaim:
    """An advisory lock of the session that also writes: when the session dies, lock and transaction die with it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session = self._take(START_PATIENCE_S)

    def renew(self) -> bool:
        """Ask whether the session lives; if not, take the lock in a new one."""
        if self._alive():
            return False
        self.release()
        self._session = self._take(RENEW_PATIENCE_S)
        return True

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction of the session that holds the lock."""
        with self._session.begin():
            yield self._session

    def release(self) -> None:
        """End the session, which frees the lock; the pool must not keep it alive."""
        if not self._session.closed:
            self._session.invalidate()
            self._session.close()

    def _take(self, patience_s: float) -> Connection:
        session = self._engine.connect()
        give_up = time.monotonic() + patience_s
        while not session.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": ADVISORY_KEY}):
            session.rollback()
            if time.monotonic() > give_up:
                session.close()
                raise StoreTaken(field="database", place=self._engine.url.render_as_string())
            time.sleep(0.1)
        session.commit()
        return session

    def _alive(self) -> bool:
        if self._session.closed:
            return False
        try:
            with self._session.begin():
                self._session.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True
