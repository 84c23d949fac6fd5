"""调整次序：加减分、谁往后推、推多久。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "task.not_in_order": (
        "任务现在是“{state:word.api.state}”，不在排队，没有次序可调。",
        "只有排队的任务能调整；已经占卡的，只能把原来的加减分收回（填 0）。",
    ),
}

WORDS: dict[str, str] = {
    "api.act.move_task": "调整任务的次序",
    "field.points": "加减分",
    "move.act": "调整次序",
    "move.title": "调整“{task}”的次序",
    "move.about": "分数加进它的优先级，只在本档之内起作用；0 收回调整。先看看会推迟谁，再决定。",
    "move.points.about": "-1000 到 1000；基础优先级是 0 到 100。",
    "move.check": "先看看会推迟谁",
    "move.again": "再看看",
    "move.do": "确认调整 {points}",
    "move.now": "次序已调整：{points} 分",
    "move.would": "{before} → {after} 分。还没有写入。",
    "move.place": "位次 {before} → {after}",
    "move.position": "位次",
    "move.start": "预计开始 {before} → {after}",
    "move.later": "{count} 个任务往后推：",
    "move.nobody": "没有任务往后推。",
    "move.sooner": "另有 {count} 个任务提前。",
    "move.misses_all": "其中 {count} 个会因此错过里程碑。",
    "move.misses": "会错过里程碑 {at}",
    "move.before": "原来",
    "move.after": "之后",
    "move.by": "推迟",
    "move.open": "说不准",
    "move.stops": "会停下 {task}（{owner}，{cards} 张卡），它会先存档",
    "move.stops_lost": "会停下 {task}（{owner}，{cards} 张卡），已跑的 {hours} 卡时会丢失",
    "cli.do.move": "调整任务的次序（管理员）：先列出谁往后推、推多久",
    "cli.do.task.move": "调整任务的次序，同 paika move",
    "cli.opt.points": "加进优先级的分数，-1000 到 1000；0 收回调整",
    "cli.sure.move": "把“{task}”调整为 {points} 分？",
}
