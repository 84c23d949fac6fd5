"""The timeline: bars where they belong, every way to move about, filters, links, live changes, many rows and none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from paika.domain.card import Card
from paika.domain.node import Node
from paika.domain.person import Role
from paika.domain.run import RunState
from paika.domain.task import TaskState
from paika.interfaces.board.marks import hue
from paika.interfaces.wording.catalogue import Lang, words
from paika.services.see_timeline import BarKind
from tests.browser.conftest import Visitor
from tests.browser.lab import T0, Lab, served
from tests.browser.scenes import HOUR, TYPES
from tests.browser.timeline_scenes import charted, promise, tell, thousand

pytestmark = pytest.mark.browser
ZH = words(Lang.ZH)
SLACK_PX = 3


@pytest.fixture(scope="module")
def chart_lab() -> Iterator[Lab]:
    """Promises of all kinds, for tests that only look."""
    with served(charted(Lab())) as lab:
        yield lab


@pytest.fixture
def own_lab() -> Iterator[Lab]:
    """The same, to be changed."""
    with served(charted(Lab())) as lab:
        yield lab


@pytest.fixture(scope="module")
def thousand_lab() -> Iterator[Lab]:
    """A thousand cards with five thousand bars."""
    with served(thousand(Lab())) as lab:
        yield lab


def ready(page: Page) -> Page:
    """The page once its first data is drawn."""
    expect(page.locator("#timeline[data-ready]")).to_be_attached()
    return page


def strip(page: Page, kind: str, task: str = "") -> Locator:
    """The first bar of that kind (and task)."""
    return page.locator(f"[data-plot] [data-key^='{kind} {task} ']").first


def edges(page: Page, part: Locator, span: timedelta = 6 * HOUR, now_at: float = 0.1) -> tuple[float, float]:
    """Where a part of a bar begins and ends, in hours after now."""
    plot, box = page.locator("[data-plot]").bounding_box(), part.bounding_box()
    assert plot
    assert box
    hours = span / HOUR
    left, right = (
        (x - plot["x"]) / plot["width"] * hours - now_at * hours for x in (box["x"], box["x"] + box["width"])
    )
    return left, right


def near(hours: float, wanted: float, page: Page, span: timedelta = 6 * HOUR) -> bool:
    """Whether that is the same place, give or take a few pixels."""
    plot = page.locator("[data-plot]").bounding_box()
    assert plot
    return abs(hours - wanted) * plot["width"] / (span / HOUR) <= SLACK_PX


def window_of(page: Page) -> str:
    """The window in words."""
    return page.locator("[data-range]").inner_text()


def asked(page: Page, name: str) -> str:
    """A value in the address, once it stands there."""
    expect(page).to_have_url(re.compile(rf"[?&]{name}="))
    found = re.search(rf"[?&]{name}=([^&]*)", page.url)
    assert found
    return found[1]


def test_a_run_lies_from_its_start_to_its_limit(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    bar = strip(page, "running", "t-2")
    _, end = edges(page, bar.locator(".body").first)
    assert near(end, 3.8, page)
    box = bar.locator(".body").first.bounding_box()
    assert box
    assert box["height"] > 80  # one block over the four cards of the gang
    expect(bar).to_have_attribute("aria-label", re.compile("赵磊.*大模型组.*gpu-a1 0–3.*至 14:00（时限）"))
    expect(bar).to_have_attribute("class", re.compile(rf"\bhue-{hue('zhao-lei')}\b"))


def test_an_end_that_nobody_knows_fades_after_now(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    bar = strip(page, "running", "t-6")
    begin, sure = edges(page, bar.locator("> .body"))
    assert near(begin, -0.4, page)
    assert near(sure, 0, page)
    assert edges(page, bar.locator(".tail"))[1] > 0.4
    expect(bar).to_have_attribute("aria-label", re.compile("何时结束未知"))


def test_a_promise_is_hatched_and_fades_in_over_its_range(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    bar = strip(page, "promised", "t-42")
    begin, sure = edges(page, bar.locator(".lead"))
    assert near(begin, 3.8, page)
    assert near(sure, 4.2, page)
    assert near(edges(page, bar.locator(".whole"))[0], 4.2, page)
    expect(bar.locator(".whole .over")).to_have_attribute("fill", "url(#hatch)")
    expect(bar).to_have_attribute("aria-label", re.compile("14:00 – 14:24 之间.*87 %"))


def test_bookings_maintenance_leases_and_use_by_others_are_told_apart(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline?text=gpu-a2"))
    begin, end = edges(page, strip(page, "maintenance", "b-2").locator(".body"))
    assert near(begin, 1, page)
    assert near(end, 2, page)
    assert near(edges(page, strip(page, "lease").locator(".edge"))[0], 4.5, page)
    expect(strip(page, "external")).to_contain_text("guest")
    expect(strip(page, "unfit", "draining")).to_contain_text("停用")
    page.goto(chart_lab.url + "/timeline?node=ws-4090")
    booking = strip(ready(page), "booking", "b-1")
    expect(booking).to_contain_text("周一语音课")
    expect(booking).to_have_attribute("href", "/bookings#booking-b-1")
    box = booking.locator(".body").bounding_box()
    assert box
    assert box["height"] > 40  # two cards, one block


def test_promises_end_at_the_horizon(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline?span=7d"))
    begin, _ = edges(page, page.locator("[data-plot] .horizon"), 168 * HOUR)
    assert near(begin, 72, page, 168 * HOUR)
    expect(page.locator(".gantt .legend")).to_contain_text("许诺只到 03-05 10:12")


def test_shares_lie_in_lanes_within_their_row(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline?node=ws-4090"))
    boxes = [strip(page, "running", task).locator("> .body").bounding_box() for task in ("t-9", "t-10")]
    assert all(box is not None for box in boxes)
    one, other = sorted(boxes, key=lambda box: box["y"] if box else 0)
    assert one
    assert other
    assert one["y"] + one["height"] <= other["y"]
    assert other["y"] + other["height"] - one["y"] <= 24


def test_hover_and_focus_tell_all_of_it(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    tip = page.locator("#tip")
    strip(page, "promised", "t-42").hover()
    for fact in ("sft-code-v2", "赵磊", "大模型组", "gpu-a1 0–3", "14:00 – 14:24 之间", "22:24"):
        expect(tip).to_contain_text(fact)
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    page.locator("[data-scroller]").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".strip:focus")).to_have_count(1)
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("[data-scroller]")).to_be_focused()


def test_keys_pan_zoom_and_come_back_to_now(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    assert window_of(page) == "09:36 到 15:36"
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-range]")).to_have_text("10:12 到 16:12")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[data-range]")).to_have_text("09:00 到 15:00")
    page.keyboard.press("n")
    expect(page.locator("[data-range]")).to_have_text("09:36 到 15:36")
    page.keyboard.press("-")
    expect(page.locator("[data-range]")).to_have_text("09:00 到 21:00")
    for _ in range(3):
        page.keyboard.press("+")
    expect(page.locator("[data-range]")).to_have_text("10:00 到 12:00")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    expect(page.locator("[data-range]")).to_have_text("10:00 到 12:00")
    expect(page).to_have_url(re.compile(r"/timeline\?span=7200$"))


def test_the_span_stays_between_an_hour_and_three_weeks(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    for key, span in (("+", 3600), ("-", 21 * 86_400)):
        for _ in range(14):
            page.keyboard.press(key)
        expect(page).to_have_url(re.compile(rf"span={span}$"))


def test_arrow_keys_walk_from_bar_to_bar_and_enter_opens_the_task(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    page.locator("[data-scroller]").focus()
    page.keyboard.press("Tab")
    focused = page.locator(".strip:focus")
    expect(focused).to_have_attribute("data-key", re.compile("^running t-2 "))
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_attribute("data-key", re.compile("^promised t-42 "))
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("data-key", re.compile("^promised t-45 "))
    page.keyboard.press("Enter")
    expect(page).to_have_url(chart_lab.url + "/tasks/t-45")


def test_a_click_opens_a_drag_pans(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    box, plot = strip(page, "running", "t-2").bounding_box(), page.locator("[data-plot]").bounding_box()
    assert box
    assert plot
    x, y = plot["x"] + plot["width"] / 2, box["y"] + 40
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - plot["width"] / 12, y, steps=4)
    page.mouse.move(x - plot["width"] / 6, y, steps=4)
    page.mouse.up()
    expect(page.locator("[data-range]")).to_have_text("10:36 到 16:36")
    expect(page).to_have_url(re.compile(r"/timeline\?at="))
    page.mouse.click(x - plot["width"] / 6, y)
    expect(page).to_have_url(chart_lab.url + "/tasks/t-2")


def test_the_wheel_zooms_about_the_pointer_and_scrolls_rows(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    plot = page.locator("[data-plot]").bounding_box()
    assert plot
    page.mouse.move(plot["x"] + plot["width"] / 2, plot["y"] + 60)
    page.mouse.wheel(0, 200)
    expect(page.locator(".row-label").first).not_to_be_in_viewport()
    assert window_of(page) == "09:36 到 15:36"
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    expect(page).to_have_url(re.compile(r"span=\d+"))
    span = int(asked(page, "span"))
    at = datetime.fromisoformat(asked(page, "at").replace("%3A", ":").replace("Z", "+00:00"))
    middle = at + timedelta(seconds=span * 0.4)
    assert span < 6 * 3600
    assert abs(middle - (T0 + timedelta(hours=2.4))) < timedelta(minutes=3)


def test_a_link_leads_to_a_moment(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline?at=2026-03-02T06:12:00Z&span=2h"))
    assert window_of(page) == "14:00 到 16:00"
    begin, _ = edges(page, strip(page, "promised", "t-42").locator(".whole"), 2 * HOUR)
    assert near(begin + 4, 4.2, page, 2 * HOUR)
    expect(page.locator("[data-plot] .now")).to_have_attribute("d", "")
    page.get_by_role("button", name="往后").click()
    expect(page.locator("[data-range]")).to_have_text("15:00 到 17:00")
    expect(page).to_have_url(re.compile("at=2026-03-02T07"))
    page.reload()
    ready(page)
    assert window_of(page) == "15:00 到 17:00"
    page.get_by_role("button", name="现在", exact=True).click()
    expect(page).to_have_url(chart_lab.url + "/timeline?span=7200")


def test_filters_live_in_the_address_and_say_what_they_hide(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline"))
    counts = page.locator("[data-counts]")
    expect(counts).to_have_text("36 张卡，53 条")
    page.locator("select[name=owner]").select_option("zhao-lei")
    expect(counts).to_contain_text("筛掉")
    expect(page).to_have_url(re.compile(r"\?owner=zhao-lei$"))
    assert strip(page, "running", "t-2").count() == 1
    assert strip(page, "running", "t-4").count() == 0
    page.get_by_placeholder("按任务、人").fill("eval")
    expect(page.locator(".row-label")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"text=eval"))
    page.reload()
    expect(page.locator(".row-label")).to_have_count(2)
    page.keyboard.press("/")
    page.keyboard.type("there is no such thing")
    expect(page.get_by_text("没有符合条件的")).to_be_visible()
    page.go_back()
    expect(page.locator(".row-label")).to_have_count(2)
    page.get_by_label("闲时", exact=True).check()
    expect(page.get_by_role("link", name="去掉筛选条件")).to_be_visible()


def test_mine_is_mine(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline", role=Role.LEAD))
    expect(page.locator(".strip.mine").first).to_be_attached()
    page.get_by_label("只看我的").check()
    expect(page).to_have_url(re.compile(r"\?mine=1$"))
    expect(page.locator(".row-label")).to_have_count(3)
    assert {key.split()[1] for key in keys(page) if key.startswith(("running", "promised"))} == {"t-3", "t-50"}
    page.reload()
    expect(page.locator(".row-label")).to_have_count(3)


def keys(page: Page) -> list[str]:
    """The keys of all bars drawn."""
    return page.eval_on_selector_all("[data-plot] .strip", "all => all.map(one => one.getAttribute('data-key'))")


def test_changes_arrive_without_losing_the_place(own_lab: Lab, visit: Visitor):
    page = ready(visit(own_lab, "/timeline?at=2026-03-02T03:12:00Z&span=3h"))
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    page.evaluate("window.sameDocument = true; document.querySelector('[data-scroller]').scrollTop = 48")
    bar = strip(page, "running", "t-3")
    bar.focus()
    before = window_of(page)
    run = own_lab.store.read().runs["r-4"]
    own_lab.change(run, state=RunState.STOPPING, stop_at=T0, stop_for="t-42", grace_s=7200)
    tell(own_lab, promise(own_lab, "t-52", "gpu-a1", (6,), T0 + 2 * HOUR))
    expect(strip(page, "stopping", "t-4")).to_have_attribute("aria-label", re.compile("腾给 sft-code-v2"))
    expect(strip(page, "promised", "t-52")).to_be_attached()
    expect(strip(page, "promised", "t-45")).to_have_count(0)
    expect(strip(page, "promised", "t-52")).to_have_class(re.compile(r"\bchanged\b"))
    expect(bar).not_to_have_class(re.compile(r"\bchanged\b"))
    expect(bar).to_be_focused()
    assert window_of(page) == before
    assert page.evaluate("[window.sameDocument, document.querySelector('[data-scroller]').scrollTop]") == [True, 48]


def test_a_bar_that_ends_goes_and_the_chart_keeps_the_focus(own_lab: Lab, visit: Visitor):
    page = ready(visit(own_lab, "/timeline"))
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    strip(page, "running", "t-4").focus()
    records = own_lab.store.read()
    run, task = records.runs["r-4"], records.tasks["t-4"]
    done = replace(task, state=TaskState.DONE, version=task.version + 1)
    own_lab.put(replace(run, state=RunState.ENDED, ended_at=T0, version=run.version + 1), done)
    expect(strip(page, "running", "t-4")).to_have_count(0)
    expect(page.locator("[data-scroller]")).to_be_focused()


def test_a_server_that_does_not_answer_is_said(visit: Visitor):
    with served(charted(Lab())) as lab:
        page = ready(visit(lab, "/timeline"))
    page.get_by_role("button", name="21 天").click()
    expect(page.locator("[data-failed]")).to_have_text("取不到新数据，图停在 10:12。")


@pytest.mark.parametrize("lang", list(Lang))
def test_both_languages_name_every_kind(chart_lab: Lab, visit: Visitor, lang: Lang):
    page = ready(visit(chart_lab, "/timeline", lang=lang.value))
    legend = page.locator(".gantt .legend").inner_text()
    for kind in BarKind:
        assert words(lang)[f"timeline.kind.{kind}"] in legend
    label = strip(page, "promised", "t-42").get_attribute("aria-label") or ""
    said = words(lang)["timeline.between"].format(**{"from": "14:00", "to": "14:24"})
    assert said in label
    assert not re.search(r"\{|\b(timeline|fact|ending|shows)\.[a-z]", page.inner_text("main") + label)


@pytest.mark.parametrize("lang", list(Lang))
def test_the_same_window_stands_there_as_a_list(chart_lab: Lab, visit: Visitor, lang: Lang):
    page = ready(visit(chart_lab, "/timeline?owner=zhao-lei&span=12h", lang=lang.value))
    page.get_by_role("link", name=words(lang)["timeline.as_list"]).click()
    expect(page).to_have_url(re.compile(r"owner=zhao-lei&span=12h&view=list$"))
    row = page.locator("tbody tr", has_text="sft-code-v2").first
    expect(row).to_contain_text("14:00 – 14:24")
    expect(row.get_by_role("link")).to_have_attribute("href", "/tasks/t-42")
    expect(row).to_contain_text(words(lang)["timeline.kind.promised"])
    assert page.locator("tbody tr", has_text="孙悦").count() == 0


def test_it_works_at_360_px(chart_lab: Lab, visit: Visitor):
    page = ready(visit(chart_lab, "/timeline", width=360))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    column = page.locator("[data-labels]").bounding_box()
    assert column
    assert column["width"] <= 110
    bar = strip(page, "running", "t-2")
    _, end = edges(page, bar.locator("> .body"))
    assert near(end, 3.8, page)
    page.get_by_role("button", name="往后").click()
    expect(page.locator("[data-range]")).to_have_text("12:36 到 18:36")


def test_no_rows_say_what_to_do_first(empty_lab: Lab, visit: Visitor):
    page = ready(visit(empty_lab, "/timeline"))
    expect(page.get_by_text("还没有卡")).to_be_visible()
    expect(page.locator("[data-scroller]")).to_be_hidden()


def test_ten_idle_rows_say_so_and_lead_to_a_task(empty_lab: Lab, visit: Visitor):
    cards = [Card(f"GPU-{n}", "ws", n, TYPES[2].id, TYPES[2].vram_mib) for n in range(10)]
    empty_lab.put(Node("ws", "", "local"), *cards)
    page = ready(visit(empty_lab, "/timeline"))
    expect(page.locator(".row-label")).to_have_count(10)
    expect(page.get_by_text("没有任务占卡")).to_be_visible()
    page.locator("[data-when=idle]").get_by_role("link", name="提交任务").click()
    expect(page).to_have_url(re.compile("/submit$"))


def test_of_a_thousand_rows_only_those_in_sight_exist(thousand_lab: Lab, visit: Visitor):
    page = ready(visit(thousand_lab, "/timeline?span=1d"))
    expect(page.locator("[data-counts]")).to_have_text("1000 张卡，5000 条")
    assert page.locator(".row-label").count() < 60
    assert page.locator("[data-plot] .strip").count() < 300
    page.locator("[data-scroller]").focus()
    page.keyboard.press("End")
    expect(page.locator(".node-name", has_text="gpu-124")).to_be_visible()
    expect(strip(page, "promised", "t-999-4")).to_be_attached()
    assert page.locator(".row-label").count() < 60


def test_a_focused_bar_stays_though_it_scrolls_away(thousand_lab: Lab, visit: Visitor):
    page = ready(visit(thousand_lab, "/timeline"))
    bar = strip(page, "running", "t-4-0")
    bar.focus()
    page.evaluate("document.querySelector('[data-scroller]').scrollTop = 12000")
    expect(page.locator(".node-name", has_text="gpu-063")).to_be_visible()
    expect(bar).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(strip(page, "promised", "t-4-1")).to_be_focused()
    expect(page.locator(".node-name", has_text="gpu-000")).to_be_visible()


def test_another_zone_of_the_reader_changes_nothing(chart_lab: Lab, visit: Visitor):
    page = visit(chart_lab, "/timeline")
    context = page.context.browser.new_context(
        timezone_id="America/New_York", storage_state=page.context.storage_state()
    )  # type: ignore[union-attr]
    other = context.new_page()
    other.goto(chart_lab.url + "/timeline")
    assert window_of(ready(other)) == "09:36 到 15:36"
    context.close()
