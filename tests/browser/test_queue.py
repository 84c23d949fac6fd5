"""The queue: filters in the address, reasons, paging, acts with their consequences, calm under the pointer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from paika.domain.person import Role
from paika.domain.run import EndCause, RunState
from paika.domain.task import TaskState
from paika.ports.store import AuditQuery
from tests.browser.conftest import Visitor
from tests.browser.lab import Lab

pytestmark = pytest.mark.browser


def test_filters_live_in_the_address(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue")
    page.get_by_label("团队").select_option("vision")
    expect(page).to_have_url(re.compile(r"/queue\?team=vision$"))
    page.get_by_label("核心", exact=True).check()
    expect(page.get_by_text("没有符合条件的")).to_be_visible()
    page.get_by_label("核心", exact=True).uncheck()
    page.get_by_placeholder("按任务名").fill("clip")
    expect(page).to_have_url(re.compile(r"text=clip"))
    expect(page.locator("tbody tr")).to_have_count(1)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_placeholder("按任务名")).to_have_value("clip")
    page.go_back()
    expect(page.locator("tbody tr")).not_to_have_count(1)


def test_a_row_tells_start_basis_reasons_terms_and_what_would_help(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue")
    row = page.locator("#row-t-42")
    expect(row).to_contain_text("最迟 11:12")
    expect(row).to_contain_text("按时限推算")
    row.locator("summary").click()
    wait = shared_lab.live.read().waits["t-42"]
    expect(row.locator(".reasons li")).to_have_count(len(wait.reasons))
    expect(row.locator(".terms")).to_contain_text(str(wait.terms.total))
    expect(row.locator(".unblock")).to_contain_text("怎样更快开始")


def test_an_unknown_start_is_a_dash_with_its_cause(shared_lab: Lab, visit: Visitor):
    row = visit(shared_lab, "/queue").locator("#row-t-43")
    expect(row.locator("[data-flash='start t-43']")).to_have_text("—")
    expect(row).to_contain_text("等数据就绪")


def test_a_thousand_tasks_come_in_pages(crowded_lab: Lab, visit: Visitor):
    page = visit(crowded_lab, "/queue")
    expect(page.locator("tbody tr")).to_have_count(100)
    first = page.locator("tbody tr td").first.text_content()
    page.get_by_role("link", name="下一页").click()
    expect(page).to_have_url(re.compile("cursor="))
    expect(page.locator("tbody tr")).to_have_count(100)
    assert page.locator("tbody tr td").first.text_content() != first
    expect(page.locator(".pager")).to_contain_text(re.compile(r"后面还有 \d+ 个"))


def test_cancelling_says_whom_it_hits_and_keeps_the_reason(lab: Lab, visit: Visitor):
    page = visit(lab, "/queue")
    page.locator("#row-t-42").get_by_role("button", name="取消").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("评测 全套")  # waits for its success
    expect(dialog).to_contain_text("赵磊")
    dialog.get_by_label("原因").fill("重复提交")
    dialog.get_by_role("button", name="取消任务").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#row-t-42")).to_have_count(0)
    task = lab.store.task("t-42")
    assert task is not None
    assert task.state is TaskState.CANCELLED
    assert any(entry.why == "重复提交" for entry in lab.store.audit(AuditQuery(subject="t-42")).rows)


def test_holding_wants_a_reason_and_says_so_beside_the_field(lab: Lab, visit: Visitor):
    page = visit(lab, "/queue")
    page.locator("#row-t-45").get_by_role("button", name="暂停").click()
    dialog = page.locator("#dialog")
    dialog.get_by_role("button", name="暂停").click()
    expect(dialog.locator(".wrong")).to_contain_text("原因")
    dialog.get_by_label("原因").fill("等标注")
    dialog.get_by_role("button", name="暂停").click()
    expect(page.locator("#row-t-45").get_by_role("button", name="放行")).to_be_visible()
    task = lab.store.task("t-45")
    assert task is not None
    assert (task.state, task.state_cause) == (TaskState.HELD, "等标注")


def test_a_running_task_is_cancelled_only_after_a_warning(lab: Lab, visit: Visitor):
    page = visit(lab, "/tasks/t-2")
    page.get_by_role("button", name="取消").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("4 张卡")
    expect(dialog.locator(".note.bad")).to_contain_text("会丢失")
    dialog.get_by_role("button", name="返回").click()
    task = lab.store.task("t-2")
    assert task is not None
    assert task.state is TaskState.RUNNING


def test_nothing_moves_under_the_pointer(lab: Lab, visit: Visitor):
    page = visit(lab, "/queue")
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    row = page.locator("#row-t-45")
    row.hover()
    lab.change(lab.store.read().tasks["t-45"], name="换了名字")
    pending = page.locator("#pending")
    expect(pending).to_be_visible()
    expect(pending).to_have_text(re.compile(r"有 \d+ 处变化待显示"))
    expect(row).to_contain_text("asr 多方言")
    page.mouse.move(2, 2)
    expect(row).to_contain_text("换了名字")
    expect(pending).to_be_hidden()


def test_what_was_opened_stays_open_when_the_list_changes(lab: Lab, visit: Visitor):
    page = visit(lab, "/queue")
    expect(page.locator("#pulse")).to_have_attribute("data-state", "live")
    page.locator("#row-t-42 summary").click()
    page.mouse.move(2, 2)
    lab.change(lab.store.read().tasks["t-45"], name="换了名字")
    expect(page.locator("#row-t-45")).to_contain_text("换了名字")
    expect(page.locator("#row-t-42 .reasons")).to_be_visible()
    expect(page.locator("#row-t-42 .unblock")).to_contain_text("怎样更快开始")


def test_one_s_own_tasks_are_marked(shared_lab: Lab, visit: Visitor):
    page = visit(shared_lab, "/queue", role=Role.LEAD)
    expect(page.locator("tr.mine")).to_have_count(2)
    page.locator("select[name=owner]").select_option(label="只看我的")
    expect(page.locator("tbody tr")).to_have_count(2)


def test_the_log_follows_pauses_and_says_what_is_left_out(lab: Lab, visit: Visitor):
    page = visit(lab, "/tasks/t-4")
    log = page.locator("#log-r-4")
    expect(log.locator("pre")).to_contain_text("step 00399")
    lab.engine.write("r-4", b"epoch 2 begins\n")
    expect(log.locator("pre")).to_contain_text("epoch 2 begins")
    log.get_by_role("button", name="停住").click()
    lab.engine.write("r-4", b"said while paused\n" + b"x" * 700_000 + b"\nthe end\n")
    page.wait_for_timeout(2500)
    expect(log.locator("pre")).not_to_contain_text("said while paused")
    log.get_by_role("button", name="继续").click()
    expect(log.locator("pre")).to_contain_text("the end")
    expect(log.locator("pre")).to_contain_text(re.compile(r"略过 \d+ 字节"))
    page.reload()
    expect(log.locator(".left-out")).to_contain_text("字节没有显示")
    with page.expect_download() as download:
        log.get_by_role("link", name="下载全部").click()
    assert b"said while paused" in download.value.path().read_bytes()


def test_why_a_run_ended_is_told_apart(lab: Lab, visit: Visitor):
    run = lab.store.read().runs["r-6"]
    ended = replace(run, state=RunState.ENDED, ended_at=lab.clock.at, cause=EndCause.OUT_OF_MEMORY)
    lab.put(replace(ended, version=run.version + 1))
    expect(visit(lab, "/tasks/t-6").locator("#run-r-6")).to_contain_text("内存或显存不足")
