"""The reference page of the task form, made from the table of fields.

`python -m paika.interfaces.form_page > docs/reference/task-form.md` writes it; a test compares.
"""

from __future__ import annotations

import sys
from datetime import UTC

from paika.domain.form import FormField, Group
from paika.domain.task_form import FIELDS
from paika.interfaces.wording.catalogue import Lang
from paika.interfaces.wording.say import Speaker

_ABOUT = """# The form of a task 任务表单

One table of fields serves the web form, the command line, the API, CSV and XLSX lists and YAML lists. The same value
gets the same answer at each of these doors.

网页、命令行、API、CSV/XLSX、YAML 用的是同一张字段表，同一个值在哪里填结果都一样。

How values are read 填写规则

- A field is named by its key or by any heading listed here; case, blanks, hyphens and full-width signs do not matter.
  字段可以写英文键，也可以写下面列出的任一列名；大小写、空格、连字符、全角半角都不影响。
- Empty means not given. 留空等于没填。
- Numbers: full-width digits are digits; `true`, `NaN`, `∞` and `4 cards` are no numbers.
  全角数字可用；“4 张”“真”“无穷”不是数字。
- Memory carries its unit: `80G`, `80GB` and `80GiB` all mean 80 GiB (81920 MiB), `81920M` the same. A bare number is
  refused, unless the heading carries the unit: `vram_mib`, `显存(GB)`. Parts of a MiB are rounded up.
  显存要带单位，G、GB、GiB 都是 1024 MiB；纯数字只在列名带单位时可用。
- Durations: `90m`, `1h30m`, `2 小时`, `1天`, `36:00:00`, `1-12:00:00`.
  A plain number means seconds under the field's own key (`limit: 3600`); under any other heading it
  needs the unit in the heading: `时限(小时)`, `limit_h`.
  时长写单位；英文键下的纯数字按秒算，中文列名下的纯数字要在列名里写明单位。
- Instants: RFC 3339, or `2026-12-01 09:00` and `2026年12月1日 9:00` in the site's zone, or a spreadsheet's date cell.
  A due date without a time means the end of that day. 时间按站点时区理解；截止时间只写日期时算到当天结束。
- Lists: a JSON or YAML list, or text with commas, semicolons, `、` or line breaks. 多个值用逗号、分号、顿号或换行分开。
- A command runs without a shell. It is a list of words, or one line split at blanks and quotes; pipes, redirections,
  `&&` and `;` outside quotes are refused: use `script`. 命令不经过 shell；要用管道、重定向请写脚本。
- For part of one card give `cards: 1` and `share_vram`; `1.5` cards are refused. 要半张卡请填共享显存，卡数不能写小数。
- One estimate stands for all three. The limit may not be shorter than the longest estimate.
  只填一个预计时长就当三个都是它；时限不能短于最长预计。
"""
_GROUPS = ((Group.BASIC, "Basic fields 基本字段"), (Group.ADVANCED, "More fields 更多字段"))


def task_form_page() -> str:
    """The page in Markdown."""
    parts = [_ABOUT]
    for group, title in _GROUPS:
        parts.append(f"## {title}\n")
        parts += [_section(one) for one in FIELDS if one.group is group]
    return "\n".join(parts)


def _section(one: FormField) -> str:
    zh, en = Speaker(Lang.ZH, UTC), Speaker(Lang.EN, UTC)
    lines = [
        f"### `{one.key}` {zh.word(f'field.{one.key}')} · {en.word(f'field.{one.key}')}\n",
        f"{en.word(f'field.{one.key}.help')} {zh.word(f'field.{one.key}.help')}\n",
        f"- allowed 可填: {en.allowed(one.allowed)}",
    ]
    if one.required:
        lines.append("- required 必填")
    if one.default:
        lines.append(f"- default 默认: `{one.default}`")
    lines.append(f"- headings 列名: {', '.join((one.key, *one.aliases))}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(task_form_page())
