"""Who may do what."""

from __future__ import annotations

MESSAGES: dict[str, tuple[str, str]] = {
    "access.forbidden": (
        "You may not {act:word.api.act}: your role is {role:word.api.role}, or this token's scope is too narrow.",
        "Use a token with a wider scope, or ask a lead or an admin to do it.",
    ),
    "access.not_authenticated": (
        "Nobody is logged in, or the token is wrong, expired or revoked.",
        "Log in again, or send a good token in the Authorization header; an admin can give you one.",
    ),
    "access.scope_too_wide": (
        "The new token asks for more ({asked}), or for longer, than the token you use now has ({have}).",
        "Ask for a narrower scope or an earlier end, or let an admin make it.",
    ),
    "access.last_admin": (
        "{person} is the last active admin and can be neither removed nor switched off.",
        "Make somebody else an admin first.",
    ),
    "team.ring": (
        "The teams stand below each other in a ring: {ring}.",
        "Choose another parent, or none for the top level.",
    ),
    "access.cross_site": (
        "This change seems to come from another web site and was refused.",
        "Do it on paika's own pages; scripts use a token, not the browser's session.",
    ),
}

WORDS: dict[str, str] = {
    "api.role.viewer": "viewer",
    "api.role.member": "member",
    "api.role.lead": "lead",
    "api.role.admin": "admin",
    "api.act.see": "look",
    "api.act.submit_task": "submit tasks",
    "api.act.submit_for_others": "submit tasks for others",
    "api.act.change_own_task": "change this task",
    "api.act.change_team_task": "change your team's tasks",
    "api.act.change_any_task": "change other people's tasks",
    "api.act.change_dataset": "change datasets",
    "api.act.change_card": "drain or release cards and machines",
    "api.act.change_team": "manage people, teams, quotas and tokens",
    "api.act.change_policy": "change the scheduling policy",
    "api.act.see_audit": "read the audit trail",
    "api.act.use_command_probe": "check data with a command",
    "api.act.make_core_task": "make it a core task",
    "api.act.read_log": "read this task's log",
    "api.act.create_token": "make tokens",
}
