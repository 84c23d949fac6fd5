"""A house for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interfaces.api.door import Door
from tests.interfaces.cli.house import House, served


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A served small lab, fresh for this test."""
    door = Door()
    with served(door) as url:
        yield House(url, door, tmp_path)
