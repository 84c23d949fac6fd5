"""The first screen: each state is told, changes arrive by themselves, nothing jumps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from paika.domain.card import Health
from paika.domain.task import QUEUED
from paika.interfaces.wording.catalogue import Lang, words
from paika.services.see_cards import Shows
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab, served
from tests.browser.scenes import T0, busy

pytestmark = pytest.mark.browser
IN_THE_LAB = sorted(set(Shows) - {Shows.UNKNOWN})


@pytest.mark.parametrize("lang", list(Lang))
def test_each_state_shows_by_pattern_letter_and_word(shared_lab: Lab, visit: Visitor, lang: Lang):
    page = visit(shared_lab, lang=lang.value)
    for shows in IN_THE_LAB:
        cell = page.locator(f".cell.is-{shows}").first
        expect(cell.locator(".letter")).to_have_text(words(lang)[f"letter.{shows}"])
        expect(cell).to_have_attribute("aria-label", re.compile(re.escape(words(lang)[f"shows.{shows}"])))


def test_a_busy_card_tells_who_what_and_until_when(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab)
    cell = page.locator(".cell", has_text="sft-math-v4").first
    expect(cell.locator(".owner")).to_have_text("赵磊")
    expect(cell.locator(".until")).to_have_text("至 14:00")
    cell.hover()
    tip = page.locator("#tip")
    for fact in ("大模型组", "至 14:00（时限）", "GiB", "08:00"):
        expect(tip).to_contain_text(fact)
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    cell.click()
    expect(page).to_have_url(re.compile(r"/tasks/t-2$"))


def test_the_keyboard_reaches_what_hovering_tells(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab)
    page.locator(".answer").last.focus()
    page.keyboard.press("Tab")
    expect(page.locator("#tip")).to_contain_text("sft-math-v4")
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()


ENDS = {"sft-math-v4": "至 14:00（时限）", "路口检测 baseline": "约 12:12（估计）", "rm-debug": "何时结束未知"}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_says_what_it_rests_on(shared_lab: Lab, visit: Visitor, name: str):
    label = visit(shared_lab).locator(".cell", has_text=name).first.get_attribute("aria-label")
    assert ENDS[name] in (label or "")


def test_the_five_answers_agree_with_the_lab(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab)
    figures = page.locator(".answer .figure > span:first-child").all_text_contents()
    free = page.locator(".cell.is-free").count()
    assert figures[0] == str(free) == "1"
    assert figures[1] == str(sum(task.state in QUEUED for task in shared_lab.store.read().tasks.values()))
    expect(page.locator(".answer").nth(2)).to_contain_text("孙悦")


def test_a_change_arrives_without_a_reload(lab: Lab, visit: Visitor):
    page = visit(lab)
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    page.evaluate("window.sameDocument = true")
    card = next(card for card in lab.store.read().cards.values() if card.node == "gpu-a2" and card.index == 7)
    lab.change(card, health=Health.LOST, health_since=T0, health_cause="Xid 79")
    cell = page.locator(f"[id='card-{card.id}']")
    expect(cell).to_have_class(re.compile("is-lost"))
    expect(page.locator(".answer .figure").first).to_contain_text("0")
    assert page.evaluate("window.sameDocument") is True


def test_a_lost_connection_says_since_when(visit: Visitor):
    with served(busy(Lab())) as lab:
        page = visit(lab)
        expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    expect(page.locator("#pulse")).to_have_attribute("data-state", "lost")
    expect(page.locator("#pulse")).to_have_text(re.compile(r"连接中断，数据停在 \d{2}:\d{2}:\d{2}"))


def test_an_empty_house_says_what_to_do_first(empty_lab: Lab, visit: Visitor):
    page = visit(empty_lab)
    expect(page.get_by_text("还没有卡")).to_be_visible()
    expect(page.get_by_text("队列是空的")).to_be_visible()
    page.get_by_role("link", name="提交任务").last.click()
    expect(page).to_have_url(re.compile("/submit$"))


def test_an_engine_that_is_down_is_said_at_the_top(lab: Lab, visit: Visitor):
    page = visit(lab)
    lab.live.set(engine_down_since=T0)
    expect(page.locator(".note.bad")).to_contain_text("执行引擎自 10:12 起没有回应")
