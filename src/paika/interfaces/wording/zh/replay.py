"""重放旧负载的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "trace.unreadable": (
        "负载记录 {name} 读不了：{cause:word.trace.cause}{detail:opt.trace.detail}。",
        "要的是 CSV（列 job_id、submit_time_s、duration_s、gpus）或 SWF（每行 18 个数），可以用 gzip 压缩。",
    ),
}

WORDS: dict[str, str] = {
    "trace.cause.missing": "没有这个文件，或没有权限",
    "trace.cause.encoding": "不是 UTF-8",
    "trace.cause.packed": "gzip 压缩包坏了",
    "trace.cause.quotes": "引号不成对",
    "trace.cause.columns": "缺少列",
    "trace.cause.empty": "里面没有一行能读的作业",
    "trace.cause.too_big": "解开后太大",
    "opt.trace.detail": "（{value}）",
    "opt.trace.detail.none": "",
}
