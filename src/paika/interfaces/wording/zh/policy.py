"""排程口径：版本，以及怎样修改。"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "policy.number": "版本",
    "policy.person": "谁改的",
    "policy.state": "状态",
    "policy.in_force": "生效中",
    "policy.back_to": "回到第 {number} 版",
    "policy.now": "排程口径现在是第 {number} 版",
    "api.noun.policy": "排程口径",
    "api.noun.policy_version": "排程口径的版本",
    "field.numbers": "参数",
    "field.to": "版本",
    "cli.sure.policy": "这样修改排程口径？",
    "cli.do.policy.show": "查看排程口径",
    "cli.do.policy.set": "修改排程口径的参数（管理员）：先看会影响谁",
    "cli.do.policy.history": "排程口径谁改过、何时、改了什么、为什么",
    "cli.do.policy.rollback": "回到以前的版本（管理员）：先看会影响谁",
    "cli.arg.policy_to": "要回到的版本号，见 paika policy history",
}
