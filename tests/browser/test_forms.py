"""Forms: problems beside their fields, nothing typed is lost, what is done is done."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from paika.domain.dataset import Readiness
from paika.domain.person import Role
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("lang", "submit", "check"), [("zh", "提交", "只检查"), ("en", "Submit", "Check only")])
def test_a_refused_form_keeps_what_was_typed_and_points_at_the_field(
    lab: Lab, visit: Visitor, lang: str, submit: str, check: str
):
    page = visit(lab, "/submit", role=Role.MEMBER, lang=lang)
    page.locator("[name=name]").fill("我的 <b>实验</b>")
    page.locator("[name=command]").fill("python train.py | tee log")
    page.locator("[name=vram]").fill("40")
    page.get_by_role("button", name=submit, exact=True).click()
    for key in ("command", "vram"):
        field = page.locator(f"[name={key}]")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator(f"#w-{key}")).to_be_visible()
    expect(page.locator("[name=name]")).to_have_value("我的 <b>实验</b>")
    expect(page.locator("[name=command]")).to_have_value("python train.py | tee log")
    page.locator("[name=command]").fill("python train.py")
    page.locator("[name=vram]").fill("40 GiB")
    before = len(lab.store.read().tasks)
    page.get_by_role("button", name=check).click()
    expect(page.locator(".note.good")).to_contain_text("40 GiB")
    assert len(lab.store.read().tasks) == before
    page.get_by_role("button", name=submit, exact=True).click()
    expect(page).to_have_url(re.compile(r"/tasks/t-\d+$"))
    expect(page.locator("h1")).to_contain_text("我的 <b>实验</b>")
    task = lab.store.read().tasks[page.url.rsplit("/", 1)[1]]
    assert (task.owner, task.demand.vram_mib, task.program.argv) == ("li-si", 40 * 1024, ("python", "train.py"))


def test_a_problem_among_the_folded_fields_unfolds_them(lab: Lab, visit: Visitor):
    page = visit(lab, "/submit", role=Role.MEMBER)
    page.locator("[name=name]").fill("a")
    page.locator("[name=command]").fill("true")
    page.get_by_text("更多设置").click()
    page.locator("[name=workdir]").fill("relative/path")
    page.get_by_role("button", name="提交", exact=True).click()
    expect(page.locator("#w-workdir")).to_be_visible()
    expect(page.locator("#w-workdir")).to_contain_text("工作目录")


def test_another_like_it_is_filled_in(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/submit?like=t-42")
    expect(page.locator("[name=name]")).to_have_value("sft-code-v2")
    expect(page.locator("[name=cards]")).to_have_value("4")
    expect(page.locator("[name=command]")).to_have_value("python train.py --config configs/42.yaml")


def test_a_table_is_looked_at_before_it_comes_in(lab: Lab, visit: Visitor):
    table = (
        "任务名,命令,卡数,显存,预计时长\n"
        "甲,python a.py,1,24 GiB,2h\n"
        "乙,python b.py,很多,24 GiB,2h\n"
        "丙,python c.py,2,,30m\n"
    )
    page = visit(lab, "/import", role=Role.MEMBER)
    page.locator("input[type=file]").set_input_files(
        {"name": "任务.csv", "mimeType": "text/csv", "buffer": table.encode("gbk")}
    )
    page.get_by_role("button", name="先看看").click()
    expect(page.locator("#live")).to_contain_text("共 3 行，2 行可以导入，1 处有问题")
    bad = page.locator("#live .panel", has_text="有问题的行").locator("tbody tr")
    expect(bad).to_contain_text("3")
    expect(bad).to_contain_text("很多")
    names = {task.name for task in lab.store.read().tasks.values()}
    assert not names & {"甲", "乙", "丙"}
    page.get_by_role("button", name="导入这 2 个任务").click()
    expect(page.locator(".note.good")).to_contain_text("已导入 2 个任务")
    names = {task.name for task in lab.store.read().tasks.values()}
    assert names & {"甲", "乙", "丙"} == {"甲", "丙"}


def test_a_file_that_is_no_table_is_refused_in_words(lab: Lab, visit: Visitor):
    page = visit(lab, "/import", role=Role.MEMBER)
    page.locator("input[type=file]").set_input_files(
        {"name": "x.xlsx", "mimeType": "application/octet-stream", "buffer": b"\x00\x01\x02"}
    )
    page.get_by_role("button", name="先看看").click()
    expect(page.locator("#live [role=alert]")).to_be_visible()


def test_readiness_is_set_by_hand_in_place(lab: Lab, visit: Visitor):
    page = visit(lab, "/readiness", role=Role.MEMBER)
    row = page.locator("#dataset-d-3")
    row.get_by_role("button", name="改状态").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("状态").select_option("ready")
    dialog.get_by_label("完成百分比").fill("40")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.locator(".wrong")).to_contain_text("完成百分比")
    dialog.get_by_label("完成百分比").fill("100")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_be_hidden()
    expect(row).to_contain_text("就绪")
    assert lab.store.read().datasets["d-3"].readiness is Readiness.READY


def test_two_editors_do_not_overwrite_each_other(lab: Lab, visit: Visitor):
    page = visit(lab, "/teams")
    page.locator("#team-vision").get_by_role("button", name="改额度").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_be_visible()
    lab.change(lab.store.read().quotas["vision"], max_cards=6)
    dialog.get_by_label("最多同时用卡").fill("12")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.locator("[role=alert]")).to_contain_text("已被别人改")
    assert lab.store.read().quotas["vision"].max_cards == 6


def test_an_admin_adds_somebody_and_hands_over_a_token(lab: Lab, visit: Visitor):
    page = visit(lab, "/teams")
    page.get_by_role("button", name="添加人员").click()
    dialog = page.locator("#dialog")
    dialog.get_by_label("编号").fill("新人")
    dialog.get_by_label("姓名").fill("周新")
    dialog.locator("[name=teams][value=llm]").check()
    dialog.get_by_role("button", name="保存").click()
    expect(dialog.locator("#w-id")).to_be_visible()
    dialog.get_by_label("编号").fill("zhou-xin")
    dialog.get_by_role("button", name="保存").click()
    expect(dialog).to_be_hidden()
    page.locator("#person-zhou-xin").get_by_role("button", name="发令牌").click()
    dialog.get_by_role("button", name="生成令牌").click()
    secret = dialog.locator("#secret").text_content() or ""
    assert secret.startswith("paika_")
    fresh = visit(lab, "/login", role=None)
    fresh.get_by_label("令牌").fill(secret)
    fresh.get_by_role("button", name="登录").click()
    expect(fresh.locator(".rail .who")).to_contain_text("周新")


def test_a_card_is_taken_out_of_use_and_given_back(lab: Lab, visit: Visitor):
    page = visit(lab, "/cards?shows=free")
    page.locator("tr[id^=line-]").get_by_role("button", name="停用").click()
    page.locator("#dialog").get_by_label("原因").fill("换风扇")
    page.locator("#dialog").get_by_role("button", name="停用").click()
    expect(page.locator("#dialog")).to_be_hidden()
    page.goto(f"{lab.url}/cards?shows=draining")
    expect(page.locator("tr[id^=line-]")).to_have_count(2)
    expect(page.locator("#live")).to_contain_text("admin: 换风扇")
