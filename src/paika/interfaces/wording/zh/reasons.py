"""任务为什么等，用话说出来。"""

MESSAGES: dict[str, tuple[str, str]] = {
    "wait.held": ("被 {by} 暂扣：{why}", "由本人、团队负责人或管理员放行后继续排队。"),
    "wait.parent": ("等前置任务 {parent}{when:word.parent_when}", "看前置任务的进度；不需要时可修改依赖。"),
    "wait.not_before": ("约定 {at:when} 之后才开始", "想提早就修改“不早于”。"),
    "wait.retry": ("第 {failed_starts} 次启动没有成功，{at:when} 再试", "看上一次运行的日志和原因。"),
    "wait.data": (
        "数据集 {dataset} {readiness:word.readiness_is}（{percent:percent}），预计 {eta:when}，由 {owes} 负责",
        "数据备好后标记就绪，任务随即参加排序；等待期间不占卡也不占配额。",
    ),
    "wait.team_inactive": ("团队 {team} 已停用", "请管理员启用该团队。"),
    "wait.person_inactive": ("提交人 {person} 已停用", "请管理员启用，或换一位负责人重新提交。"),
    "wait.quota": (
        "团队 {team} 的配额 {max_cards} 卡，已占 {held_parts:cards}，还要 {need_parts:cards}：{holders:holders}",
        "等本团队的运行结束，或请管理员提高配额，或少要几张卡。",
    ),
    "wait.quota_promised": (
        "团队 {team} 的配额 {max_cards} 卡，余下部分 {first_at:when} 起已许给排在前面的 {tasks}",
        "设更短的时限，或请管理员提高配额。",
    ),
    "park.no_such_card": ("没有符合“{asked}”的卡；现有卡型：{have}", "改卡型、能力或资源池的要求。"),
    "park.vram": (
        "每卡要 {need_mib:gib} 显存，最大的 {largest_type} 只有 {largest_mib:gib}",
        "降低显存要求（例如写 {largest_mib:gib} 以内），或加入更大的卡。",
    ),
    "park.node_too_small": (
        "要同一台机器上 {need} 张同型卡，最多的 {node} 只有 {largest} 张",
        "用“机器数”把任务分到几台机器上，或少要几张卡。",
    ),
    "park.too_few_nodes": (
        "要 {need} 台各有 {cards_each} 张同型卡的机器，只有 {have} 台",
        "减少机器数或每台的卡数。",
    ),
    "park.quota": (
        "要 {need_parts:cards} 张卡，超过团队 {team} 的全部配额 {max_cards}",
        "少要几张卡，或请管理员提高配额。",
    ),
    "park.share": (
        "共享要 {need_mib:gib} 显存，最大的卡只能分出 {largest_mib:gib}",
        "降低共享显存，或改成整卡。",
    ),
    "wait.cards": (
        "等 {need} 张卡：合适的 {fitting} 张里空闲 {free} 张，同一台上最多 {best_free} 张。{holders:holders}",
        "少要几张卡、放宽卡型，或等最早的一个到点。",
    ),
    "wait.promised": (
        "有 {cards} 张空闲卡留给排在前面的 {tasks}（{first_at:when} 开始用）",
        "时限在 {limit_would_fit_s:span} 以内的任务可以先跑。",
    ),
    "wait.oversize": (
        "空着的 {card_type} 比需要的大，{wanted_by} 正等着用；{allowed_at:when} 起可以占用",
        "等 {fitting_type} 空出来；也可以在要求里直接写明用 {card_type}。",
    ),
    "wait.share_room": (
        "共享要 {need_mib:gib} 显存、{need_bandwidth_percent}% 带宽；"
        "最宽裕的卡还剩 {best_free_mib:gib}、{best_free_bandwidth_percent}%。{holders:holders}",
        "降低显存或带宽的要求，或等同卡的任务结束。",
    ),
    "wait.lease": ("{cards} 张空闲卡 {ends_at:when} 到期，不够跑完", "续期，或设更短的时限。"),
    "wait.unfit": ("{cards} 张合适的卡不能用（{health:word.health}）：{nodes}", "请管理员检查这些卡和机器。"),
    "wait.no_engine": ("{cards} 张合适的卡在 {nodes}，没有引擎能在那里启动任务", "为这些机器配置引擎，或换别的机器。"),
    "wait.end_unknown": (
        "占着合适卡的 {runs} 没有时限也没有预计时长，说不出何时轮到",
        "请它们的主人补上预计时长或时限。",
    ),
}

WORDS: dict[str, str] = {
    "holder.run": "{task} {run} 用 {cards} 张（{owner}，{until}）",
    "holder.starting": "{task} 正在启动，用 {cards} 张（{owner}，{until}）",
    "holder.external": "外部进程占 {cards} 张（{owner}，何时结束未知）",
    "holders.more": "另有 {count} 个",
    "until_limit": "{until:when} 到时限",
    "until_estimate": "预计 {until:when} 前结束",
    "until_unknown": "何时结束未知",
    "parent_when.success": "成功",
    "parent_when.failure": "失败",
    "parent_when.end": "结束",
    "readiness_is.ready": "已就绪",
    "readiness_is.preparing": "准备中",
    "readiness_is.blocked": "受阻",
    "readiness_is.unknown": "状态未知",
    "health.ok": "正常",
    "health.lost": "掉卡",
    "health.needs_reset": "需要重置",
    "health.draining": "停止接新任务",
    "health.unknown": "状态未知",
    "health.node_drained": "机器停止接新任务",
    "health.node_down": "机器停机",
    "health.node_unknown": "机器状态未知",
    "unblock.ready_data": "数据集 {value} 就绪",
    "unblock.fewer_cards": "只要 {value} 张卡",
    "unblock.any_type": "不限卡型",
    "unblock.less_vram": "每卡显存降到 {value:gib}",
    "unblock.shorter_limit": "时限设为 {value:span}",
    "unblock.more_quota": "团队配额提高到 {value} 卡",
    "unblock.smaller_share": "共享显存降到 {value:gib}",
    "unblock.now": "{change}，现在就能跑",
    "unblock.by": "{change}，最迟 {at:when} 开始",
    "unblock.none": "没有找到单独一项改动能让它更早开始",
}
