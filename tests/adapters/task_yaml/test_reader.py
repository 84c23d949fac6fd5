"""YAML task lists: text stays text, and nothing refers to anything."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paika.adapters.task_yaml.reader import read_task_list_yaml
from paika.ports.table import UnreadableTable

LIST = """
defaults: {team: vision, cards: 1}
tasks:
  - name: yes
    command: [python, prep.py, 1]
    limit: 1:30:00
    after:
  - {name: 08, 卡数: ８, not_before: 2026-12-01, cards: 0x10, note: "null"}
"""


def test_every_scalar_stays_what_was_written():
    first, second = read_task_list_yaml(LIST.encode())
    assert first == (
        4,
        {
            "team": "vision",
            "cards": "1",
            "name": "yes",
            "command": ["python", "prep.py", "1"],
            "limit": "1:30:00",
            "after": None,
        },
    )
    assert second == (
        8,
        {
            "team": "vision",
            "cards": "0x10",
            "name": "08",
            "卡数": "８",
            "not_before": "2026-12-01",
            "note": "null",
        },
    )


def test_a_plain_list_will_do():
    assert read_task_list_yaml(b"- {name: a}\n") == ((1, {"name": "a"}),)


@pytest.mark.parametrize(
    ("text", "cause", "line"),
    [
        ("", "empty", None),
        ("tasks: []", "empty", 1),
        ("a: 1", "shape", 1),
        ("- a", "shape", 1),
        ("- {name: a, name: b}", "shape", 1),
        ("- name: a\n  x: [", "yaml", 2),
        ("- &x {name: a}\n- *x", "yaml", 2),
        ("- {name: !!python/object/apply:os.system [x]}\n-", "shape", 2),
        ("tasks: {a: 1}", "shape", 1),
        ("tasks: [{a: 1}]\nother: 1", "shape", 1),
    ],
)
def test_refusals(text, cause, line):
    with pytest.raises(UnreadableTable) as caught:
        read_task_list_yaml(text.encode(), "list.yaml")
    assert (caught.value.cause, caught.value.line) == (cause, line)


def test_bottomless_nesting_is_refused():
    with pytest.raises(UnreadableTable):
        read_task_list_yaml(b"[" * 20_000)


@given(st.text(max_size=100))
def test_no_text_crashes_it(text):
    with suppress(UnreadableTable):
        assert read_task_list_yaml(text.encode("utf-8", "replace"))
