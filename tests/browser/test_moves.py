"""Moving a task: an admin sees who slips, then says yes; the page then names who moved it and why."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from paika.domain.access import SERVER
from paika.domain.person import Role
from paika.domain.task_form import read_form
from paika.services.submit_task import submit_tasks
from tests.browser.conftest import Visitor
from tests.browser.lab import T0, Lab

pytestmark = pytest.mark.browser


def queued(lab: Lab) -> list[str]:
    """Three tasks for the same card, one after the other; their ids. The second has a milestone, and so goes first."""
    form = {
        "command": "true",
        "types": "RTX 4090",
        "limit": "4h",
        "priority": 100,
        "owner": "sun-yue",
        "team": "speech",
    }
    due = {"milestone": "投稿", "milestone_at": (T0 + timedelta(hours=5)).isoformat()}
    forms = [form | {"name": "语音合成 长句", **due}, form | {"name": "asr 方言"}, form | {"name": "投稿补实验"}]
    tasks = submit_tasks(lab.store, lab.clock, SERVER, [read_form(f, "UTC") for f in (forms[1], forms[0], forms[2])])
    lab.plan()
    return [task.id for task in tasks]


@pytest.mark.parametrize("width", [1440, 390])
def test_an_admin_sees_who_slips_and_then_moves(lab: Lab, visit: Visitor, width: int):
    first, second, urgent = queued(lab)
    page = visit(lab, f"/tasks/{urgent}", width=width)
    page.get_by_role("button", name="调整次序").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("加减分").fill("很多")
    dialog.get_by_role("button", name="先看看").click()
    expect(dialog.locator("#w-points")).to_contain_text("-1000")
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))
    dialog.get_by_label("加减分").fill("40")
    dialog.get_by_label("原因").fill("审稿人 <b>要求</b>")
    dialog.get_by_role("button", name="先看看").click()
    rows = dialog.locator("#slips tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("孙悦")
    expect(dialog.locator("#slips tbody .bad")).to_have_count(1)
    expect(rows.filter(has_text="语音合成 长句")).to_contain_text("会错过里程碑")
    assert lab.store.read().tasks[urgent].boost == 0
    assert dialog.evaluate("d => d.scrollWidth <= d.clientWidth"), "the table is wider than the dialog"
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))
    dialog.get_by_role("button", name="确认调整 +40").click()
    expect(dialog).to_be_hidden()
    task = lab.store.read().tasks[urgent]
    assert (task.boost, task.boost_by, task.boost_why) == (40, "admin", "审稿人 <b>要求</b>")
    expect(page.locator("#live")).to_contain_text("陈管理：审稿人 <b>要求</b>")
    page.get_by_role("button", name="调整次序").click()
    expect(dialog.get_by_label("加减分")).to_have_value("40")
    assert {lab.store.read().tasks[key].boost for key in (first, second)} == {0}


def test_other_points_than_those_looked_at_are_looked_at_first(lab: Lab, visit: Visitor):
    *_, urgent = queued(lab)
    page = visit(lab, f"/tasks/{urgent}", lang="en")
    page.get_by_role("button", name="Move", exact=True).click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("Points").fill("40")
    dialog.get_by_label("Reason").fill("x")
    dialog.get_by_role("button", name="See who slips").click()
    expect(dialog.locator("#slips")).to_contain_text("would miss the milestone")
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))
    dialog.get_by_label("Points").fill("-5")
    dialog.get_by_role("button", name="Move to +40").click()
    expect(dialog.get_by_role("button", name="Move to -5")).to_be_visible()
    expect(dialog.locator("#slips")).to_contain_text("Nobody starts later")
    assert lab.store.read().tasks[urgent].boost == 0


def test_only_admins_are_offered_a_move(shared_lab: Lab, visit: Visitor):
    for role in (Role.LEAD, Role.MEMBER, Role.VIEWER):
        page = visit(shared_lab, "/tasks/t-42", role=role)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("[hx-get$='/ask/move']")).to_have_count(0)
