"""The SQL store keeps the promises on a real PostgreSQL server, and when that server goes away."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.adapters.store_sql.crash import CrashPromises
from tests.adapters.store_sql.lossy_line import LossyLine
from tests.ports.store_examples import T0, VISION, ended, put, run, task
from tests.ports.store_promises import OutlivesProcess
from tests.servers.postgres import PostgresServer

from paika.adapters.store_sql.store import SqlStore
from paika.domain.ledger import Balance, hold
from paika.ports.store import LedgerQuery, StoreFailed, StoreTaken, TaskQuery

pytestmark = pytest.mark.server


class TestPostgresStore(OutlivesProcess):
    @pytest.fixture
    def place(self, fresh_postgres: str) -> str:
        return fresh_postgres

    def open(self, place: str) -> SqlStore:
        return SqlStore(place)


class TestPostgresCrash(CrashPromises):
    @pytest.fixture
    def place(self, fresh_postgres: str) -> str:
        return fresh_postgres


@pytest.fixture
def line(postgres_server: PostgresServer) -> Iterator[LossyLine]:
    """A line to the server that can lose an answer."""
    line = LossyLine(postgres_server.port)
    yield line
    line.close()


def test_the_store_outlives_a_crash_of_the_database(postgres_server: PostgresServer) -> None:
    place = postgres_server.fresh_database()
    with closing(SqlStore(place)) as store:
        before = put(store, VISION, ended(task(1, version=0)))
        postgres_server.stop(signal.SIGQUIT)
        try:
            with pytest.raises(StoreFailed):
                put(store, task(2))
            with pytest.raises(StoreFailed):
                store.ended_tasks(TaskQuery())
            assert store.read() is before
        finally:
            postgres_server.start()
        assert list(put(store, task(2)).tasks) == ["t2"]
        assert store.ended_tasks(TaskQuery()).total == 1
        with pytest.raises(StoreTaken):
            SqlStore(place)


@pytest.mark.parametrize("again", [False, True])
def test_a_lost_answer_to_a_commit_is_found_out(
    fresh_postgres: str, postgres_server: PostgresServer, line: LossyLine, again: bool
) -> None:
    place = fresh_postgres.replace(str(postgres_server.port), str(line.port))
    with closing(SqlStore(place)) as store:
        before = put(store, VISION)
        line.lose_next_write = True
        with pytest.raises(StoreFailed):
            put(store, task(1), run(1, "t1"), ledger=(hold(run(1, "t1"), "A100", T0),))
        assert store.read() is before
        if again:  # the next writer sees what has come through after all
            seen = put(store, task(2))
            assert (seen.version, list(seen.tasks), seen.balances) == (3, ["t1", "t2"], {"vision": Balance(100, 0, 0)})
            put(store, ledger=(hold(run(2, "t2"), "A100", T0),))
            assert [entry.run for entry in store.ledger(LedgerQuery()).rows] == ["r2", "r1"]
    with closing(SqlStore(place)) as later:
        assert later.read().version == (4 if again else 2)


def test_a_store_that_was_taken_over_writes_no_more(postgres_server: PostgresServer, fresh_postgres: str) -> None:
    """The old server's session dies (a cut line, say), another server takes the store, the old one comes back."""
    old = SqlStore(fresh_postgres)
    put(old, VISION)
    name = fresh_postgres.rsplit("/", 1)[1]
    postgres_server.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    with closing(SqlStore(fresh_postgres)) as new:
        put(new, task(1))
        for _ in range(2):
            with pytest.raises((StoreTaken, StoreFailed)):
                _write_until_refused(old)
        assert list(new.read().tasks) == ["t1"]
        assert put(new, task(3)).version == 3
    old.close()


def _write_until_refused(store: SqlStore) -> None:
    put(store, task(2))
    raise AssertionError("two servers wrote to one store")
