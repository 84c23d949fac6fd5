"""Policies by name, to be played beside each other: the default one, and plain ones that differ in few numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from paika.domain.policy import Policy
from paika.domain.problem import Kind, Problem

DEFAULT = "default"
_PLAIN = replace(Policy(), fair_points_max=0, slack_points_max=0)

POLICIES: dict[str, Policy] = {
    DEFAULT: Policy(),
    # Tries better orders inside tiers; nobody is made later than six hours by it.
    "improve": replace(Policy(), improve_rounds=20, improve_delay_cap_s=6 * 3600),
    # By tier and age alone; every normal task holds its place.
    "conservative": _PLAIN,
    # By tier and age alone; only the first normal task that does not fit holds a place.
    "easy": replace(_PLAIN, normal_depth=1),
    # By tier and age alone; who does not fit is passed over.
    "skip": replace(_PLAIN, normal_depth=0),
}


@dataclass(eq=False)
class UnknownPolicy(Problem):
    """Neither a policy that stands here nor a JSON file; `policies` are those that stand here."""

    code: ClassVar[str] = "replay.unknown_policy"
    kind: ClassVar[Kind] = Kind.INVALID
    asked: str
    policies: tuple[str, ...]


@dataclass(eq=False)
class UnreadablePolicy(Problem):
    """The file is no policy; `detail` says what is wrong with it."""

    code: ClassVar[str] = "replay.unreadable_policy"
    kind: ClassVar[Kind] = Kind.INVALID
    name: str
    detail: str
