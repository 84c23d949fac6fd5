"""The page What if in a real browser: another kind brings its fields, edits add up, the answer stands beside them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from paika.domain.person import Role
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser


def choose(page: Page, kind: str) -> None:
    page.locator("#f-what").select_option(kind)


@pytest.mark.parametrize("width", [1440, 390])
def test_edits_add_up_and_are_dropped(shared_lab: Lab, visit: Visitor, width: int):
    page = visit(shared_lab, "/cards", width=width)
    page.locator("#node-gpu-a1").get_by_role("link", name="假如").click()
    expect(page.locator("#f-whose")).to_have_value("gpu-a1")
    page.get_by_role("button", name="排一遍看看").click()
    answer, thoughts = page.locator("#answer"), page.locator(".thoughts li")
    expect(answer).to_contain_text("会中断")
    expect(thoughts).to_have_count(1)
    choose(page, "more_cards")
    page.get_by_label("卡型").fill("没有这种卡")
    page.get_by_label("卡数").fill("8")
    page.get_by_role("button", name="再加这一项").click()
    expect(page.locator("#w-type")).to_be_visible()
    page.get_by_label("卡型").fill("A100-80G")
    page.get_by_role("button", name="再加这一项").click()
    expect(thoughts).to_have_count(2)
    expect(answer.locator(".figures")).to_contain_text("可用的卡")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    thoughts.first.get_by_role("button").click()
    expect(thoughts).to_have_count(1)
    expect(answer).not_to_contain_text("会中断")
    assert "what-if-1" not in shared_lab.store.read().nodes


def test_a_member_asks_for_a_task_and_sees_reasons(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/what-if", role=Role.MEMBER, lang="en")
    expect(page.locator("#f-what option[value=lost_node]")).to_have_count(0)
    page.get_by_label("Cards", exact=True).fill("64")
    page.get_by_role("button", name="Plan it and look").click()
    expect(page.locator("#answer .landing")).to_contain_text("New task")
    expect(page.locator("#answer .landing .reasons li").first).to_be_visible()
    expect(page.locator("#answer .figures")).to_contain_text("Tasks in the queue")


def test_a_check_of_the_form_tells_who_slips(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/submit", lang="en")
    page.get_by_label("Name").fill("mine")
    page.get_by_label("Command").fill("true")
    page.get_by_label("Team").select_option("vision")
    page.get_by_role("button", name="Check only").click()
    expect(page.locator("#lands .landing")).to_contain_text("mine")
    expect(page.locator("#lands")).to_contain_text("starts later")
