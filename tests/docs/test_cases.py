"""The page of field cases names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/cases.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[A-Za-z0-9_/]+\.(?:py|toml))(?:::(\w+))?`", PAGE)
MET = ("C01", "C05", "C07", "C10", "C18", "C20", "C27a", "C31", "C35", "C42", "C49", "C53")


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED)))
def test_the_test_is_there(path: str, name: str):
    text = (ROOT / path).read_text(encoding="utf-8")
    if name:
        assert re.search(rf"^\s*(?:async )?def {name}\(", text, re.MULTILINE)
    else:
        assert "story = " in text


def test_each_case_has_its_tests():
    sections = dict(re.findall(r"^## (\w+) (.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    assert tuple(sections) == MET
    assert [case for case, text in sections.items() if "`tests/" not in text] == []
