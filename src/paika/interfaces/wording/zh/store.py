"""存储的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "store.taken": (
        "数据库 {place} 已被另一个排卡服务占用。",
        "一个数据库只能由一个服务写入：先停掉那个服务，或换一个数据库地址。",
    ),
    "store.newer": (
        "数据库的版式是第 {layout} 版，本程序只认识到第 {known} 版。",
        "数据库由更新的排卡写过：请升级本程序，或恢复升级前的备份。",
    ),
    "store.moved": (
        "数据库被别人改动：本服务写到版本 {expected}，现在却是 {found}。",
        "请确认没有别的程序写这个数据库，然后重启本服务。",
    ),
    "store.failed": (
        "数据库没能完成操作：{detail}",
        "这次改动没有生效。请检查数据库是否在运行、磁盘是否已满、地址与口令是否正确，再试一次。",
    ),
    "store.unreadable": (
        "读不懂一条 {noun} 记录：{detail}",
        "内容可能由更新的版本写成，或已损坏：请升级本程序，或从备份恢复。",
    ),
}

WORDS: dict[str, str] = {}
