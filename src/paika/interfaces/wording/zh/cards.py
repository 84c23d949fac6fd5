"""卡、卡型和清单文件的话。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "card_type.unknown": (
        "没有叫“{asked}”的卡型。",
        "最接近的有：{nearest}。要么写完整型号，要么写系列名，不按名字的一部分匹配。",
    ),
    "card_type.ambiguous": ("“{asked}”是一个系列，这里要写具体型号。", "可选：{models}。"),
    "inventory.unreadable": ("清单文件读不懂（第 {line} 行）：{detail}。", "按 YAML 的写法改；不支持锚点和别名。"),
    "inventory.wrong_shape": ("{field} 的写法不对，这里要的是：{wanted}。", "对照文档里的清单示例修改。"),
    "inventory.key_twice": ("{field}：“{key}”写了两遍，其中一个值会丢。", "删掉多余的一个。"),
    "inventory.unknown_name": (
        "{field}：清单和系统里都没有{noun:word.api.noun}“{id}”。",
        "最接近的：{nearest}。改正名字，或先在清单里写上它。",
    ),
}

WORDS: dict[str, str] = {
    "card.cause.drained": "停用原因",
    "card.cause.missing": "检查时没有看到这张卡",
    "card.cause.not_seen_yet": "清单里写了，还没有被检查到",
    "card.cause.not_in_inventory": "清单里已经没有它，等正在运行的任务结束",
    "card.cause.gpu is lost": "驱动报告卡已丢失",
    "card.cause.gpu requires reset": "驱动报告卡需要复位",
    "card.difference.added": "新增",
    "card.difference.changed": "修改",
    "card.difference.removed": "移除",
    "card.difference.drained": "停止派新任务",
}
