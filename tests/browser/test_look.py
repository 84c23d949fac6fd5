"""How it looks: languages, light and dark, contrast, narrow screens, the keyboard, names that bite."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser
PAGES = (
    "/",
    "/queue",
    "/timeline",
    "/timeline?view=list",
    "/readiness",
    "/cards",
    "/bookings",
    "/bookings?show=all",
    "/policy",
    "/what-if",
    "/what-if?what=policy",
    "/what-if?what=changed_task&whose=t-42",
    "/ledger",
    "/teams",
    "/submit",
    "/import",
    "/tasks/t-2",
    "/tasks/t-42",
    "/wall",
    "/no-such-page",
)
NAMES = (Path(__file__).parent.parent / "cases/C53/names.txt").read_text("utf-8").split("\n")
RING = """[document.activeElement, document.activeElement.closest('label')]
  .some(one => one && getComputedStyle(one).outlineStyle !== 'none')"""
CODES = r"\b(?:wait|park|nav|col|shows|state|field|answer|readiness|timeline|fact|ending)\.[a-z_]+"
CONTRAST = (Path(__file__).parent / "contrast.js").read_text("utf-8")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_page_scrolls_sideways_at_360(shared_lab: Lab, visit: Visitor, lang: str):
    page = visit(shared_lab, "/", lang=lang, width=360)
    wide = {}
    for path in PAGES:
        page.goto(shared_lab.url + path)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[path] = width
    assert wide == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_is_aa(shared_lab: Lab, visit: Visitor, theme: str):
    page = visit(shared_lab, "/", theme=theme)
    faint = {}
    for path in PAGES:
        page.goto(shared_lab.url + path)
        if bad := page.evaluate(CONTRAST):
            faint[path] = bad[:5]
    assert faint == {}


def test_no_word_is_missing_and_no_code_stands_on_a_page(shared_lab: Lab, visit: Visitor):
    for lang in ("zh", "en"):
        page = visit(shared_lab, "/", lang=lang)
        for path in PAGES:
            page.goto(shared_lab.url + path)
            text = page.inner_text("body")
            assert re.findall(CODES, text) == [], path


def test_the_language_is_remembered_and_taken_from_the_browser(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue?team=llm")
    page.locator(".rail").get_by_role("link", name="English").click()
    expect(page).to_have_url(re.compile(r"/queue\?team=llm$"))
    expect(page.locator("h1")).to_have_text("Queue")
    page.goto(shared_lab.url + "/teams")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.context.clear_cookies(name="paika_lang")
    page.goto(shared_lab.url + "/teams")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_dark_follows_the_device_unless_switched(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/", theme="auto")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.emulate_media(color_scheme="light")
    by_day = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) != by_day
    page.locator(".rail").get_by_role("link", name="浅色").click()
    assert page.evaluate(ground) == by_day


def test_the_keyboard_goes_to_pages_and_filters(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/")
    for key, path in (
        ("q", "/queue"),
        ("r", "/readiness"),
        ("c", "/cards"),
        ("b", "/bookings"),
        ("t", "/teams"),
        ("p", "/policy"),
        ("o", "/"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(shared_lab.url + path)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.goto(shared_lab.url + "/queue")
    page.keyboard.press("/")
    expect(page.locator("[data-filter]")).to_be_focused()
    page.keyboard.type("gq?")
    expect(page.locator("[data-filter]")).to_have_value("gq?")
    expect(page.locator("#help")).to_be_hidden()


def test_focus_is_visible(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue")
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(RING), page.evaluate("document.activeElement.outerHTML")


def test_names_that_bite_run_nothing_and_are_shown_in_full(lab: Lab, visit: Visitor):
    """Case C53: as names of tasks, people, teams, datasets, nodes' notes and reasons."""
    records = lab.store.read()
    names = [name for name in NAMES if name.strip()]
    tasks, people = sorted(records.tasks.values(), key=lambda t: t.id), list(records.people.values())
    for n, name in enumerate(names):
        if n < len(tasks):
            lab.change(tasks[n], name=name, note=name, tags=(name,), kind=name)
        if n < len(people):
            lab.change(people[n], name=name)
    for n, team in enumerate(records.teams.values()):
        lab.change(team, name=names[n])
    for n, dataset in enumerate(records.datasets.values()):
        lab.change(dataset, name=names[n], detail=names[n + 1])
    for n, node in enumerate(records.nodes.values()):
        lab.change(node, note=names[n], state_cause=names[n + 2])
    for n, run in enumerate(records.runs):
        lab.engine.write(run, (names[n] + "\n").encode())
    lab.plan()
    held = lab.store.read().tasks["t-50"]
    lab.put(replace(held, held_by=names[0], state_cause=names[1], version=held.version + 1))
    page = visit(lab, "/")
    seen = ""
    bait = "/queue?text=%3Cscript%3Ealert(1)%3C/script%3E&owner=%22%3E%3Cimg src=x onerror=alert(1)%3E"
    of_tasks = [f"/tasks/{task.id}" for task in tasks] + [f"/submit?like={task.id}" for task in tasks[:4]]
    for path in (*PAGES, bait, *of_tasks):
        page.goto(lab.url + path)
        assert page.locator("main img, main script, [onerror], [onload], [onclick]").count() == 0, path
        assert page.locator("a[href^='javascript:']").count() == 0
        seen += page.inner_text("body")
    for sign in ("<script>alert(1)</script>", "{{7*7}}", "${7*7}", "⟦U+202E⟧", "⟦U+200B⟧"):
        assert sign in seen
    assert "\u202e" not in seen


def test_a_tip_shows_names_as_text(lab: Lab, visit: Visitor):
    lab.change(lab.store.read().tasks["t-2"], name="<img src=x onerror=alert(1)>")
    page = visit(lab, "/")
    page.locator(".cell", has_text="onerror").first.hover()
    expect(page.locator("#tip")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#tip img").count() == 0
