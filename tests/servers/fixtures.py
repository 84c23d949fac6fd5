"""Fixtures that give tests real servers. PAIKA_REQUIRE_SERVERS=1 makes a missing one a failure, not a skip."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.servers.chromium import chromium_program
from tests.servers.machine import ServerMissing
from tests.servers.postgres import PostgresServer
from tests.servers.seaweedfs import S3Server, SharedSeaweedFS

T = TypeVar("T")


def had(what: str, start: Callable[[], T]) -> T:
    """What `start` gives; where it cannot be had, a loud skip or a failure."""
    try:
        return start()
    except ServerMissing as missing:
        reason = f"{what} cannot be had: {missing}"
    if os.environ.get("PAIKA_REQUIRE_SERVERS") == "1":
        pytest.fail(reason, pytrace=False)
    warnings.warn(f"SKIPPED, {reason}", stacklevel=1)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this worker's own."""
    server = had("PostgreSQL", PostgresServer)
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """The address of its database 'postgres'."""
    return postgres_server.url


@pytest.fixture
def fresh_postgres(postgres_server: PostgresServer) -> str:
    """The address of a new, empty PostgreSQL database."""
    return postgres_server.fresh_database()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A real S3 server, shared by the workers of this run: make buckets with names of your own."""
    shared = SharedSeaweedFS(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())))
    yield had("SeaweedFS", shared.join)
    shared.leave()


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """Chromium's program, with fonts for Chinese."""
    return had("Chromium", chromium_program)
