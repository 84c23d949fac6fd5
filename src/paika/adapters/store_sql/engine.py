"""One engine for all databases; what each of them needs to be told is here and in claim.py only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from paika.domain.problem import BadValue
from paika.ports.store import StoreFailed

DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "sqlite": "sqlite+pysqlite"}
BUSY_TIMEOUT_MS = 30_000
# Both ends notice within a minute that the other host is gone; the server's end frees the claim.
KEEPALIVES = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "options": "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3",
}


def parse_url(text: str) -> URL:
    """The database URL with our driver named. Raises BadValue; a password never enters the problem."""
    allowed = "sqlite:////absolute/path, postgresql://user:password@host/database"
    try:
        url = make_url(text)
    except ArgumentError:
        raise BadValue(field="database", value="", allowed=allowed) from None
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    if url.drivername not in DRIVERS.values() or url.database in (None, "", ":memory:"):
        raise BadValue(field="database", value=url.render_as_string(), allowed=allowed)
    return url


def sqlite_path(url: URL) -> Path | None:
    """The database file; None for a database that is a server."""
    return Path(url.database or "").absolute() if url.get_backend_name() == "sqlite" else None


def make_engine(url: URL) -> Engine:
    """A pooled engine. The SQLite file is created readable by its owner only: it holds token hashes."""
    path = sqlite_path(url)
    options: dict[str, Any] = {} if path else {"connect_args": KEEPALIVES, "pool_pre_ping": True}
    try:
        engine = create_engine(url, pool_size=8, max_overflow=24, **options)
    except (NoSuchModuleError, ModuleNotFoundError) as missing:
        raise StoreFailed(field="database", detail=str(missing)) from None
    if path:
        _touch(path)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _touch(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as fault:
        raise StoreFailed(field="database", detail=str(fault)) from None


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # SQLAlchemy's own BEGIN, not the driver's late one
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",  # an update that has returned survives a power cut
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
