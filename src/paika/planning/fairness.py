"""Fair share: which team used less of the cards than its part, level by level of the tree of teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from paika.domain.policy import Policy
from paika.domain.team import Team

UPPER_OF_FOUR = 3  # of four points, so many are given at a level and the rest further down


def fair_points(teams: Iterable[Team], usage: Mapping[str, int], policy: Policy) -> dict[str, int]:
    """Points per team, 0 .. fair_points_max; all 0 when nothing was used or there is nobody to compare with.

    Among the children of one parent a team's deficit is its part of the weights less its part of the usage
    (−1 .. 1, in thousandths here). A level gives (1 + deficit) / 2 of its points. The top level has three
    quarters of all points, the next three quarters of the rest, and so on; the last level of a branch has the
    whole rest, so that teams are ranked level by level.
    """
    by_id = {team.id: team for team in teams}
    children: dict[str, list[Team]] = {}
    for team in sorted(by_id.values(), key=lambda t: t.id):
        parent = team.parent if team.parent in by_id else ""
        children.setdefault(parent, []).append(team)
    used = {team: _used(team, children, usage) for team in by_id}
    points = dict.fromkeys(by_id, 0)
    todo = [("", 0, policy.fair_points_max)]
    while todo:
        parent, above, left = todo.pop()
        siblings = children.get(parent, [])
        weights, spent = sum(t.weight for t in siblings), sum(used[t.id] for t in siblings)
        for team in siblings:
            here = left if team.id not in children else left * UPPER_OF_FOUR // 4
            got = here * _standing(team, used[team.id], weights, spent) // 2000
            points[team.id] = above + got
            if team.id in children:
                todo.append((team.id, above + got, left - here))
    return points


def _standing(team: Team, used: int, weights: int, spent: int) -> int:
    """1000 + deficit in thousandths: 0 (used everything) .. 2000; 0 where nothing can be compared."""
    if not spent or not weights or team.weight == weights:
        return 0
    return max(0, 1000 + team.weight * 1000 // weights - used * 1000 // spent)


def _used(team: str, children: Mapping[str, list[Team]], usage: Mapping[str, int]) -> int:
    """Usage of a team and all below it. A ring of parents has no top and is never walked."""
    total, todo, seen = 0, [team], {team}
    while todo:
        at = todo.pop()
        total += usage.get(at, 0)
        below = [child.id for child in children.get(at, []) if child.id not in seen]
        seen.update(below)
        todo += below
    return total
