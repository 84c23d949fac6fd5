"""One story for each sentence of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.scenarios.story import FILES, play


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_story(path: Path) -> None:
    play(path)
