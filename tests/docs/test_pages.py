"""Generated parts of the pages are as the code would make them now."""

from __future__ import annotations

import pytest
from tools import pages

from paika.domain import run, task


@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path):
    written = path.read_text(encoding="utf-8")
    assert written == pages.filled(written), "run: python tools/pages.py"


def test_every_part_is_on_a_page():
    shown = [name for path in pages.PAGES for _, name, _ in pages.PART.findall(path.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(pages.parts())


@pytest.mark.parametrize(("name", "module"), [("task-life", task), ("run-life", run)])
def test_a_diagram_has_every_step(name, module):
    drawn = set()
    for line in pages.parts()[name]:
        if ": " in line and "-->" in line:
            arrow, events = line.strip().split(": ")
            start, end = arrow.split(" --> ")
            drawn |= {(start, event, end) for event in events.split(", ")}
    assert drawn == {(start.value, event, end.value) for (start, event), end in module.STEPS.items()}


def test_every_reason_has_its_section_in_both_languages():
    text = "\n".join(line for name, lines in pages.parts().items() if name.startswith("waits-") for line in lines)
    for kind in pages.kinds():
        assert text.count(f"### `{kind.code}`\n") == 1
    assert len(pages.kinds()) > 20
    assert "{" not in text
