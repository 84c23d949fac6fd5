"""谁可以做什么。"""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "access.forbidden": (
        "不能{act:word.api.act}：你的角色是{role:word.api.role}，或者这个令牌的权限范围不够。",
        "换一个权限范围更大的令牌，或请组长、管理员来做。",
    ),
    "access.not_authenticated": (
        "没有登录，或者令牌无效、已过期、已吊销。",
        "重新登录，或在 Authorization 头里带上有效的令牌；没有令牌就向管理员要一个。",
    ),
    "access.scope_too_wide": (
        "新令牌要的权限（{asked}）或有效期超过了你现在用的令牌（{have}）。",
        "缩小权限范围或提前到期时间，或请管理员来建。",
    ),
    "access.last_admin": (
        "{person} 是最后一个在用的管理员，不能撤下或停用。",
        "先指定另一位管理员。",
    ),
    "team.ring": ("排在谁之下绕成了一圈：{ring}。", "换一个上级团队，或留空放到最上层。"),
    "access.cross_site": (
        "这个改动像是从别的网站发来的，已拒绝。",
        "请在排卡自己的页面上操作；脚本请用令牌而不是浏览器会话。",
    ),
}

WORDS: dict[str, str] = {
    "api.role.viewer": "访客",
    "api.role.member": "成员",
    "api.role.lead": "组长",
    "api.role.admin": "管理员",
    "api.act.see": "查看",
    "api.act.submit_task": "提交任务",
    "api.act.submit_for_others": "替别人提交任务",
    "api.act.change_own_task": "改动这个任务",
    "api.act.change_team_task": "改动本团队的任务",
    "api.act.change_any_task": "改动别人的任务",
    "api.act.change_dataset": "改动数据集",
    "api.act.change_card": "停用或启用卡和机器",
    "api.act.change_team": "管理人员、团队、配额和令牌",
    "api.act.change_policy": "改动排程口径",
    "api.act.see_audit": "查看审计记录",
    "api.act.use_command_probe": "用命令来检查数据",
    "api.act.make_core_task": "把任务定为核心档",
    "api.act.read_log": "查看这个任务的日志",
    "api.act.create_token": "新建令牌",
}
