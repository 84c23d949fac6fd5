"""Bookings on the board: asked for, looked at first, approved, changed, cancelled with a reason."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from paika.domain.guarantee import Guarantee
from paika.domain.person import Role
from paika.domain.reservation import Purpose, Reservation, ReservationState
from tests.browser.conftest import Visitor
from tests.browser.lab import T0, Lab

pytestmark = pytest.mark.browser
HOUR = timedelta(hours=1)


def listed(lab: Lab, key: str = "b-1", **more: object) -> Reservation:
    """A booking that a member of the vision team has asked for."""
    window = T0 + 48 * HOUR, T0 + 56 * HOUR
    plain = Reservation(key, Purpose.BOOKING, "vision", "li-si", (), 2, *window, title="投稿前对照", created_at=T0)
    plain = replace(plain, state=ReservationState.LISTED, card_types=("A100-80G",))
    one = replace(plain, **more)  # type: ignore[arg-type]
    lab.put(one, counters={"reservation": int(key.removeprefix("b-"))})
    return one


def held(lab: Lab, key: str = "b-1") -> Reservation:
    return lab.store.read().reservations[key]


def opened(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).first.click()
    expect(page.locator("#dialog")).to_be_visible()
    expect(page.locator("#dialog")).not_to_have_class(re.compile("htmx-"))  # until then the focus may still move


def test_nothing_booked_yet_says_how(lab: Lab, visit: Visitor):
    page = visit(lab, "/bookings", role=Role.LEAD)
    expect(page.locator(".empty")).to_contain_text("还没有预约")
    page.goto(f"{lab.url}/bookings?lang=en")
    expect(page.locator(".empty")).to_contain_text("No bookings yet")


def test_a_window_is_looked_at_first_and_then_booked(lab: Lab, visit: Visitor):
    page = visit(lab, "/bookings", role=Role.LEAD)
    opened(page, "预约卡")
    dialog = page.locator("#dialog")
    dialog.get_by_label("开始时间").fill("2026-03-04T09:00")
    dialog.get_by_label("时长").fill("8h")
    dialog.get_by_label("卡数").fill("很多")
    dialog.get_by_label("卡型").fill("A100")
    dialog.get_by_role("button", name="先看看").click()
    expect(dialog.locator("#w-cards")).to_be_visible()
    expect(dialog).not_to_have_class(re.compile("htmx-settling"))  # what is typed into a form that settles is lost
    dialog.get_by_label("卡数").fill("2")
    dialog.get_by_role("button", name="先看看").click()
    expect(dialog.locator("[role=status]")).to_contain_text("订得上")
    assert lab.store.read().reservations == {}
    dialog.get_by_role("button", name="预约", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#booking-b-1")).to_contain_text("03-04 09:00")
    expect(page.locator("#booking-b-1")).to_contain_text("已订")
    assert (held(lab).team, held(lab).wanted, held(lab).approved_by) == ("vision", 2, "wang-min")


def test_a_refusal_says_what_is_in_the_way(lab: Lab, visit: Visitor):
    cards = tuple(lab.store.read().cards)[:8]
    listed(lab, team="llm", state=ReservationState.BOOKED, cards=cards, wanted=8)
    page = visit(lab, "/bookings", role=Role.LEAD)
    opened(page, "预约卡")
    dialog = page.locator("#dialog")
    dialog.get_by_label("开始时间").fill("2026-03-04T10:30")
    dialog.get_by_label("时长").fill("1h")
    dialog.locator("summary").click()
    dialog.get_by_label("整台机器").fill("gpu-a1")
    dialog.get_by_role("button", name="预约", exact=True).click()
    expect(dialog.locator("[role=alert]").first).to_contain_text("b-1")
    assert set(lab.store.read().reservations) == {"b-1"}


def test_what_a_member_asks_for_is_approved_by_the_lead(lab: Lab, visit: Visitor):
    listed(lab)
    member = visit(lab, "/bookings", role=Role.MEMBER)
    row = member.locator("#booking-b-1")
    expect(row).to_contain_text("待批准")
    expect(row.get_by_role("button", name="批准")).to_have_count(0)
    page = visit(lab, "/bookings", role=Role.LEAD)
    page.locator("#booking-b-1").get_by_role("button", name="批准").click()
    page.locator("#dialog").get_by_role("button", name="批准").click()
    expect(page.locator("#dialog")).to_be_hidden()
    expect(page.locator("#booking-b-1")).to_contain_text("已订")
    assert held(lab).approved_by == "wang-min"
    assert len(held(lab).cards) == 2


def test_a_booking_is_changed_where_it_stands(lab: Lab, visit: Visitor):
    listed(lab)
    page = visit(lab, "/bookings", role=Role.MEMBER)
    page.locator("#booking-b-1").get_by_role("button", name="修改").click()
    dialog = page.locator("#dialog")
    expect(dialog.get_by_label("结束时间")).to_have_value("2026-03-04T18:12")
    dialog.get_by_label("结束时间").fill("2026-03-04T20:00")
    dialog.get_by_label("名称").fill("改过的名称")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#booking-b-1")).to_contain_text("改过的名称")
    one = held(lab)
    assert (one.starts_at, one.wanted, one.card_types) == (T0 + 48 * HOUR, 2, ("A100-80G",))
    assert one.ends_at - one.starts_at > 9 * HOUR


def test_a_cancel_shows_what_it_is_and_wants_a_reason(lab: Lab, visit: Visitor):
    listed(lab)
    page = visit(lab, "/bookings", role=Role.LEAD)
    page.locator("#booking-b-1").get_by_role("button", name="取消").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("视觉组")
    dialog.get_by_role("button", name="取消预约").click()
    expect(dialog.locator("#w-reason")).to_be_visible()
    assert held(lab).state is ReservationState.LISTED
    dialog.get_by_label("原因").fill("改到周五")
    dialog.get_by_role("button", name="取消预约").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".empty")).to_contain_text("接下来没有预约")
    page.get_by_role("link", name="看过去的").click()
    expect(page.locator("#booking-b-1")).to_contain_text("wang-min: 改到周五")


def test_an_admin_plans_maintenance_and_sees_whom_it_meets(lab: Lab, visit: Visitor):
    page = visit(lab, "/bookings")
    opened(page, "预约卡")
    dialog = page.locator("#dialog")
    dialog.get_by_label("时长").fill("2h")
    dialog.locator("summary").click()
    dialog.get_by_label("整台机器").fill("gpu-a1")
    dialog.get_by_label("用途").select_option("maintenance")
    dialog.get_by_role("button", name="预约", exact=True).click()
    expect(dialog).to_be_hidden()
    row = page.locator("#booking-b-1")
    expect(row).to_contain_text("检修")
    expect(row).to_contain_text(re.compile("还占 . 张"))
    assert held(lab).purpose is Purpose.MAINTENANCE


def test_guarantees_stand_beside_the_bookings(lab: Lab, visit: Visitor):
    lab.put(Guarantee("llm/H20", "llm", 4, ("H20",), 4, "训练季"))
    page = visit(lab, "/bookings", role=Role.VIEWER)
    expect(page.locator("#guarantee-1")).to_contain_text("大模型组")
    expect(page.locator("#guarantee-1")).to_contain_text("同机 4 张一起")
    expect(page.get_by_role("button", name="预约卡")).to_have_count(0)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_narrow_screen_needs_no_sideways(lab: Lab, visit: Visitor, lang: str):
    listed(lab, title="七十亿参数大模型投稿前最后一轮对照实验的很长很长的名字" * 2)
    lab.put(Guarantee("llm/H20", "llm", 4, ("H20",), 4, "训练季"))
    page = visit(lab, "/bookings?show=all", width=360, lang=lang)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    opened(page, {"zh": "预约卡", "en": "Book cards"}[lang])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
