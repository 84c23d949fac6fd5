"""Guarantees and teams in a real browser: granted after a look, changed, taken back; a team's weight."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from paika.domain.person import Role
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser


def opened(page: Page, button: Locator) -> Locator:
    """The dialog, once it is there and the focus no longer moves."""
    button.click()
    dialog = page.locator("#dialog")
    expect(dialog).to_be_visible()
    expect(dialog).not_to_have_class(re.compile("htmx-"))
    return dialog


@pytest.mark.parametrize("width", [1440, 390])
def test_an_admin_grants_changes_and_withdraws(lab: Lab, visit: Visitor, width: int):
    page = visit(lab, "/bookings", width=width)
    dialog = opened(page, page.get_by_role("button", name="设保底额度"))
    dialog.get_by_label("团队").select_option("speech")
    dialog.get_by_label("卡数").fill("2")
    dialog.get_by_label("卡型").fill("RTX 4090")
    dialog.get_by_role("button", name="先看看").click()
    expect(dialog.locator("#slips")).to_be_visible()
    assert dialog.evaluate("d => d.scrollWidth <= d.clientWidth")
    assert lab.store.read().guarantees == {}
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))
    dialog.get_by_role("button", name="设保底", exact=True).click()
    expect(dialog).to_be_hidden()
    row = page.locator("#guarantee-1")
    expect(row).to_contain_text("语音组")
    opened(page, row.get_by_role("button", name="修改"))
    dialog.get_by_label("卡数").fill("1")
    dialog.get_by_role("button", name="保存").click()
    expect(row).to_contain_text("1 张卡")
    opened(page, row.get_by_role("button", name="取消保底"))
    dialog.get_by_label("原因").fill("不再需要")
    dialog.get_by_role("button", name="取消保底").click()
    expect(dialog).to_be_hidden()
    expect(row).to_have_count(0)
    assert lab.store.read().guarantees == {}


def test_a_teams_weight_is_changed(lab: Lab, visit: Visitor):
    page = visit(lab, "/teams", lang="en")
    row = page.locator("#team-vision")
    expect(row).to_contain_text("33 %")
    dialog = opened(page, row.get_by_role("button", name="Edit"))
    dialog.get_by_label("Weight").fill("200")
    dialog.get_by_label("Parent").select_option("llm")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("below")
    assert (lab.store.read().teams["vision"].weight, lab.store.read().teams["vision"].parent) == (200, "llm")


def test_members_are_offered_neither(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/bookings", role=Role.MEMBER)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("[hx-get^='/guarantees']")).to_have_count(0)
