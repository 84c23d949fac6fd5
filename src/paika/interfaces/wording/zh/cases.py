"""排错快照：存下来，在别的机器上重排一遍。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "case.unreadable": (
        "{path} 不是排卡的快照文件，或读不出来：{detail}。",
        "要 paika plan save 存的文件，或数据目录 cases 里的文件；版本要相同或更新。",
    ),
    "plan.no_snapshots": (
        "这个服务不能写快照。",
        "用 paika server start 启动的服务可以。",
    ),
}

WORDS: dict[str, str] = {
    "api.act.save_snapshot": "存下排程快照",
    "trouble.case": "出错的排程已存成快照 {case}，可用 paika replay-snapshot 重排。",
    "cli.do.plan.save": "把现在的快照存成文件，给人排错用（管理员）；不含程序、变量、令牌、备注",
    "cli.do.replay-snapshot": "把存下的快照在本机重排一遍：列出违反的规则，没有就列出排程",
    "cli.arg.case": "快照文件，可以是 .gz；- 是标准输入",
    "cli.arg.case_to": "写到哪个文件；名字以 .gz 结尾就压缩",
    "cli.opt.case_force": "文件已经在了也覆盖",
    "cli.case.saved": "已存到 {path}（{size} 字节），只有你能读。",
    "cli.case.at": "快照时间",
    "cli.case.holds": "内容",
    "cli.case.counts": "排队任务 {tasks}，运行 {runs}，卡 {cards}",
    "cli.case.recorded": "当时的错",
    "cli.case.faults": "排程违反了规则，共 {count} 处：",
    "cli.case.sound": "排程没有违反规则：",
    "cli.case.rule": "规则",
    "cli.case.blocks": "不予执行",
    "cli.case.alarms": "只报警",
}
