"""The store without a disk keeps the promises."""

from __future__ import annotations

import pytest
from tests.ports.store_promises import StorePromises

from paika.adapters.in_memory.store import InMemoryStore


class TestInMemoryStore(StorePromises):
    @pytest.fixture
    def store(self) -> InMemoryStore:
        return InMemoryStore()
