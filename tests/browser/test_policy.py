"""The policy in a real browser: a number is changed after a look, and taken back; others only read."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from paika.domain.person import Role
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab
from tests.browser.test_guarantees import opened

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("lang", "width"), [("zh", 1440), ("zh", 390), ("en", 390)])
def test_an_admin_changes_a_number_and_takes_it_back(lab: Lab, visit: Visitor, lang: str, width: int):
    check, save, back = {"zh": ("先看看", "保存", "恢复"), "en": ("Have a look", "Save", "Bring back")}[lang]
    page = visit(lab, "/policy", width=width, lang=lang)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    row = page.locator("#policy-normal_depth")
    dialog = opened(page, row.get_by_role("button"))
    dialog.locator("[name=value]").fill("2")
    dialog.get_by_role("button", name=check).first.click()
    expect(dialog.locator("#slips")).to_be_visible()
    assert dialog.evaluate("d => d.scrollWidth <= d.clientWidth")
    assert lab.store.read().policy.normal_depth is None
    dialog.get_by_role("button", name=save).click()
    expect(dialog.locator("#w-reason")).to_be_visible()
    dialog.locator("[name=reason]").fill("deadline")
    dialog.get_by_role("button", name=save).click()
    expect(dialog).to_be_hidden()
    expect(row).to_contain_text("2")
    expect(page.locator("#version-2")).to_contain_text("deadline")
    opened(page, page.locator("#version-1").get_by_role("button"))
    dialog.locator("[name=reason]").fill("over")
    dialog.get_by_role("button", name=back).click()
    expect(page.locator("#version-3")).to_contain_text("over")
    assert lab.store.read().policy.normal_depth is None


def test_members_only_read(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/policy", role=Role.MEMBER)
    expect(page.locator("#policy-fair_half_life_s")).to_be_visible()
    expect(page.locator("[hx-get^='/policy/']")).to_have_count(0)
