"""The SQL store keeps the promises on SQLite files, and what happens when the file is not as it should be."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.adapters.store_sql.crash import ROOT, CrashPromises
from tests.ports.store_examples import T0, VISION, ended, note, put, task
from tests.ports.store_promises import OutlivesProcess

from paika.adapters.store_sql.layout import LAYOUT
from paika.adapters.store_sql.store import SqlStore
from paika.domain.problem import BadValue
from paika.domain.promise import Outcome
from paika.domain.records import Records
from paika.ports.store import StoreFailed, StoreMoved, StoreNewer, StoreTaken, TaskQuery, Unreadable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "paika.db"


@pytest.fixture
def place(file: Path) -> str:
    """Its address."""
    return f"sqlite:///{file}"


def behind_its_back(file: Path, statement: str) -> list[tuple[object, ...]]:
    """Run SQL past the store."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


class TestSqliteStore(OutlivesProcess):
    @pytest.fixture
    def place(self, file: Path) -> str:
        return f"sqlite:///{file}"

    def open(self, place: str) -> SqlStore:
        return SqlStore(place)


class TestSqliteCrash(CrashPromises):
    @pytest.fixture
    def place(self, file: Path) -> str:
        return f"sqlite:///{file}"


def test_a_failed_transaction_publishes_nothing(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store:
        before = put(store, VISION)
        behind_its_back(file, "ALTER TABLE paika_audit RENAME TO elsewhere")
        with pytest.raises(StoreFailed) as refusal:
            put(store, task(1), ended(task(2, version=0)), audit=(note(1),))
        assert "paika_audit" in refusal.value.detail
        assert store.read() is before
        assert behind_its_back(file, "SELECT * FROM paika_tasks") == []
        behind_its_back(file, "ALTER TABLE elsewhere RENAME TO paika_audit")
        assert put(store, task(1), audit=(note(1),)).version == 2
    with closing(SqlStore(place)) as again:
        assert again.read().tasks == {"t1": task(1)}


def test_a_full_disk_refuses_the_update_and_loses_nothing(file: Path, place: str) -> None:
    """A file size limit stands for the disk; the same store goes on once there is room."""
    script = f"""
import resource, signal
from tests.ports.store_examples import put, task
from paika.adapters.store_sql.store import SqlStore
from paika.ports.store import StoreFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = SqlStore({place!r})
put(store, task(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    put(store, task(2, note="x" * 2_000_000))
except StoreFailed as refusal:
    print(list(store.read().tasks), store.read().version)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(put(store, task(3)).version)
store.close()
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["['t1'] 1", "2"], done.stderr
    with closing(SqlStore(place)) as again:
        assert list(again.read().tasks) == ["t1", "t3"]


def test_another_writer_is_noticed(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store:
        before = put(store, VISION)
        behind_its_back(file, "UPDATE paika_meta SET value = 9 WHERE name = 'version'")
        with pytest.raises(StoreMoved) as refusal:
            put(store, task(1))
        assert (refusal.value.expected, refusal.value.found) == (1, 9)
        assert store.read() is before


def test_an_older_layout_is_brought_up_with_what_it_holds(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store:
        put(store, VISION, task(1))
    behind_its_back(file, "DROP TABLE paika_outcomes")
    behind_its_back(file, "UPDATE paika_meta SET value = 1 WHERE name = 'layout'")
    with closing(SqlStore(place)) as store:
        assert store.read().tasks == {"t1": task(1)}
        put(store, outcomes=(Outcome("t1", T0, 60, 0, None),))
        assert len(store.outcomes()) == 1
    assert behind_its_back(file, "SELECT value FROM paika_meta WHERE name = 'layout'") == [(LAYOUT,)]


def test_a_newer_layout_is_refused_and_left_alone(file: Path, place: str) -> None:
    SqlStore(place).close()
    behind_its_back(file, f"UPDATE paika_meta SET value = {LAYOUT + 1} WHERE name = 'layout'")
    for _ in range(2):
        with pytest.raises(StoreNewer) as refusal:
            SqlStore(place)
    assert (refusal.value.layout, refusal.value.known) == (LAYOUT + 1, LAYOUT)


def test_a_body_of_a_newer_version_is_refused_and_left_alone(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store:
        put(store, VISION, task(1))
    grown = """UPDATE paika_tasks SET body = '{"of_tomorrow":1,' || substr(body, 2)"""
    behind_its_back(file, grown)
    with pytest.raises(Unreadable) as refusal:
        SqlStore(place)
    assert "of_tomorrow" in refusal.value.detail


def test_what_is_no_database_is_refused(file: Path, place: str) -> None:
    file.write_bytes(b"minutes of a meeting, not a database " * 100)
    with pytest.raises(StoreFailed):
        SqlStore(place)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "paika.db",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://u:secret@h/d",
        "redis://u:secret@h/0",
        "postgresql://h",
    ],
)
def test_an_address_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadValue) as refusal:
        SqlStore(url)
    assert refusal.value.field == "database"
    assert "secret" not in repr(refusal.value)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed) as refusal:
        SqlStore(f"sqlite:///{tmp_path}/no/paika.db")
    assert "No such file" in refusal.value.detail


def test_only_the_owner_may_read_the_files(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store:
        put(store, VISION)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert set(modes) >= {"paika.db", "paika.db-wal", "paika.db.lock"}
    assert set(modes.values()) == {0o600}


def test_commits_are_durable_by_the_settings_of_every_connection(place: str) -> None:
    with closing(SqlStore(place)) as store, store._engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30_000}


def test_the_refusal_names_the_process_that_holds_the_store(place: str) -> None:
    import os

    with closing(SqlStore(place)), pytest.raises(StoreTaken) as refusal:
        SqlStore(place)
    assert f"(pid {os.getpid()})" in refusal.value.place


def test_a_child_process_does_not_keep_the_store_taken(place: str) -> None:
    store = SqlStore(place)
    child = subprocess.Popen(["sleep", "60"])
    store.close()
    try:
        SqlStore(place).close()
    finally:
        child.kill()
        child.wait()


def test_a_backup_reader_does_not_stop_the_store(file: Path, place: str) -> None:
    with closing(SqlStore(place)) as store, closing(sqlite3.connect(file, isolation_level=None)) as backup:
        put(store, task(1))
        backup.execute("BEGIN")
        assert backup.execute("SELECT count(*) FROM paika_tasks").fetchone() == (1,)
        put(store, task(2))
        assert backup.execute("SELECT count(*) FROM paika_tasks").fetchone() == (1,)
        assert isinstance(store.read(), Records)
        assert store.ended_tasks(TaskQuery()).total == 0
