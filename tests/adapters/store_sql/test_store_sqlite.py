"""The SQL store keeps the promises on SQLite files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ports.store_promises import OutlivesProcess

from paika.adapters.store_sql.store import SqlStore


class TestSqliteStore(OutlivesProcess):
    @pytest.fixture
    def place(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/paika.db"

    def open(self, place: str) -> SqlStore:
        return SqlStore(place)
