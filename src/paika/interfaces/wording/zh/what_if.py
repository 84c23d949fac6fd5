"""假如：改一改再排一遍，谁提前、谁推后，什么都不写入。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "preview.busy": (
        "预览一次只算一个，前面已有 {waiting} 个在等，这一个没有开始。",
        "过几秒再试。",
    ),
}

WORDS: dict[str, str] = {
    "whatif.only_told": "只是预览，什么都没有写入。",
    "whatif.on": "用卡",
    "whatif.stands.parked": "搁置：按现在的条件排不进",
    "whatif.stands.on_cards": "正在跑",
    "whatif.stands.gone": "不再排队",
    "whatif.sooner": "{count} 个任务提前：",
    "whatif.earlier": "提前",
    "whatif.spared": "有 {count} 个运行本来会被停下，这样就不用停了。",
    "whatif.closed": "再也跑不成、会被关闭的任务：{tasks}",
    "whatif.ends": "{task} 会中断（{owner}，{cards} 张卡），已跑的 {hours} 卡时作废",
    "whatif.again": "重新开始：{start}",
    "whatif.not_again": "不会重新排队",
    "whatif.booked": "订得上：{count} 张卡，{window}",
    "whatif.count.cards": "可用的卡",
    "whatif.count.waiting": "排队的任务",
    "whatif.count.starts": "现在就能开始",
    "whatif.count.told": "能说出何时开始",
    "whatif.count.untold": "还说不准",
    "whatif.count.parked": "搁置",
    "whatif.count.stops": "要停下的运行",
    "whatif.count.misses": "会错过里程碑",
    "whatif.count.last_start": "最晚的开始",
    "cli.do.plan.preview": "假如……会怎样：真的再排一遍，谁提前、谁推后；不写入",
    "cli.opt.what_if.change": "改这个任务：后面的任务字段就是改动；不写就是一个新任务",
    "cli.opt.what_if.cancel": "这个任务取消",
    "cli.opt.what_if.move": "这个任务调整次序（管理员）",
    "cli.opt.what_if.lost_node": "这台机器宕机",
    "cli.opt.what_if.lost_card": "这张卡失联",
    "cli.opt.what_if.node_back": "这台机器和它的卡恢复",
    "cli.opt.what_if.card_back": "这张卡恢复",
    "cli.opt.what_if.more_cards": '多这么多卡，放在一台新的虚拟机器上；几台写 "cards=16 type=… nodes=2"',
    "cli.opt.what_if.ready": "这个数据集备好了",
    "cli.opt.what_if.quota": "团队的配额改成 N；等号后留空是不限",
    "cli.opt.what_if.book": '预约，字段同 paika booking add："from=… for=8h cards=8"',
    "cli.opt.what_if.guarantee": "保底额度，字段同 paika guarantee set",
    "cli.opt.what_if.withdraw": "取消这个保底额度",
    "cli.opt.what_if.policy": "排程口径里的一个数，名字同 paika policy show",
    "cli.opt.what_if.policy_file": "排程口径的 JSON 文件，全部或一部分",
    "cli.opt.what_if.edits": "一串改动的 JSON 文件，同 REST 接口；- 是标准输入",
    "cli.opt.what_if.rows": "最多列出几个任务，1 到 500",
}
