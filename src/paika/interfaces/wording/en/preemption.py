"""Preempted and moved: for whom a run was stopped, whether its work was kept, who added the points."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "preempted.for": "gave its cards to task {task}",
    "preempted.saved": "saves its work when stopped",
    "preempted.lost": "the work of this run is lost",
    "preempted.fact": "Preempted in the last day",
    "preempted.times": "{count} times, last at {at}",
    "boost.by": "{who}: {why}",
}
