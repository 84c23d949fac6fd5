"""The policy: its versions, and how it is changed."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "policy.number": "Version",
    "policy.person": "By",
    "policy.state": "State",
    "policy.in_force": "in force",
    "policy.back_to": "back to version {number}",
    "policy.now": "the policy is version {number} now",
    "api.noun.policy": "policy",
    "api.noun.policy_version": "version of the policy",
    "field.numbers": "Numbers",
    "field.to": "Version",
    "cli.sure.policy": "Change the policy so?",
    "cli.do.policy.show": "Show the policy",
    "cli.do.policy.set": "Change numbers of the policy (admins); first shows what that would do to everybody",
    "cli.do.policy.history": "Who changed what of the policy, when and why",
    "cli.do.policy.rollback": "Bring back an earlier version of the policy (admins), after a look at what that would do",
    "cli.arg.policy_to": "the version to go back to, as paika policy history shows it",
}
