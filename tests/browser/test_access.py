"""Who may do what: login, logout, no button that would be refused, the wall for a viewer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from paika.domain.person import Role
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab
from tests.browser.scenes import SECRETS

pytestmark = pytest.mark.browser
ADDRESSES = "all => all.map(one => one.getAttribute('hx-get') ?? one.getAttribute('href'))"
PAGES = (
    "/",
    "/queue",
    "/readiness",
    "/cards",
    "/bookings",
    "/ledger",
    "/teams",
    "/policy",
    "/tasks/t-2",
    "/tasks/t-42",
    "/tasks/t-44",
)


def test_login_leads_to_the_page_that_was_asked_for_and_logout_ends_it(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue?team=llm", role=None)
    expect(page).to_have_url(re.compile("/login"))
    page.get_by_label("令牌").fill("paika_k1_wrong")
    page.get_by_role("button", name="登录").click()
    expect(page.locator("[role=alert]")).to_be_visible()
    page.get_by_label("令牌").fill(SECRETS[Role.MEMBER])
    page.get_by_role("button", name="登录").click()
    expect(page).to_have_url(re.compile(r"/queue\?team=llm$"))
    page.locator(".rail").get_by_role("button", name="退出").click()
    expect(page).to_have_url(re.compile("/login"))
    page.goto(shared_lab.url + "/queue")
    expect(page).to_have_url(re.compile("/login"))


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "https://evil.example/"])
def test_a_login_leads_nowhere_else(shared_lab: Lab, visit: Visitor, path: str):
    page = visit(shared_lab, "/login", role=None)
    answer = page.request.post(
        f"{shared_lab.url}/login", form={"secret": SECRETS[Role.VIEWER], "next": path}, max_redirects=0
    )
    assert answer.headers["location"] == "/"


def test_a_printed_link_logs_in_once(shared_lab: Lab, visit: Visitor):
    shared_lab.context.once["a-code"] = SECRETS[Role.VIEWER]
    page = visit(shared_lab, "/login?once=a-code", role=None)
    expect(page).to_have_url(shared_lab.url + "/")
    expect(page.locator(".rail .who")).to_contain_text("大屏")
    again = visit(shared_lab, "/login?once=a-code", role=None)
    expect(again.locator("[role=alert]")).to_be_visible()


def offered(page: Page) -> set[str]:
    """Everything a page offers to do: dialogs to open and links of acts."""
    dialogs = page.locator("[hx-get][hx-target='#dialog']").evaluate_all(ADDRESSES)
    links = page.locator("a[href^='/submit'], a[href^='/import']").evaluate_all(ADDRESSES)
    return {*dialogs, *links}


@pytest.mark.parametrize("role", list(Role))
def test_nobody_is_offered_what_he_is_refused(shared_lab: Lab, visit: Visitor, role: Role):
    page = visit(shared_lab, "/", role=role)
    found: set[str] = set()
    for path in PAGES:
        page.goto(shared_lab.url + path)
        found |= offered(page)
    of_a_kind = {
        re.sub(r"/(cards|nodes|teams|datasets|bookings)/[^/]+", r"/\1/…", path): path for path in sorted(found)
    }
    found = set(of_a_kind.values())
    refused = {path: page.request.get(shared_lab.url + path).status for path in found}
    assert {path: status for path, status in refused.items() if status != 200} == {}
    if role is Role.VIEWER:
        assert found == set()
    else:
        assert found


def test_a_viewer_who_posts_all_the_same_is_refused(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/", role=Role.VIEWER)
    before = shared_lab.store.read().tasks["t-42"]
    answer = page.request.post(f"{shared_lab.url}/tasks/t-42/cancel", headers={"X-Paika": "1"}, form={"reason": "x"})
    assert answer.status == 403
    assert shared_lab.store.read().tasks["t-42"] == before


def test_a_change_by_cookie_wants_proof_of_our_own_page(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/")
    elsewhere = {"Origin": "http://evil.example"}
    answer = page.request.post(f"{shared_lab.url}/tasks/t-42/cancel", headers=elsewhere, form={"reason": "x"})
    assert answer.status == 403
    assert shared_lab.store.read().tasks["t-42"].state.value == "waiting"


def test_the_wall_is_for_a_viewer_and_fits_one_screen(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/wall", role=Role.VIEWER, width=1920)
    expect(page.locator(".figures .figure").first).to_contain_text("1")
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    expect(page.locator("nav")).to_have_count(0)
    expect(page.locator("main button, main a")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    sizes = page.locator(".cell .owner").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 28


def test_unknown_pages_and_tasks_are_told_in_words(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/tasks/t-999999")
    expect(page.locator("main")).to_contain_text("t-999999")
    page.goto(shared_lab.url + "/no/such/page")
    expect(page.get_by_role("link", name="回到总览")).to_be_visible()
