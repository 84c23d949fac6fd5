"""The glossary and the domain name the same nouns."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

import paika.domain
from paika.domain.problem import Problem
from paika.domain.reason import Reason

PAGE = (Path(__file__).parents[2] / "docs/glossary.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| `domain/([a-z_]+)\.py(?::([A-Za-z]+)(?:\.([a-z_]+))?)?` \|$")
HEADS = ("| English |", "|---|")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(HEADS)]
MODULES = {module.name for module in pkgutil.iter_modules(paika.domain.__path__)}


def nouns() -> Iterator[tuple[str, str]]:
    """Public classes of the domain; single problems and reasons have pages of their own."""
    for name in MODULES:
        for kind in vars(import_module(f"paika.domain.{name}")).values():
            if not inspect.isclass(kind) or kind.__module__ != f"paika.domain.{name}" or kind.__name__.startswith("_"):
                continue
            if kind in (Problem, Reason) or not issubclass(kind, Problem | Reason):
                yield name, kind.__name__


@pytest.mark.parametrize("line", ROWS)
def test_a_row_names_what_stands_in_the_code(line: str):
    row = ROW.match(line)
    assert row is not None
    english, chinese, _, module, name, part = row.groups()
    assert re.search("[a-zA-Z]", english)
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert module in MODULES
    if name is not None:
        kind = getattr(import_module(f"paika.domain.{module}"), name)
        if part is not None:
            assert is_dataclass(kind)
            assert part in {f.name for f in fields(kind)}


def test_every_module_and_noun_of_the_domain_has_its_row():
    rows = [row.groups() for line in ROWS if (row := ROW.match(line))]
    assert {row[3] for row in rows} == MODULES
    listed = [(row[3], row[4]) for row in rows if row[4] and not row[5]]
    assert sorted(listed) == sorted(set(nouns()))


def test_no_word_stands_twice():
    for column in (0, 1):
        words = [row.groups()[column] for line in ROWS if (row := ROW.match(line))]
        assert sorted(words) == sorted(set(words))
