"""被抢占与被调整：为谁停的，工作留下没有，谁加的分。"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "preempted.for": "为任务 {task} 让卡",
    "preempted.saved": "停止时会存档",
    "preempted.lost": "本次的工作不保留",
    "preempted.fact": "近 24 小时被抢占",
    "preempted.times": "{count} 次，最近 {at}",
    "boost.by": "{who}：{why}",
}
