"""The SQL store keeps the promises on a real PostgreSQL server."""

from __future__ import annotations

import pytest
from tests.ports.store_promises import OutlivesProcess

from paika.adapters.store_sql.store import SqlStore

pytestmark = pytest.mark.server


class TestPostgresStore(OutlivesProcess):
    @pytest.fixture
    def place(self, fresh_postgres: str) -> str:
        return fresh_postgres

    def open(self, place: str) -> SqlStore:
        return SqlStore(place)
